// Checks of what a decision sees, and of what can be read afterwards.

import { strict as assert } from 'node:assert';
import { genesisHash } from '../../core/chain.ts';
import type { Check, LedgerAdapter } from '../conformance.ts';
import type { Ledger } from '../port.ts';
import { assertRefused, check, enterOne, one, other, runId, write } from './in-process.ts';
import * as sample from './sample-facts.ts';

export const viewChecks: readonly Check[] = [
  check('INV-1 transactions at the same time in one process follow each other', concurrent),
  check('INV-1 two handles of one ledger see what the other has written', twoHandles),
  check('INV-6 ledger time stands still when the clock steps back, and says so', steppingClock),
  check('a pin holds for every head of the chain and for no other', pins),
  check('an action in doubt is a twin for another with its intent, until it settles', twins),
  check('an abandoned action stays a twin, as abandoned', abandoning),
  check('the newest closed row is shown when it is not in the chain', unchained),
  check('runs are listed newest first, with end, doubts, disputes and what waits', listing),
  check('a ledger reopened is the same ledger', reopening),
  check('a run that is not there reads as empty', emptyRun),
];

async function concurrent(ledger: Ledger): Promise<void> {
  await enterOne(ledger);
  const steps = Array.from({ length: 20 }, (_, index) => ({ runId, step: index + 2 }));
  const commits = await Promise.all(
    steps.map((step) =>
      ledger.transact({ runId }, (view) => ({
        reply: view.run.head.count,
        facts: [sample.entered(step)],
        gateRows: [sample.enteredRow(step)],
      })),
    ),
  );
  for (const { reply, head } of commits) assert.equal(head.count, reply + 1);
  assert.equal(new Set(commits.map(({ head }) => head.count)).size, steps.length);
  assert.equal((await ledger.read(runId)).actions.size, 1 + steps.length);
}

async function twoHandles(ledger: Ledger, adapter: LedgerAdapter, at: string): Promise<void> {
  const other = await adapter.open(at);
  await enterOne(ledger);
  await write(other, [sample.settled(one, sample.payloadOf('done'))]);
  const mine = await ledger.read(runId);
  assert.equal(mine.head.count, 3);
  assert.deepEqual(mine, await other.read(runId));
  await write(ledger, [sample.ended()]);
  assert((await other.read(runId)).ended);
  await other.close();
}

async function steppingClock(_: Ledger, adapter: LedgerAdapter): Promise<void> {
  let clock = 1_000_000;
  const ledger = await adapter.open(await adapter.newLocation(), () => clock);
  const look = async () => {
    const { reply, at } = await ledger.transact({ runId }, (view) => ({ reply: view, facts: [] }));
    assert.equal(at, reply.now);
    return { now: reply.now, clockSteppedBack: reply.clockSteppedBack };
  };
  clock = 1_000_500;
  assert.deepEqual(await look(), { now: 1_000_500, clockSteppedBack: false });
  clock = 1_000_200;
  assert.deepEqual(await look(), { now: 1_000_500, clockSteppedBack: true });
  const facts = (await enterOne(ledger)).run;
  assert.equal(facts.lastFactAt, 1_000_500);
  clock = 1_000_600;
  assert.deepEqual(await look(), { now: 1_000_600, clockSteppedBack: false });
  await ledger.close();
}

async function pins(ledger: Ledger): Promise<void> {
  const before = (await ledger.read(runId)).head;
  const first = (await enterOne(ledger)).head;
  const last = (await write(ledger, [sample.settled(one, sample.payloadOf('done'))])).head;
  const holds = async (pin: typeof first) =>
    (await ledger.transact({ runId, pin }, (view) => ({ reply: view.pinHolds, facts: [] }))).reply;
  for (const head of [before, first, last]) assert.equal(await holds(head), true);
  assert.equal(await holds({ count: last.count + 1, hash: last.hash }), false, 'beyond the end');
  assert.equal(await holds({ count: first.count, hash: last.hash }), false, 'another history');
  assert.equal(await holds({ count: 0, hash: last.hash }), false, 'another beginning');
  const none = await ledger.transact({ runId }, (view) => ({ reply: view.pinHolds, facts: [] }));
  assert.equal(none.reply, true);
}

