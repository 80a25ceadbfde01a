// A budget beside worker processes that are killed. Would catch: a counter that a restart empties,
// one that two workers each keep for themselves, a cost that nobody knows and that counts as none,
// and a takeover or a continuation that gives back what was spent.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { ALL, type AuthorityStage, ann, openAuthorityStage } from '../support/authority-stage.ts';
import { PAID_MICROS } from '../support/authority-tools.ts';
import { until } from '../support/fault-stage.ts';
import { impatientServer } from '../support/impatient-server.ts';
import { type ModelCall, type ModelService, startModelService } from '../support/model-service.ts';
import { untilHeld, WITHIN_MS } from '../support/zombie-stage.ts';

const dollar = (micros: number) => ({ money: { currency: 'USD', micros } });
const counting = (tool: string, counter: string): ModelCall => ({
  tool,
  input: { counter, delta: 1 },
});
const HANGING = 4;

let model: ModelService;
let stage: AuthorityStage;
let worker: Child;
beforeAll(async () => {
  let hung = 0;
  model = await startModelService((said, turn) => {
    const [runId = '', kind] = said.split(' ');
    if (kind === 'lanes')
      return turn > 1 ? [] : [1, 2, 3, 4].map((n) => counting('paid', `${runId}-${n}`));
    // One reply is never given: whoever waits for it is killed.
    if (turn === HANGING && hung++ === 0) return new Promise(() => undefined);
    return turn > HANGING ? [] : [counting('add', `${runId}-${turn}`)];
  });
  stage = await openAuthorityStage({ env: model.settings });
  worker = await stage.worker(ALL);
});
afterAll(async () => {
  await stage.close();
  await model.close();
});

async function restart(): Promise<void> {
  await worker.kill();
  worker = await stage.worker(ALL);
}

async function budgetOf(runId: string) {
  return (await stage.client.state(runId)).recorded?.budget;
}

/** What the facts themselves add up to. */
async function recordedMicros(runId: string): Promise<number> {
  const settled = await stage.bodies(runId, 'attempt_settled');
  return settled.reduce(
    (sum, { cost }) => sum + (cost.kind === 'known' ? (cost.estimate?.micros ?? 0) : 0),
    0,
  );
}

test('K-127 0.60 of 1.00 spent, the worker restarted: another 0.60 is refused', async () => {
  const [runId, second] = ['restarted', 'restarted.t2.c1'];
  const plan = [1, 2].map((n) => counting('paid', `${runId}-${n}`));
  stage.arm({ point: 'after_result', about: `${runId}.t1.c1` });
  const run = await stage.begin(runId, plan, dollar(1_000_000));
  await worker.line('REACHED after_result ', WITHIN_MS);
  await restart();
  const why = /USD 0\.60 used, USD 0\.00 held, USD 0\.60 more do not fit USD 1\.00/;
  expect(await stage.exhausted(runId)).toMatch(why);
  await restart();
  expect(await stage.exhausted(runId)).toMatch(why);
  expect(await budgetOf(runId)).toMatchObject({ money: { used: PAID_MICROS, held: 0 } });
  expect(await stage.arrived(second)).toEqual([]);
  await stage.client.topUp(runId, { id: 'more', ...ann, micros: 200_000 });
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  for (const actionId of [`${runId}.t1.c1`, second])
    expect(await stage.arrived(actionId)).toEqual(['executed']);
});

