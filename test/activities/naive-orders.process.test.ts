// Would catch: a note of our own that is taken for de-duplication. The two orders in which a note
// and a call can be made are played beside the product, each killed at the same place: between the
// effect and whatever comes next to it. The counts are the receiver's own.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityRig } from '../support/activity-rig.ts';
import { type ReceiverProcess, startReceiver } from '../support/receiver-process.ts';
import { tempDir } from '../support/temp-dir.ts';

let gateway: ReceiverProcess;
beforeAll(async () => {
  gateway = await startReceiver({ kind: 'dumb' });
});
afterAll(() => gateway.stop());

const sent = async (subject: string) => {
  const log = await gateway.log();
  return log.filter(({ mail }) => (mail as { subject: string }).subject === subject).length;
};
const post = (subject: string) =>
  fetch(`${gateway.url}/send`, {
    method: 'POST',
    body: JSON.stringify({ to: 'lead@example.com', subject, body: '' }),
  });

/** A host that keeps a note of the key, and nothing else. It dies once, between the two. */
const host = `
  const { existsSync, writeFileSync } = require('node:fs');
  const [order, url, note, died] = process.argv.slice(1);
  const call = () => fetch(url + '/send', {
    method: 'POST',
    body: JSON.stringify({ to: 'lead@example.com', subject: order, body: '' }),
  });
  const mark = async () => writeFileSync(note, 'done');
  const dieOnce = () => {
    if (existsSync(died)) return;
    writeFileSync(died, '');
    process.kill(process.pid, 'SIGKILL');
  };
  (async () => {
    if (existsSync(note)) return;
    const [first, second] = order === 'done-first' ? [mark, call] : [call, mark];
    await first();
    dieOnce();
    await second();
  })();
`;

function lives(order: string, directory: string): Promise<NodeJS.Signals | null> {
  const args = [order, gateway.url, join(directory, 'note'), join(directory, 'died')];
  return new Promise((resolve) => {
    execFile(process.execPath, ['--eval', host, ...args], (error) =>
      resolve((error?.signal as NodeJS.Signals | undefined) ?? null),
    );
  });
}

test.each<[string, number, string]>([
  ['done-first', 0, 'loses the operation'],
  ['call-first', 2, 'repeats it'],
])('R-029 a host that works %s sends %i: it %s', async (order, count) => {
  const directory = tempDir();
  expect(await lives(order, directory)).toBe('SIGKILL');
  expect(await lives(order, directory)).toBeNull();
  expect(await sent(order)).toBe(count);
});

test('R-029 D2 with the ledger the same crash resends nothing, and is unknown', async () => {
  const path = join(tempDir(), 'ledger.db');
  const before = await activityRig({ path });
  let reached: () => void = () => undefined;
  const called = new Promise<void>((resolve) => {
    reached = resolve;
  });
  before.receiver.execute = async () => {
    await post('intent-first');
    reached();
    // Whoever called is gone, and never comes to what is next.
    return new Promise<never>(() => undefined);
  };
  const opened = await before.open();
  const call = before.call(opened);
  void before.perform(call).catch(() => undefined);
  await called;

  const after = await activityRig({ path });
  after.receiver.execute = async () => {
    await post('intent-first');
    return { kind: 'executed', result: { ok: true } };
  };
  expect(await after.perform(call)).toMatchObject({ verdict: 'attempt_reused', outcome: null });
  const next = after.call(opened, { attemptId: `${call.actionId}~again` });
  expect(await after.perform(next)).toMatchObject({ verdict: 'action_in_doubt', outcome: null });
  expect(await sent('intent-first')).toBe(1);
});