async function twinsOf(ledger: Ledger, of: sample.Step) {
  const look = {
    runId: of.runId,
    actionId: sample.actionOf(of),
    intentDigest: sample.intentOf(of),
  };
  return (await ledger.transact(look, (view) => ({ reply: view.twins, facts: [] }))).reply;
}

async function twins(ledger: Ledger): Promise<void> {
  await enterOne(ledger);
  assert.deepEqual(await twinsOf(ledger, other), [], 'a healthy running action is no twin');
  await write(ledger, [sample.inDoubt(one)]);
  const twin = { runId, actionId: sample.actionOf(one), state: 'in_doubt' };
  assert.deepEqual(await twinsOf(ledger, other), [twin]);
  assert.deepEqual(await twinsOf(ledger, one), [], 'nobody is a twin of itself');
  assert.deepEqual(await twinsOf(ledger, { ...other, step: 2 }), [], 'another intent');
  await write(ledger, [sample.settled(one, sample.payloadOf('late'))]);
  assert.deepEqual(await twinsOf(ledger, other), []);
}

async function abandoning(ledger: Ledger): Promise<void> {
  await enterOne(ledger);
  await write(ledger, [sample.inDoubt(one), sample.abandoned(one)]);
  const twin = { runId, actionId: sample.actionOf(one), state: 'abandoned' };
  assert.deepEqual(await twinsOf(ledger, other), [twin]);
}

async function unchained(ledger: Ledger): Promise<void> {
  const actionId = sample.actionOf(one);
  const close = (attemptId: string, inChain: boolean) => ({
    kind: 'closed' as const,
    attemptId,
    actionId,
    verdict: 'authority_unavailable' as const,
    inChain,
  });
  const after = async (row: ReturnType<typeof close>) => {
    await ledger.transact({ runId }, () => ({ reply: null, facts: [], gateRows: [row] }));
    const look = { runId, actionId };
    return (await ledger.transact(look, (view) => ({ reply: view.unchained, facts: [] }))).reply;
  };
  assert.equal(await after(close('a', true)), null);
  assert.deepEqual(await after(close('b', false)), close('b', false));
  assert.deepEqual(await after(close('c', false)), close('c', false));
  assert.equal(await after(close('d', true)), null, 'the newest row is in the chain');
}

async function listing(_: Ledger, adapter: LedgerAdapter): Promise<void> {
  let clock = 1_000;
  const ledger = await adapter.open(await adapter.newLocation(), () => clock);
  await enterOne(ledger);
  clock = 2_000;
  await enterOne(ledger, other);
  await write(ledger, [sample.inDoubt(other)], other.runId);
  for (const [step, verdict] of [
    [2, 'approval_missing'],
    [3, 'budget_exhausted'],
  ] as const)
    await write(ledger, [sample.waits({ ...other, step }, verdict)], other.runId);
  clock = 3_000;
  await write(ledger, [sample.settled(one, sample.payloadOf('done')), sample.ended()]);
  await write(ledger, [sample.denied(one)]);
  const lines = await ledger.runs(10);
  assert.deepEqual(
    lines.map(({ head: _, ...line }) => line),
    [
      { runId, lastFactAt: 3_000, ended: true, inDoubt: 0, disputed: 1, waiting: 0 },
      { runId: other.runId, lastFactAt: 2_000, ended: false, inDoubt: 1, disputed: 0, waiting: 2 },
    ],
  );
  assert.deepEqual(lines[0]?.head, (await ledger.read(runId)).head);
  assert.equal((await ledger.runs(1)).length, 1);
  await ledger.close();
}

async function reopening(ledger: Ledger, adapter: LedgerAdapter, at: string): Promise<void> {
  const { run } = await enterOne(ledger);
  const before = ledger.identity;
  await ledger.close();
  await assertRefused('unavailable', ledger.read(runId));
  const again = await adapter.open(at);
  assert.deepEqual(again.identity, before);
  assert.deepEqual(await again.read(runId), run);
  assert.notEqual((await adapter.open(await adapter.newLocation())).identity.id, before.id);
  await again.close();
}

async function emptyRun(ledger: Ledger): Promise<void> {
  const run = await ledger.read('nobody');
  assert.deepEqual(run.head, { count: 0, hash: genesisHash('nobody') });
  assert.deepEqual(await ledger.facts('nobody', { after: 0, limit: 10 }), []);
}
