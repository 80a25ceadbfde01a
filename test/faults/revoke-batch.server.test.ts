// Would catch: a batch of which something is begun after its run was revoked: calls that had not
// entered, calls that waited for a lane, or a model that is told what became of the others.
//
// The calls of one reply are done side by side, in a fixed number of lanes; there are no batches
// whose calls wait for each other. What is in order is what finds no lane, and the steps of a plan.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import { until } from '../support/fault-stage.ts';
import { queuedAttempts, scheduledAttempts } from '../support/history-events.ts';
import { type ModelCall, type ModelService, startModelService } from '../support/model-service.ts';
import {
  type Before,
  fileStep,
  heard,
  lookBefore,
  type Revoking,
  revokeBy,
  seenAfter,
  stoppedWith,
  unhurried,
  ways,
} from '../support/revoke-ways.ts';
import type { StandPoint } from '../support/stand-points.ts';
import {
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

const runsOf = (name: string) => ways.map((way) => ({ way, runId: `batch-${name}-${way}` }));
type Run = ReturnType<typeof runsOf>[number];
const [five, ten, thinking, plan] = ['five', 'ten', 'thinking', 'plan'].map(runsOf) as [
  Run[],
  Run[],
  Run[],
  Run[],
];
const actionOf = (runId: string, call: number) => `${runId}.t2.c${call}`;
/** How many more than there are lanes. */
const LEFT = 2;
const TEN = limits.parallelCallsMax + LEFT;

let model: ModelService;
let stage: ZombieStage;
let others: Child;
let hands: Child;
const before = new Map<string, Before>();
/** Lets go the replies of the model that are held. */
const replies = new Map<string, () => void>();

const add = (name: string): ModelCall => ({ tool: 'add', input: { counter: name, delta: 1 } });
const shelved = (name: string): ModelCall => ({
  tool: 'shelved_notice',
  input: { to: 'lead@example.com', subject: name, body: '' },
});

/** First the file, then the batch; a third turn is never to be asked for. */
function proposed(runId: string, turn: number): readonly ModelCall[] | Promise<ModelCall[]> {
  if (turn === 1) return [fileStep(runId) as ModelCall];
  if (turn > 2) return [];
  const calls = (count: number) => Array.from({ length: count }, (_, n) => add(`${runId}.${n}`));
  if (runId.includes('-five-')) return [...calls(4), shelved(`Notice ${runId} of today`)];
  if (runId.includes('-ten-')) return calls(TEN);
  return new Promise((resolve) => replies.set(runId, () => resolve(calls(5))));
}

beforeAll(async () => {
  model = await startModelService(proposed);
  stage = await openZombieStage();
  const env = { ...unhurried, ...model.settings };
  [others, hands] = await Promise.all([
    stage.worker(['runs', 'actions', 'inquiries'], { env }),
    stage.worker(['tools'], { slots: 40, env }),
  ]);
  await Promise.all([
    ...five.map(whileApart),
    ...ten.map(whileAllInCall),
    ...thinking.map(whileThinking),
    ...plan.map(whileInPlan),
  ]);
});
afterAll(async () => {
  await stage.close();
  await model.close();
});

async function begin(runId: string): Promise<void> {
  const principal = { user: 'ada', workspace: 'w1' };
  const goal = { kind: 'model' as const, instructions: runId };
  await stage.client.start(runId, { goal, principal });
}

async function revoked({ runId, way }: Run): Promise<Revoking> {
  before.set(runId, await lookBefore(stage, runId));
  const revoking = await revokeBy(stage, runId, way);
  await revoking.told(others);
  await heard(stage, runId);
  return revoking;
}

/** Each of the five is somewhere else: in the call, behind and before the gate, queued. */
async function whileApart(run: Run): Promise<void> {
  const { runId } = run;
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionOf(runId, 1) });
  const points: readonly StandPoint[] = ['after_gate', 'before_gate', 'before_barrier'];
  const goOns = points.map((point, index) =>
    stage.arm({ point, about: actionOf(runId, index + 2), clock: 'stood' }),
  );
  await begin(runId);
  await untilHeld(stage.receiver, runId);
  for (const [index, point] of points.entries())
    await hands.line(`REACHED ${point} ${actionOf(runId, index + 2)}`, WITHIN_MS);
  await until(`the fifth call of ${runId}`, WITHIN_MS, async () => {
    return (await queuedAttempts(inject('temporal'), runId, actionOf(runId, 5))).length === 1;
  });
  const revoking = await revoked(run);
  const [, , atTheBarrier] = goOns;
  atTheBarrier?.();
  await until(`the refusal in ${runId}`, WITHIN_MS, async () => {
    const refused = await stage.bodies(runId, 'attempt_refused');
    return refused.some(({ actionId }) => actionId === actionOf(runId, 4));
  });
  await revoking.record();
  for (const goOn of goOns) goOn();
  await stage.receiver.release(actionOf(runId, 1));
}

