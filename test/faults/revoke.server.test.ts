// Would catch: an effect that happens because it had been queued, or was under way, when permission
// to act was withdrawn.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import { queuedAttempts } from '../support/history-events.ts';
import { effectRows } from './harness.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };
const revoke = { id: 'revoke-1', actor: 'ann@example.com', reason: 'the order was withdrawn' };

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

const step = (tool: string) => ({ tool, input: { counter: tool, delta: 1 } });

test('R-034 R-109 queued while all workers are down, then revoked: it never arrives', async () => {
  const runId = 'queued';
  const actionId = `${runId}.t1.c1`;
  // This process schedules; nobody serves the queue that the attempt is on.
  const scheduler = await stage.worker('not_elsewhere');
  const goal = { kind: 'plan' as const, steps: [step('add_elsewhere'), step('add')] };
  const run = await stage.client.start(runId, { goal, principal });
  await until('the queued attempt', WITHIN_MS, async () => {
    return (await queuedAttempts(inject('temporal'), runId, actionId)).length === 1;
  });
  await scheduler.kill();

  expect(await stage.client.revoke(runId, revoke)).toMatchObject({ recordedFirst: true });
  // Again, as a person who got no answer would: harmless.
  await stage.client.revoke(runId, revoke);
  // Only the queued attempt finds a worker; the workflow has not heard of the revocation.
  const effects = await stage.worker('elsewhere_only');
  const refused = await until('the refusal', WITHIN_MS, async () => {
    const facts = await stage.ledger.facts(runId, { after: 0, limit: 50 });
    return facts.map(({ body }) => body).find(({ kind }) => kind === 'attempt_refused') ?? null;
  });
  const intent = { tool: 'add_elsewhere', revisions: { goal: 1, auth: 1 } };
  expect(refused).toMatchObject({ actionId, ...intent });
  expect(refused).toHaveProperty('payload.digest');
  await effects.kill();
  await stage.worker('all');
  const result = await run.result();

  expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, effectsCount: 0 });
  expect(result.unknownsCount).toBe(0);
  expect(await stage.receiver.requests()).toEqual([]);
  const { recorded } = await stage.client.state(runId);
  expect(recorded).toMatchObject({ revoked: true, authRevision: 2 });
  expect(recorded?.actions.filter(({ word }) => word !== 'not submitted')).toEqual([]);
});

test('R-108 what is under way at a revoke is kept under its revision, starts nothing', async () => {
  const runId = 'under-way';
  const actionId = `${runId}.t1.c1`;
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  await stage.worker();
  const goal = { kind: 'plan' as const, steps: [step('add'), step('add'), step('add')] };
  const run = await stage.client.start(runId, { goal, principal });
  await until('the request at the receiver', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === 1;
  });
  await stage.client.revoke(runId, { ...revoke, id: 'revoke-2' });
  await stage.receiver.release(actionId);

  const result = await run.result();
  expect(result.end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(result).toMatchObject({ effectsCount: 1, undone: false });
  expect(result.effects).toMatchObject([{ actionId, outcome: 'executed', authRevision: 1 }]);
  expect(await effectRows(stage, runId)).toHaveLength(1);
});

test('R-043 a keyed request that times out is not sent again once it was revoked', async () => {
  const sent = async (runId: string) =>
    (await stage.receiver.requests()).filter(
      ({ kind, key }) => kind === 'execute' && key.includes(`/${runId}.`),
    );
  const worker = await stage.worker();
  const runs = [];
  for (const [runId, amount] of [
    ['keyed-kept', 10],
    ['keyed-withdrawn', 20],
  ] as const) {
    await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.` });
    const steps = [{ tool: 'credit', input: { account: 'u9', amount } }];
    const goal = { kind: 'plan' as const, steps };
    runs.push(await stage.client.start(runId, { goal, principal }));
  }
  await until('both requests at the receiver', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === 2;
  });
  await worker.kill();
  await stage.client.revoke('keyed-withdrawn', { ...revoke, id: 'revoke-3' });
  await stage.worker();
  const [kept, withdrawn] = await Promise.all(runs.map((run) => run.result()));

  // What the receiver would allow for both is allowed for one of them.
  expect(kept).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await sent('keyed-kept')).toHaveLength(1);
  expect(withdrawn).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' } });
  expect(await sent('keyed-withdrawn')).toEqual([]);
  const { actions } = await stage.ledger.read('keyed-withdrawn');
  const { attempts } = actions.get('keyed-withdrawn.t1.c1') ?? {};
  expect(attempts).toHaveLength(1);
  await stage.receiver.release();
});
