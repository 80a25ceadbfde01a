// A batch in which somebody is waited for. Would catch: a sibling that is done again when the wait
// is over, a decision that is taken for all of the batch, and a wait that keeps a worker from other
// work, or that something ends by itself.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { ALL, type AuthorityStage, openAuthorityStage } from '../support/authority-stage.ts';
import { LEASE_MS } from '../support/authority-tools.ts';
import { until } from '../support/fault-stage.ts';
import { type ModelCall, type ModelService, startModelService } from '../support/model-service.ts';
import { noticeOf, type Queue, WITHIN_MS } from '../support/zombie-stage.ts';

/** What the model proposes at once, by the run's instructions; then it is content. */
const proposals = new Map<string, readonly ModelCall[]>();

let model: ModelService;
let stage: AuthorityStage;
let workers: readonly Child[] = [];
beforeAll(async () => {
  model = await startModelService((said, turn) => (turn > 1 ? [] : (proposals.get(said) ?? [])));
  stage = await openAuthorityStage({ env: model.settings });
  await restarted(async () => undefined);
});
afterAll(async () => {
  await stage.close();
  await model.close();
});

/** Two processes, one of them for the tools of the shelf alone. */
async function restarted(meanwhile: () => Promise<void>): Promise<void> {
  for (const worker of workers) await worker.kill();
  await meanwhile();
  const most: readonly Queue[] = ['runs', 'actions', 'inquiries', 'tools'];
  workers = await Promise.all([stage.worker(most), stage.worker(['shelf'])]);
}

async function batch(runId: string, calls: readonly ModelCall[]) {
  proposals.set(runId, calls);
  return stage.begin(runId, { kind: 'model', instructions: runId });
}

const sign = (name: string, tool = 'sign') => ({ tool, input: { name } });

function settled(actionId: string): Promise<true> {
  return until(`the result of ${actionId}`, WITHIN_MS, async () => {
    const runId = actionId.slice(0, actionId.indexOf('.'));
    const found = await stage.bodies(runId, 'attempt_settled');
    return found.some((each) => each.actionId === actionId);
  });
}

/** Kinds of the facts about one action, in order, and how it was refused. */
async function records(actionId: string): Promise<readonly string[]> {
  const facts = await stage.facts(actionId.slice(0, actionId.indexOf('.')));
  return facts.flatMap(({ body }) => {
    if (!('actionId' in body) || body.actionId !== actionId) return [];
    return [body.kind === 'attempt_refused' ? body.verdict : body.kind];
  });
}

test('K-004 one call done, killed, the other approved or denied: no repeat', async () => {
  const [yes, no] = ['ns-approved', 'ns-denied'];
  for (const runId of [yes, no]) await batch(runId, [sign(`${runId} X`), sign(`${runId} Y`)]);
  for (const runId of [yes, no]) {
    await stage.decide('approve', await stage.toApprove(`${runId}.t1.c1`));
    await settled(`${runId}.t1.c1`);
  }
  await restarted(async () => {
    await stage.decide('approve', await stage.toApprove(`${yes}.t1.c2`));
    await stage.decide('deny', await stage.toApprove(`${no}.t1.c2`));
  });

  const ends = { [yes]: 2, [no]: 1 };
  for (const [runId, effectsCount] of Object.entries(ends)) {
    const result = await stage.client.result(runId);
    expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount });
    expect(await stage.arrived(`${runId}.t1.c1`)).toEqual(['executed']);
    expect(model.asked(runId)).toHaveLength(2);
  }
  expect(await stage.arrived(`${yes}.t1.c2`)).toEqual(['executed']);
  expect(await stage.arrived(`${no}.t1.c2`)).toEqual([]);
  const done = ['approval_missing', 'authority_changed', 'attempt_entered', 'attempt_settled'];
  for (const actionId of [`${yes}.t1.c1`, `${yes}.t1.c2`, `${no}.t1.c1`])
    expect(await records(actionId)).toEqual(done);
  const denied = ['approval_missing', 'authority_changed', 'approval_denied'];
  expect(await records(`${no}.t1.c2`)).toEqual(denied);
  // The model hears of both, each under its own id.
  expect(JSON.stringify(model.asked(no)[1])).toMatch(/denied by ann@example\.com/);
});

test('K-005 a mail goes out beside a call that waits: one mail, whatever the shape', async () => {
  const shapes = {
    parallel: (runId: string) => [noticeOf(runId, 'mail'), sign(runId)],
    'mixed-workers': (runId: string) => [noticeOf(runId, 'mail'), sign(runId, 'shelved_sign')],
    'waiting-first': (runId: string) => [sign(runId), noticeOf(runId, 'mail')],
  };
  const waiting: string[] = [];
  for (const [runId, shape] of Object.entries(shapes)) {
    await batch(runId, shape(runId));
    waiting.push(`${runId}.t1.${runId === 'waiting-first' ? 'c1' : 'c2'}`);
  }
  await stage.begin('sequential', [noticeOf('sequential', 'mail'), sign('sequential')]);
  waiting.push('sequential.t2.c1');
  const mails = waiting.map((actionId) =>
    actionId.endsWith('t1.c1')
      ? actionId.replace('t1.c1', 't1.c2')
      : actionId.replace(/t\d.c\d$/, 't1.c1'),
  );
  for (const actionId of mails) await settled(actionId);
  const questions = await Promise.all(waiting.map((actionId) => stage.toApprove(actionId)));
  await restarted(async () => undefined);
  for (const question of questions) await stage.decide('approve', question);
  for (const [index, { run, actionId }] of questions.entries()) {
    const result = await stage.client.result(run);
    expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
    expect([run, await stage.sent(run)]).toEqual([run, 1]);
    expect(await stage.arrived(actionId)).toEqual(['executed']);
    expect(await records(mails[index] ?? '')).toEqual(['attempt_entered', 'attempt_settled']);
  }
});

test('K-136 pending beyond every lease at a worker of one slot: it holds up nobody', async () => {
  for (const worker of workers) await worker.kill();
  workers = [await stage.worker(ALL, { slots: 1 })];
  const [runId, actionId] = ['pending', 'pending.t1.c1'];
  const run = await stage.begin(runId, [sign(runId)]);
  const question = await stage.toApprove(actionId);
  const since = Date.now();
  const others: string[] = [];
  // Other runs go through the one slot until every lease of the tool is over, twice.
  while (Date.now() - since < 2 * LEASE_MS || others.length < 2) {
    const other = `beside-${others.push(runId)}`;
    await stage.begin(other, [{ tool: 'create', input: { name: other } }]);
    expect(await stage.client.result(other)).toMatchObject({ effectsCount: 1 });
  }
  expect(await stage.client.approval(runId, actionId)).toEqual(question);
  expect(await stage.operator.pending(runId)).toEqual([]);
  expect(await stage.requests(runId)).toEqual([]);
  await stage.decide('approve', question);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  expect(await records(actionId)).toEqual([
    ...['approval_missing', 'authority_changed', 'attempt_entered', 'attempt_settled'],
  ]);
});
