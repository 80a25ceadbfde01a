// Workflow Reset: the server drops what came after a point and begins a second copy beside the
// first, whose activities run on. Would catch: an effect of both copies, a revocation or an answer
// that a Reset takes back, and an unknown that nobody is asked about once the copy has ended.

import { expect, inject, test } from 'vitest';
import {
  actionOf,
  add,
  allSettled,
  buttonsStage,
  childOf,
  factsOf,
  heldAt,
  hold,
  letGo,
  notice,
  oneMoreTask,
  openRunId,
  pointBefore,
  requestsOf,
  startPlan,
  WITHIN_MS,
} from '../support/buttons.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';
import { effectRows } from './harness.ts';

const at = buttonsStage();
const attempts = (runId: string, name: string) =>
  scheduledAttempts(inject('temporal'), runId, `${runId}.${name}`);

test('R-135 R-018 reset after scheduling: both copies have the attempt, one enters', async () => {
  const runId = 'same-attempt';
  const actionId = `${runId}.c1`;
  await hold(at, actionId);
  const run = await startPlan(at, runId, [notice(runId, 'c1')]);
  await heldAt(at, actionId);
  const before = await attempts(runId, 'c1');
  await at.operator.reset(runId, { eventId: await oneMoreTask(at, runId, actionId) });

  // The copy was given the attempt again, and asks about it: the first one may be at work.
  await asked(at.stage.client, actionId);
  expect(await attempts(runId, 'c1')).toEqual(before);
  expect(await effectRows(at.stage, runId)).toEqual([]);
  await letGo(at);
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, lateFactsCount: 1, unknownsCount: 0 });
  expect((await actionOf(at, runId, 'c1')).attempts).toHaveLength(1);
  expect(await effectRows(at.stage, runId)).toHaveLength(1);
});

test('R-135 reset before scheduling: a fresh attempt meets the gate and waits', async () => {
  const runId = 'fresh-attempt';
  const actionId = `${runId}.c1`;
  await hold(at, actionId);
  const run = await startPlan(at, runId, [notice(runId, 'c1')]);
  await heldAt(at, actionId);
  const before = await attempts(runId, 'c1');
  await at.operator.reset(runId, { eventId: await pointBefore(at, runId, actionId) });

  await asked(at.stage.client, actionId);
  expect(await attempts(runId, 'c1')).not.toEqual(before);
  expect(await effectRows(at.stage, runId)).toEqual([]);
  // Only what is in doubt tells the run when it settles.
  expect((await actionOf(at, runId, 'c1')).attempts).toMatchObject([{ doubted: true }]);
  await letGo(at);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect((await actionOf(at, runId, 'c1')).attempts).toHaveLength(1);
  expect(await effectRows(at.stage, runId)).toHaveLength(1);
});

test('R-135 R-022 a keyed action of both copies is one effect, whichever comes first', async () => {
  const runId = 'keyed-twice';
  const actionId = `${runId}.c1`;
  await hold(at, actionId);
  const run = await startPlan(at, runId, [add(runId, 'c1')]);
  await heldAt(at, actionId);
  await at.operator.reset(runId, { eventId: await pointBefore(at, runId, actionId) });
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  await letGo(at);
  await allSettled(at, runId, 'c1');
  const { attempts: both, disputed } = await actionOf(at, runId, 'c1');
  expect({ entered: both.length, disputed }).toEqual({ entered: 2, disputed: false });
  expect(await requestsOf(at, actionId)).toHaveLength(2);
  expect(await effectRows(at.stage, runId)).toHaveLength(1);
});

test('R-135 reset after settlement, in flight and after the end: it is adopted', async () => {
  const runId = 'settled-before';
  await hold(at, `${runId}.c2`);
  const run = await startPlan(at, runId, [add(runId, 'c1'), add(runId, 'c2')]);
  await heldAt(at, `${runId}.c2`);
  const eventId = await pointBefore(at, runId, `${runId}.c1`);
  await at.operator.reset(runId, { eventId });
  const first = await run.result();
  await letGo(at);
  await allSettled(at, runId, 'c2');
  expect(await requestsOf(at, `${runId}.c1`)).toHaveLength(1);

  const facts = (await factsOf(at, runId)).length;
  await at.operator.reset(runId, { eventId });
  const again = await at.temporal.workflow.getHandle(runId).result();
  expect(again).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(again).toMatchObject({ effects: first.effects });
  const since = (await factsOf(at, runId)).slice(facts).map(({ body }) => body.kind);
  expect(since.filter((kind) => kind !== 'attempt_refused')).toEqual([]);
  expect(await effectRows(at.stage, runId)).toHaveLength(2);
});