/** As many as there are lanes are in the call, the others have not been scheduled. */
async function whileAllInCall(run: Run): Promise<void> {
  const { runId } = run;
  const times = limits.parallelCallsMax;
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t2.`, times });
  await begin(runId);
  await untilHeld(stage.receiver, runId, times);
  await (await revoked(run)).record();
  await stage.receiver.release(`/${runId}.t2.`);
}

/** The model has been asked, and its reply proposes five calls. */
async function whileThinking(run: Run): Promise<void> {
  const { runId } = run;
  await begin(runId);
  const reply = await until(`the question to the model in ${runId}`, WITHIN_MS, async () => {
    return replies.get(runId) ?? null;
  });
  await (await revoked(run)).record();
  reply();
}

/** Three in order; the first is in the call. */
async function whileInPlan(run: Run): Promise<void> {
  const { runId } = run;
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t2.` });
  const three = [1, 2, 3].map((n) => ({ ...add(`${runId}.${n}`) }));
  await stage.start(runId, [fileStep(runId), ...three]);
  await untilHeld(stage.receiver, runId);
  await (await revoked(run)).record();
  await stage.receiver.release(`/${runId}.t2.`);
}

async function seen(runId: string) {
  const was = before.get(runId) as Before;
  return { found: await seenAfter(stage, runId, was), alone: stoppedWith(was) };
}

/** Calls of the batch that had entered, as the receiver has them. */
async function arrived(runId: string): Promise<readonly string[]> {
  const requests = await stage.receiver.requests();
  const keys = requests.filter(({ kind }) => kind === 'execute').map(({ key }) => key);
  return keys.flatMap((key) => key.split(`/${runId}.`).slice(1)).sort();
}

const late = (calls: readonly string[]) => calls.map((call) => `${call} executed under 1`);

test.each(five)('R-108 R-109 K-073 five at once, revoked by $way: two had entered', async (run) => {
  const { runId } = run;
  const { found, alone } = await seen(runId);
  const had = ['t2.c1', 't2.c2'];
  expect({ ...found, entered: found.entered.toSorted() }).toEqual({
    ...alone,
    entered: ['t1.c1', 't1.m', ...had, 't2.m'],
    effects: [...alone.effects, ...late(had)],
    lateFacts: late(had),
    refusedSince: ['t2.c3 revoked', 't2.c4 attempt_not_current', 't2.c5 closed_by_inquiry'],
  });
  expect(await arrived(runId)).toEqual(had);
  expect(await stage.sent(runId)).toBe(0);
  expect(model.asked(runId)).toHaveLength(2);
});

test.each(ten)('R-108 R-109 K-073 revoked by $way: what has no lane yet gets none', async (run) => {
  const { runId } = run;
  const { found, alone } = await seen(runId);
  const lanes = Array.from({ length: limits.parallelCallsMax }, (_, n) => `t2.c${n + 1}`);
  expect({ ...found, entered: found.entered.toSorted() }).toEqual({
    ...alone,
    entered: ['t1.c1', 't1.m', ...lanes, 't2.m'],
    effects: [...alone.effects, ...late(lanes)],
    lateFacts: late(lanes),
  });
  expect(await arrived(runId)).toEqual(lanes);
  for (let call = lanes.length + 1; call <= TEN; call++)
    expect(await scheduledAttempts(inject('temporal'), runId, actionOf(runId, call))).toEqual([]);
  expect(model.asked(runId)).toHaveLength(2);
});

test.each(thinking)(
  'R-109 K-080 revoked by $way while the model thinks: no call of it',
  async (run) => {
    const { runId } = run;
    const { found, alone } = await seen(runId);
    expect(found).toEqual({ ...alone, entered: ['t1.m', 't1.c1', 't2.m'] });
    const settled = await stage.bodies(runId, 'attempt_settled');
    expect(settled.at(-1)).toMatchObject({
      actionId: `${runId}.t2.m`,
      outcome: 'executed',
      revisions: { auth: 1 },
      cost: { kind: 'known' },
    });
    expect(await arrived(runId)).toEqual([]);
    expect(model.asked(runId)).toHaveLength(2);
  },
);

test.each(plan)('R-109 K-073 three in order, revoked by $way inside the first', async (run) => {
  const { runId } = run;
  const { found, alone } = await seen(runId);
  expect(found).toEqual({
    ...alone,
    entered: ['t1.c1', 't2.c1'],
    effects: [...alone.effects, ...late(['t2.c1'])],
    lateFacts: late(['t2.c1']),
  });
  expect(await arrived(runId)).toEqual(['t2.c1']);
});
