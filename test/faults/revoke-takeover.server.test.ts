// Would catch: a takeover that gives a revoked run a new start: because its openRun had passed the
// barrier before, because its claim was fresh, or because it was waiting for a person. And an end
// that mixes up that the work was stopped and that effects exist.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { asked, until } from '../support/fault-stage.ts';
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
import {
  noticeOf,
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

const next = { tool: 'add', input: { counter: 'never', delta: 1 } };
const actionOf = (runId: string, step: number) => `${runId}.t${step}.c1`;
const runsOf = (name: string) => ways.map((way) => ({ way, runId: `takeover-${name}-${way}` }));
type Run = ReturnType<typeof runsOf>[number];
const [starting, opening] = [runsOf('starting'), runsOf('opening')];
const [asking, acting] = [runsOf('asking'), runsOf('acting')];

let stage: ZombieStage;
let others: Child;
let hands: Child;
const before = new Map<string, Before>();
beforeAll(async () => {
  stage = await openZombieStage();
  [others, hands] = await Promise.all([
    stage.worker(['runs', 'actions', 'inquiries'], { env: unhurried }),
    stage.worker(['tools'], { slots: 20, env: unhurried }),
  ]);
  for (const { runId } of opening) await begin(runId, ['brief_notice', 'patient_notice']);
  for (const { runId } of opening) await asked(stage.client, actionOf(runId, 2));
  // Late, and known: the runs go on, and wait in front of the same receiver again.
  await stage.gateway.release();
  for (const { runId } of opening) await untilHeld(stage.gateway, runId, 2);
  for (const { runId } of asking) await begin(runId, ['patient_notice']);
  for (const { runId } of asking) await untilHeld(stage.gateway, runId);
  await Promise.all([
    ...starting.map(whileStarting),
    ...opening.map(whileOpening),
    ...asking.map(whileAsking),
    ...acting.map(whileActing),
  ]);
});
afterAll(() => stage.close());

/** A file, and notices that the gateway holds. */
async function begin(runId: string, tools: readonly string[]): Promise<void> {
  const times = tools.length;
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} `, times });
  const notices = tools.map((tool) => noticeOf(runId, tool));
  await stage.start(runId, [fileStep(runId), ...notices, next]);
}

async function takenOver(runId: string): Promise<void> {
  await stage.temporal.workflow.getHandle(runId).terminate('its worker is silent');
  await stage.client.resume(runId, { actor: 'ann', reason: 'its worker is silent' });
}

async function revoked({ runId, way }: Run): Promise<Revoking> {
  before.set(runId, await lookBefore(stage, runId));
  const revoking = await revokeBy(stage, runId, way);
  await revoking.told(others);
  await heard(stage, runId);
  return revoking;
}

/** Never opened so far. */
function whileStarting(run: Run): Promise<void> {
  return beforeOpening(run, () => stage.start(run.runId, [fileStep(run.runId), next]));
}

function whileOpening(run: Run): Promise<void> {
  return beforeOpening(run, () => takenOver(run.runId));
}

/** The barrier of its openRun is behind it, nothing of the claim is written. */
async function beforeOpening(run: Run, open: () => Promise<void>): Promise<void> {
  const { runId } = run;
  const goOn = stage.arm({ point: 'before_open', about: runId, clock: 'stood' });
  await open();
  await others.line(`REACHED before_open ${runId}`, WITHIN_MS);
  const revoking = await revoked(run);
  goOn();
  await others.line(`PASSED before_open ${runId}`, WITHIN_MS);
  await revoking.record();
}

/** The claim is taken, for facts only: a person is asked about the second step. */
async function whileAsking(run: Run): Promise<void> {
  await takenOver(run.runId);
  await asked(stage.client, actionOf(run.runId, 2));
  await (await revoked(run)).record();
}

/** The claim is taken, and an attempt of it is on its way, beside the one of the claim before. */
async function whileActing(run: Run): Promise<void> {
  const { runId } = run;
  const stand = { point: 'before_barrier', about: actionOf(runId, 2) } as const;
  const reached = () => hands.line(`REACHED before_barrier ${stand.about}`, WITHIN_MS);
  const goOns = [stage.arm(stand)];
  await stage.start(runId, [fileStep(runId), noticeOf(runId, 'patient_notice'), next]);
  await reached();
  goOns.push(stage.arm(stand));
  await takenOver(runId);
  await reached();
  const revoking = await revoked(run);
  for (const goOn of goOns) goOn();
  await until(`the refusal of ${runId}`, WITHIN_MS, async () => {
    const refused = await stage.bodies(runId, 'attempt_refused');
    return refused.some(({ verdict }) => verdict === 'attempt_not_current');
  });
  await revoking.record();
}

async function seen(runId: string) {
  const was = before.get(runId) as Before;
  return { found: await seenAfter(stage, runId, was), alone: stoppedWith(was) };
}

test.each(starting)(
  'R-095 R-109 revoked by $way before its first openRun: begins nothing',
  async ({ runId }) => {
    const { found, alone } = await seen(runId);
    expect(found).toEqual({ ...alone, file: null, entered: [], effects: [] });
    await neverNext(runId, 0);
  },
);

test.each(opening)(
  'R-095 R-109 R-121 revoked by $way before openRun has claimed: three lists',
  async ({ runId }) => {
    const { found, alone } = await seen(runId);
    const late = 't2.c1 executed under 1';
    expect(found).toEqual({
      ...alone,
      entered: ['t1.c1', 't2.c1', 't3.c1'],
      effects: [...alone.effects, late],
      lateFacts: [late],
      unknowns: ['t3.c1 unknown under 1'],
    });
    await neverNext(runId, 1);
  },
);

test.each(asking)(
  'R-095 R-109 revoked by $way under a claim of facts: the question stays',
  async ({ runId }) => {
    const { found, alone } = await seen(runId);
    expect(found).toEqual({
      ...alone,
      entered: ['t1.c1', 't2.c1'],
      unknowns: ['t2.c1 unknown under 1'],
    });
    const question = await asked(stage.client, actionOf(runId, 2));
    expect(question.evidence.authRevision).toBe(1);
    await neverNext(runId, 0);
  },
);

test.each(acting)('R-095 R-109 revoked by $way under the new claim: no gate', async ({ runId }) => {
  const { found, alone } = await seen(runId);
  // The one of the claim before leaves nothing: its epoch keeps it out.
  expect(found).toEqual({ ...alone, refusedSince: ['t2.c1 attempt_not_current'] });
  await neverNext(runId, 0);
});

async function neverNext(runId: string, sent: number): Promise<void> {
  expect(await stage.sent(runId)).toBe(sent);
  expect(await stage.requests(runId)).toEqual([]);
}

test('R-108 R-110 what the old claim had begun is told late, nothing else changes', async () => {
  await stage.gateway.release();
  for (const { runId } of [...opening, ...asking]) {
    const was = before.get(runId) as Before;
    const result = await until(`the late fact of ${runId}`, WITHIN_MS, async () => {
      const now = await seenAfter(stage, runId, was);
      return now.unknowns.length === 0 ? now : null;
    });
    const late = result.entered.slice(1).map((position) => `${position} executed under 1`);
    const alone = stoppedWith(was);
    expect(result).toEqual({
      ...alone,
      entered: result.entered,
      effects: [...alone.effects, ...late],
      lateFacts: late,
    });
    await neverNext(runId, late.length);
  }
});
