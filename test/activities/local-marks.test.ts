// Would catch: a note of our own that a key was sent, taken for the receiver knowing it. The
// receiver here knows no keys. Beside it the two naive orders of note and call, under the same
// crash between the two: one loses the operation, the other does it twice.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { axesOf } from '../../core/action-status.ts';
import { activityRig, failureOfRun, RUN } from '../support/activity-rig.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACTION = `${RUN}.t1.c1`;

class Crash extends Error {}

test('R-029 the key is on record, the process dies after the effect: unknown, not again', async () => {
  const path = join(tempDir(), 'ledger.db');
  let effects = 0;
  const effect = async () => {
    effects++;
    throw new Crash();
  };
  const before = await activityRig({ path });
  before.receiver.execute = effect;
  await failureOfRun(before.perform(before.call(await before.open())));
  expect(effects).toBe(1);

  const after = await activityRig({ path });
  after.receiver.execute = effect;
  const reply = await after.perform(after.call(await after.open()));
  expect(reply).toMatchObject({ verdict: 'action_in_doubt' });
  const action = (await after.ledger.read(RUN)).actions.get(ACTION);
  expect(action?.attempts[0]?.entry.receiverKey).toBe(`shop/default/${ACTION}`);
  expect(action && axesOf(action).effect).toBe('unknown');
  expect(effects).toBe(1);
});

/** Both run again after the crash, as a queue or a person would have it. */
const orders = {
  'done first': ['mark', 'call'],
  'call first': ['call', 'mark'],
} as const;

test.each([
  ['done first', 0],
  ['call first', 2],
] as const)('R-029 control: %s, crashed between the two, has %i effects', (order, expected) => {
  const marks = new Set<string>();
  let effects = 0;
  const run = (crashes: boolean) => {
    if (marks.has(ACTION)) return;
    const steps = { mark: () => void marks.add(ACTION), call: () => void effects++ };
    const [first, second] = orders[order];
    steps[first]();
    if (crashes) throw new Crash();
    steps[second]();
  };
  expect(() => run(true)).toThrow(Crash);
  run(false);
  expect(effects).toBe(expected);
});