test('K-128 R-131 two workers spend at once: one sum, which a cold start reads', async () => {
  const runId = 'shared';
  const beside = await stage.worker(['tools'], { slots: 2 });
  await worker.kill();
  const most = await stage.worker(ALL, { slots: 2 });
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.`, times: 3 });
  const budget = { tokens: 1_000_000, ...dollar(3 * PAID_MICROS) };
  const run = await stage.begin(runId, { kind: 'model', instructions: `${runId} lanes` }, budget);
  // Three at once are more than one of the processes takes.
  await untilHeld(stage.receiver, runId, 3);
  expect(await stage.exhausted(runId)).toMatch(/USD 0\.00 used, USD 1\.80 held, .* fit USD 1\.80/);
  expect(await stage.requests(runId)).toHaveLength(0);
  await stage.receiver.release();
  await until('what they cost', WITHIN_MS, async () => {
    return (await recordedMicros(runId)) === 3 * PAID_MICROS;
  });
  for (const each of [beside, most]) await each.kill();
  worker = await stage.worker(ALL);
  expect(await budgetOf(runId)).toMatchObject({
    money: { used: await recordedMicros(runId), held: 0 },
  });
  expect(await stage.requests(runId)).toHaveLength(3);
  await stage.client.topUp(runId, { id: 'more', ...ann, micros: PAID_MICROS });
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 4 });
  expect(result.cost.money).toEqual([{ currency: 'USD', micros: await recordedMicros(runId) }]);
  expect((await stage.requests(runId)).map(({ answer }) => answer)).toEqual(
    Array.from({ length: 4 }, () => 'executed'),
  );
});

test('K-121 three calls of unknown cost: it asks, and says "at least"', async () => {
  const runId = 'unbilled';
  const plan = [1, 2, 3, 4].map((n) => counting('unbilled', `${runId}-${n}`));
  const run = await stage.begin(runId, plan, dollar(1_000_000));
  const why = /USD 0\.00 used, USD 0\.90 held, USD 0\.30 more do not fit USD 1\.00/;
  expect(await stage.exhausted(runId)).toMatch(why);
  await restart();
  const { recorded } = await stage.client.state(runId);
  expect(recorded?.budget).toMatchObject({
    unknownAttempts: 3,
    money: { text: 'at least USD 0.00 used, USD 0.90 held, of USD 1.00' },
  });
  expect(recorded?.costText).toBe('at least 0 tokens in 3 requests, 3 of unknown cost');
  expect(await stage.arrived(`${runId}.t4.c1`)).toEqual([]);
  await stage.client.topUp(runId, { id: 'more', ...ann, micros: 200_000 });
  expect(await run.result()).toMatchObject({
    ...{ end: { kind: 'completed' }, effectsCount: 4 },
    costText: 'at least 0 tokens in 4 requests, 4 of unknown cost',
  });
});

test('R-131 R-116 requests, a kill, a lost reply, Terminate: all still count', async () => {
  const runId = 'requests';
  const said = `${runId} turns`;
  stage.arm({ point: 'after_result', about: `${runId}.t3.c1` });
  await stage.begin(runId, { kind: 'model', instructions: said }, { requests: 5 });
  await worker.line('REACHED after_result ', WITHIN_MS);
  await worker.kill();
  expect(await budgetOf(runId)).toMatchObject({ requests: { used: 3, held: 0, limit: 5 } });
  worker = await stage.worker(ALL);
  await until('the fourth request', WITHIN_MS, async () => model.asked(said).length === HANGING);
  await restart();
  const why = /requests: 4 used, 1 held, 1 more do not fit 5/;
  expect(await stage.exhausted(runId)).toMatch(why);
  expect(model.asked(said)).toHaveLength(5);
  expect(await budgetOf(runId)).toMatchObject({ unknownAttempts: 1 });

  await stage.operator.terminate(runId);
  const resumed = await stage.client.resume(runId, ann);
  await until('it asks again', WITHIN_MS, async () => {
    return why.test((await stage.client.state(runId)).live?.exhausted ?? '');
  });
  expect(model.asked(said)).toHaveLength(5);
  await stage.client.topUp(runId, { id: 'more', ...ann, requests: 1 });
  const result = await resumed.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: HANGING });
  expect(result.cost).toMatchObject({ atLeast: { requests: 6 }, unknownAttempts: 1 });
  expect(model.asked(said)).toHaveLength(6);
  for (const turn of [1, 2, 3, 4])
    expect(await stage.arrived(`${runId}.t${turn}.c1`)).toEqual(['executed']);
});

test('R-131 continued as new: what was spent before counts after it', async () => {
  const server = await impatientServer(40);
  const own = await openAuthorityStage({ server });
  try {
    await own.worker(ALL);
    const runId = 'continued';
    const adds = Array.from({ length: 9 }, (_, n) => counting('add', `${runId}-${n}`));
    const paid = (n: number) => counting('paid', `${runId}-paid-${n}`);
    const run = await own.begin(runId, [paid(1), ...adds, paid(2)], dollar(1_000_000));
    expect(await own.exhausted(runId)).toMatch(/USD 0\.60 used, .* do not fit USD 1\.00/);
    const { raw } = await own.temporal.workflow.getHandle(runId).describe();
    const { firstRunId, execution } = raw.workflowExecutionInfo ?? {};
    expect(execution?.runId).not.toBe(firstRunId);
    expect(await own.arrived(`${runId}.t11.c1`)).toEqual([]);
    await own.client.topUp(runId, { id: 'more', ...ann, micros: 200_000 });
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 11 });
  } finally {
    await own.close();
    await server.stop();
  }
});