test('R-135 R-118 reset with an open question of a dead worker: it is adopted', async () => {
  const runId = 'open-question';
  const actionId = `${runId}.c1`;
  at.stage.arm({ point: 'after_receiver_commit', actionId });
  const worker = await at.stage.worker();
  const run = await startPlan(at, runId, [notice(runId, 'c1')]);
  await worker.line('REACHED ', WITHIN_MS);
  await worker.kill();
  await at.stage.worker();
  await asked(at.stage.client, actionId);
  const child = await openRunId(at, `unknown.${actionId}`);

  await at.operator.reset(runId, { eventId: await pointBefore(at, runId, actionId) });
  await until('the copy waits', WITHIN_MS, async () => {
    const { live } = await at.stage.client.state(runId);
    return live?.phase === 'waiting' && live.unknowns.length === 1;
  });
  expect(await openRunId(at, `unknown.${actionId}`)).toBe(child);
  await answerTruly(at.stage, actionId);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect((await childOf(at, actionId).describe()).status.name).toBe('COMPLETED');
  expect(await effectRows(at.stage, runId)).toHaveLength(1);
});

const revoke = { actor: 'ann@example.com', reason: 'the order was withdrawn' };

test.each([
  ['the client, in the ledger first', 'client'],
  ['the Web UI, as a signal alone', 'signal'],
])('R-135 R-109 a revocation by %s outlives a Reset without signals', async (_by, by) => {
  const runId = `revoked-by-${by}`;
  const actionId = `${runId}.c1`;
  await hold(at, actionId);
  const run = await startPlan(at, runId, [notice(runId, 'c1'), notice(runId, 'c2')]);
  await heldAt(at, actionId);
  const eventId = await pointBefore(at, runId, actionId);
  const command = { id: `${runId}/1`, ...revoke };
  if (by === 'client')
    expect(await at.stage.client.revoke(runId, command)).toMatchObject({ recordedFirst: true });
  else await at.temporal.workflow.getHandle(runId).signal('revoke', command);
  await until('the revocation on record', WITHIN_MS, async () => {
    return (await at.stage.ledger.read(runId)).revoked;
  });
  await at.operator.reset(runId, { eventId, excludeSignals: true });

  // Nobody waits for what the first copy has under way; so a person is asked about it.
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, undone: false });
  expect(result.unknowns).toMatchObject([{ actionId, authRevision: 1 }]);
  await asked(at.stage.client, actionId);
  await letGo(at);
  await allSettled(at, runId, 'c1');
  await childOf(at, actionId).result();
  expect(await run.result()).toMatchObject({ effectsCount: 1, unknownsCount: 0 });
  expect(await effectRows(at.stage, runId)).toHaveLength(1);
  const { end } = await run.result();
  expect(end).toEqual({ kind: 'stopped', reason: 'revoked' });
});

test('R-135 revoked and reset, what is under way at a keyed receiver is closed there', async () => {
  const runId = 'revoked-keyed';
  const actionId = `${runId}.c1`;
  await hold(at, actionId);
  const run = await startPlan(at, runId, [add(runId, 'c1'), add(runId, 'c2')]);
  await heldAt(at, actionId);
  const eventId = await pointBefore(at, runId, actionId);
  // It may be looked up: without that nobody may speak to the receiver any more.
  await at.stage.client.revoke(runId, { id: `${runId}/1`, ...revoke, keep: ['query'] });
  await at.operator.reset(runId, { eventId, excludeSignals: true });
  expect((await run.result()).end).toEqual({ kind: 'stopped', reason: 'revoked' });

  // The question that the run left behind asks the receiver, which refuses the request from then.
  await allSettled(at, runId, 'c1');
  await letGo(at);
  await until('the answer to the old request', WITHIN_MS, async () => {
    return (await requestsOf(at, actionId)).length > 0;
  });
  expect(await run.result()).toMatchObject({ effectsCount: 0, unknownsCount: 0 });
  expect(await effectRows(at.stage, runId)).toEqual([]);
});

test('R-135 an answer to a question outlives a Reset without signals', async () => {
  const runId = 'answered';
  const actionId = `${runId}.c1`;
  await at.stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: actionId });
  await hold(at, `${runId}.c2`);
  const run = await startPlan(at, runId, [notice(runId, 'c1'), notice(runId, 'c2')]);
  await asked(at.stage.client, actionId);
  const eventId = await pointBefore(at, runId, actionId);
  await answerTruly(at.stage, actionId);
  await heldAt(at, `${runId}.c2`);
  await at.operator.reset(runId, { eventId, excludeSignals: true });

  // Only what the first copy has under way is asked about.
  await asked(at.stage.client, `${runId}.c2`);
  const { questions } = await at.stage.client.inbox();
  expect(questions.filter((each) => each.runId === runId)).toHaveLength(1);
  await letGo(at);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(await effectRows(at.stage, runId)).toHaveLength(2);
});
