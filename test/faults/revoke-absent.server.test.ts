// Would catch: an attempt that enters because those who would have kept it out were away when its
// run was revoked: no worker for its queue, no worker at all, a worker of workflows that was in the
// middle of a task. And a revocation that is lost while nobody is there to hear of it.

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { until } from '../support/fault-stage.ts';
import { queuedAttempts, scheduledAttempts } from '../support/history-events.ts';
import { operatorOf } from '../support/operator.ts';
import {
  type Before,
  fileStep,
  heard,
  lookBefore,
  type Revoking,
  revocation,
  revokeBy,
  seenAfter,
  stoppedWith,
  unhurried,
  ways,
} from '../support/revoke-ways.ts';
import {
  noticeOf,
  openZombieStage,
  type Step,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

const OTHERS = ['runs', 'actions', 'inquiries'] as const;
const next = { tool: 'add', input: { counter: 'never', delta: 1 } };
const completed = { end: { kind: 'completed' }, unknownsCount: 0 };
const actionOf = (runId: string, step: number) => `${runId}.t${step}.c1`;

let stage: ZombieStage;
let others: Child;
const before = new Map<string, Before>();
beforeAll(async () => {
  stage = await openZombieStage();
  others = await stage.worker(OTHERS, { env: unhurried });
});
afterAll(() => stage.close());

/** Revoked, and what was there right before is kept to be compared with. */
async function revoked(runId: string, way: (typeof ways)[number]): Promise<Revoking> {
  before.set(runId, await lookBefore(stage, runId));
  return revokeBy(stage, runId, way);
}

async function seen(runId: string) {
  const was = before.get(runId) as Before;
  return { found: await seenAfter(stage, runId, was), alone: stoppedWith(was) };
}

const runsOf = (name: string) => ways.map((way) => ({ way, runId: `absent-${name}-${way}` }));

async function queued(runId: string, step: Step): Promise<void> {
  await stage.start(runId, [fileStep(runId), step, next]);
  await until(`${runId} is queued`, WITHIN_MS, async () => {
    return (await queuedAttempts(inject('temporal'), runId, actionOf(runId, 2))).length === 1;
  });
}

async function nothingSent(runId: string): Promise<void> {
  expect(await stage.sent(runId)).toBe(0);
  expect(await stage.requests(runId)).toEqual([]);
}

describe('queued, and nobody serves the queue', () => {
  const runs = runsOf('queue');
  beforeAll(async () => {
    for (const { runId, way } of runs) {
      await queued(runId, noticeOf(runId, 'shelved_notice'));
      const revoking = await revoked(runId, way);
      await revoking.told(others);
      await heard(stage, runId);
      await revoking.record();
    }
  });

  test.each(runs)(
    'R-034 R-109 revoked by $way: ends without waiting for one',
    async ({ runId }) => {
      const { found, alone } = await seen(runId);
      expect(found).toEqual({ ...alone, refusedSince: ['t2.c1 closed_by_inquiry'] });
      const refused = await stage.bodies(runId, 'attempt_refused');
      const under = { position: 't2.c1', tool: 'shelved_notice', revisions: { auth: 1 } };
      expect(refused).toMatchObject([{ ...under, payload: { digest: expect.any(String) } }]);
      const intent = await stage.ledger.payload(refused[0]?.payload?.digest ?? 'sha256:none');
      expect(JSON.parse(new TextDecoder().decode(intent ?? undefined))).toEqual(
        noticeOf(runId, 'shelved_notice').input,
      );
      const { recorded } = await stage.client.state(runId);
      expect(recorded?.actions.map(({ word }) => word)).toEqual(['finished', 'not submitted']);
      await nothingSent(runId);
    },
  );
});

describe('in the workflow task that schedules the next step', () => {
  const runs = runsOf('task');
  beforeAll(async () => {
    const hands = await stage.worker(['tools'], { env: unhurried });
    for (const { runId } of runs) {
      await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
      await stage.start(runId, [fileStep(runId), noticeOf(runId, 'patient_notice'), next]);
    }
    for (const { runId } of runs) await untilHeld(stage.gateway, runId);
    // Its next task is handed to it, begun, and not done before the signal has come.
    others.freeze();
    await stage.gateway.release();
    for (const { runId } of runs) await taskBegun(runId);
    // At once: a task that is not done in time is given to somebody else.
    const revoking = await Promise.all(runs.map(({ runId, way }) => revoked(runId, way)));
    others.thaw();
    for (const each of revoking) await each.told(others);
    for (const { runId } of runs) await refusal(runId, 3);
    for (const each of revoking) await each.record();
    for (const { runId } of runs) await stage.client.result(runId);
    await hands.kill();
  });

  test.each(runs)('R-034 R-095 R-109 revoked by $way: scheduled, no gate', async ({ runId }) => {
    const scheduled = await scheduledAttempts(inject('temporal'), runId, actionOf(runId, 3));
    expect(scheduled).toHaveLength(1);
    const { found, alone } = await seen(runId);
    // None is scheduled after the signal: the only one stands in history before it.
    expect(found).toEqual({
      ...alone,
      entered: ['t1.c1', 't2.c1'],
      effects: [...alone.effects, 't2.c1 executed under 1'],
      refusedSince: ['t3.c1 attempt_not_current'],
    });
    expect(await stage.sent(runId)).toBe(1);
    expect(await stage.requests(runId)).toEqual([]);
  });
});

/** Some worker has begun the workflow task that is pending. */
async function taskBegun(runId: string): Promise<void> {
  const { connection, options } = stage.temporal;
  await until(`a task of ${runId}`, WITHIN_MS, async () => {
    const reply = await connection.workflowService.describeWorkflowExecution({
      namespace: options.namespace,
      execution: { workflowId: runId },
    });
    return reply.pendingWorkflowTask?.state === STARTED;
  });
}
const STARTED = 2;

async function refusal(runId: string, step: number): Promise<void> {
  await until(`a refusal of ${runId}`, WITHIN_MS, async () => {
    const refused = await stage.bodies(runId, 'attempt_refused');
    return refused.some(({ actionId }) => actionId === actionOf(runId, step));
  });
}

describe('K-070 three are queued, all workers are down, two are revoked', () => {
  /** Their queue is served by a worker that comes alone, and is killed before the others come. */
  const again = { tool: 'shelved_notice', runs: runsOf('again'), kept: 'absent-again-kept' };
  const once = { tool: 'patient_notice', runs: runsOf('once'), kept: 'absent-once-kept' };
  const superseded = 'absent-superseded';
  /** By whoever came first: the run took it back, or it asked and was not told that it may. */
  const closed = [expect.stringMatching(/^t2\.c1 /)];
  beforeAll(async () => {
    for (const { tool, runs, kept } of [again, once])
      for (const runId of [...runs.map((each) => each.runId), kept])
        await queued(runId, noticeOf(runId, tool));
    await queued(superseded, noticeOf(superseded, again.tool));
    await others.stop();
    const grants = ['effect', 'query', 'read'] as const;
    await stage.client.amend(superseded, { ...revocation, grants: [...grants] });
    for (const { runs } of [again, once])
      for (const { runId, way } of runs) await silent(runId, way);
    const shelf = await stage.worker(['shelf'], {
      env: { ...unhurried, HOLDFAST_BARRIER_WAIT_MS: '500' },
    });
    for (const { runId } of again.runs) await answered(runId);
    for (const runId of [again.kept, superseded]) await answered(runId);
    await shelf.kill();
    others = await stage.worker([...OTHERS, 'tools', 'shelf'], { env: unhurried });
  });

  test.each([
    ['a restart', once],
    ['two restarts', again],
  ])('R-034 R-109 K-070 after %s one has its effect, two have none', async (_, { runs, kept }) => {
    for (const { runId } of runs) {
      const { found, alone } = await seen(runId);
      expect(found).toEqual({ ...alone, refusedSince: closed });
      await nothingSent(runId);
    }
    expect(await stage.client.result(kept)).toMatchObject({ ...completed, effectsCount: 3 });
    expect([await stage.sent(kept), (await stage.requests(kept)).length]).toEqual([1, 1]);
  });

  test('R-109 K-077 what was superseded does not come back: the new one runs once', async () => {
    const actionId = actionOf(superseded, 2);
    expect(await stage.client.result(superseded)).toMatchObject({ ...completed, effectsCount: 3 });
    const ofStep = (body: { readonly actionId: string }) => body.actionId === actionId;
    const [old] = await scheduledAttempts(inject('temporal'), superseded, actionId);
    const entered = (await stage.bodies(superseded, 'attempt_entered')).filter(ofStep);
    expect(new Set(entered.map(({ revisions }) => revisions.auth))).toEqual(new Set([2]));
    expect(entered.map(({ attemptId }) => attemptId)).not.toContain(old);
    const [refused] = (await stage.bodies(superseded, 'attempt_refused')).filter(ofStep);
    expect(refused).toMatchObject({ attemptId: old, revisions: { auth: 1 } });
    expect(await stage.sent(superseded)).toBe(1);
    expect(await stage.requests(superseded)).toHaveLength(1);
  });

  /** The server has had what became of the attempt: it may be killed who told it. */
  async function answered(runId: string): Promise<void> {
    const { pending } = operatorOf(stage.temporal);
    await until(`the answer of ${runId}`, WITHIN_MS, async () => {
      return (await pending(runId)).every(({ type }) => type !== 'performAction');
    });
  }

  /** Nobody is there to record what comes by the signal alone: the server keeps it. */
  async function silent(runId: string, way: (typeof ways)[number]): Promise<void> {
    before.set(runId, await lookBefore(stage, runId));
    if (way === 'client') await stage.client.revoke(runId, revocation);
    else await stage.temporal.workflow.getHandle(runId).signal('revoke', revocation);
  }
});
