import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type ArmedPoint,
  armKillPoint,
  killPoints,
  withKillPoints,
} from '../../examples/support-desk/kill-points.ts';
import {
  actionOf,
  entered,
  enteredRow,
  opened,
  payloadOf,
  settled,
} from '../../ledger/conformance/sample-facts.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { tempDir } from '../support/temp-dir.ts';

const step = { runId: 'r', step: 1 };
const actionId = actionOf(step);
const result = payloadOf({ ok: true });

async function place() {
  const directory = tempDir();
  const ledger = await openSqliteLedger({ path: join(directory, 'ledger.db'), create: true });
  await ledger.transact(step, () => ({ reply: null, facts: [opened(ledger.identity)] }));
  const reached: ArmedPoint[] = [];
  let announce: () => void = () => undefined;
  const said = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const struck = withKillPoints(ledger, {
    directory,
    announce: (point) => {
      reached.push(point);
      announce();
    },
  });
  return { directory, ledger, struck, reached, said };
}

const enter = (ledger: Ledger) =>
  ledger.transact(step, () => ({
    reply: null,
    facts: [entered(step)],
    gateRows: [enteredRow(step)],
  }));
const settle = (ledger: Ledger) =>
  ledger.transact(step, () => ({
    reply: null,
    facts: [settled(step, result)],
    payloads: [result],
  }));

test.each([
  { point: 'before_gate', facts: ['run_opened'] },
  { point: 'after_gate', facts: ['run_opened', 'attempt_entered'] },
  { point: 'after_receiver_commit', facts: ['run_opened', 'attempt_entered'] },
  { point: 'after_result', facts: ['run_opened', 'attempt_entered', 'attempt_settled'] },
] as const)('at $point the ledger stands still after $facts', async ({ point, facts }) => {
  const { directory, ledger, struck, reached, said } = await place();
  armKillPoint(directory, { point, actionId });
  const walk = (async () => {
    await enter(struck);
    await settle(struck);
    return 'went on';
  })();
  expect(await Promise.race([said.then(() => 'stands still'), walk])).toBe('stands still');
  expect(reached).toEqual([{ point, actionId }]);
  const written = await ledger.facts('r', { after: 0, limit: 10 });
  expect(written.map(({ body }) => body.kind)).toEqual(facts);
  await ledger.close();
});

test('an armed point fires once, and other actions pass it', async () => {
  const { directory, ledger, struck, said } = await place();
  armKillPoint(directory, { point: 'after_gate', actionId: 'r.t9.c9' });
  await enter(struck);
  armKillPoint(directory, { point: 'after_receiver_commit', actionId });
  void settle(struck);
  await said;
  // Another process comes to the same point.
  await settle(withKillPoints(ledger, { directory, announce: () => undefined }));
  await ledger.close();
});

test('every point has its row above', () => {
  expect(killPoints).toHaveLength(4);
});
