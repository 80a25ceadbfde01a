// `temporal activity complete` with a result that somebody made up, by a person who knows the whole
// ledger. Would catch: a run that goes on with, answers with or repeats what never was, because it
// believes what Temporal returns. Effects are counted at a gateway without keys.

import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { EndRunReply, PerformReply } from '../../core/activity-calls.ts';
import { authorityOf } from '../../core/authority.ts';
import { digestOf } from '../../core/digest.ts';
import { unknownIdOf } from '../../core/ids.ts';
import type { Outcome, RunResult } from '../../core/outcome.ts';
import { runResultOf } from '../../core/run-result.ts';
import { type ActivityTarget, type Operator, operatorOf } from '../support/operator.ts';
import { type ReceiverProcess, startReceiver } from '../support/receiver-process.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
let gateway: ReceiverProcess;
let operator: Operator;
beforeAll(async () => {
  gateway = await startReceiver({ kind: 'dumb', faults: true });
  operator = operatorOf(stage.client);
});
afterAll(() => gateway.stop());
beforeEach(() => {
  stage.behave['post_letter'] = async (_, { actionId }) => {
    const body = JSON.stringify({ to: 'lead@example.com', subject: actionId, body: '' });
    const { status } = await fetch(`${gateway.url}/send`, { method: 'POST', body });
    if (status !== 200) throw new Error(`the gateway answered ${status}`);
    return { kind: 'executed', result: { queued: true }, externalId: actionId };
  };
});

/** Positions whose letters the gateway has, in order. */
async function letters(runId: string): Promise<readonly string[]> {
  const subjects = (await gateway.log()).map(({ mail }) => (mail as { subject: string }).subject);
  return subjects.flatMap((s) => (s.startsWith(`${runId}.`) ? [s.slice(runId.length + 1)] : []));
}

/** A plan of letters; the one at `position` is held in front of the gateway. */
async function heldAt(position: string, count: number) {
  const runId = newRunId('forged');
  const actionId = `${runId}.${position}`;
  await gateway.arm({ fault: 'hold', bodyIncludes: actionId });
  const step = { tool: 'post_letter', input: { runId } };
  const steps = Array.from({ length: count }, (_, index) => ({ ...step, input: { runId, index } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  await eventually('it is at the gateway', async () => (await gateway.faults()).held.length === 1);
  return { runId, actionId, handle, target: await targetAt(runId, actionId) };
}

async function targetAt(runId: string, actionId: string): Promise<ActivityTarget> {
  const attemptId = await eventually(`an attempt of ${actionId}`, async () => {
    const pending = await operator.pending(runId);
    return pending.find((each) => each.attemptId.startsWith(`${actionId}~`))?.attemptId;
  });
  return { runId, attemptId };
}

/** A whole reply of performAction; only what it says of the action is made up. */
async function replyWith(runId: string, over: Partial<PerformReply>): Promise<PerformReply> {
  const run = await stage.ledger.read(runId);
  const pin = { ...stage.ledger.identity, head: run.head };
  const nothing = { detail: null, outcome: null, settled: null, retryAfterMs: null };
  return { verdict: 'entered', ...nothing, authority: authorityOf(run), pin, ...over };
}

function executed(actionId: string, over: Partial<Outcome & { kind: 'executed' }> = {}): Outcome {
  const result = { digest: digestOf({ made: 'up' }), bytes: 13 };
  const digest = digestOf('an outcome that never was');
  return { kind: 'executed', actionId, digest, result, externalId: 'L-7', calls: [], ...over };
}

async function endOf(handle: WorkflowHandle): Promise<RunResult> {
  return (await handle.result()) as RunResult;
}

/** The action once it is final, with where each fact about its attempts came from. */
async function finalOf(runId: string, actionId: string) {
  const action = await eventually(`${actionId} is final`, async () => {
    const found = (await stage.ledger.read(runId)).actions.get(actionId);
    return found?.final === null ? null : found;
  });
  const facts = (await factsOf(stage, runId)).map(({ source, body }) => `${source} ${body.kind}`);
  return { kind: action.final?.kind, attempts: action.attempts.length, facts };
}

/** Lets the held letter go, which comes late: the run has ended. */
async function letGo(runId: string, actionId: string): Promise<void> {
  await gateway.release();
  const { kind, attempts, facts } = await finalOf(runId, actionId);
  expect({ kind, attempts }).toEqual({ kind: 'executed', attempts: 1 });
  expect(facts.slice(facts.indexOf('history run_ended'))).toContain('late_result attempt_settled');
  const child = stage.client.workflow.getHandle(unknownIdOf(actionId));
  expect(await child.result()).toMatchObject({ end: 'settled', outcome: 'executed' });
}

test('R-046 R-135 a middle step forged as executed: nothing builds on it', async () => {
  const { runId, actionId, handle, target } = await heldAt('t2.c1', 3);
  const forged = await replyWith(runId, { settled: 'executed', outcome: executed(actionId) });
  await operator.complete(target, forged);
  await inDoubt(stage, runId, 't2.c1');
  await gateway.release();
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'predecessor_mismatch' });
  expect(result).toMatchObject({ effectsCount: 2, unknownsCount: 0 });
  expect(await letters(runId)).toEqual(['t1.c1', 't2.c1']);
});

test('R-046 R-135 the last step forged as executed: an unknown, then a late fact', async () => {
  const { runId, actionId, handle, target } = await heldAt('t2.c1', 2);
  const forged = await replyWith(runId, { settled: 'executed', outcome: executed(actionId) });
  await operator.complete(target, forged);
  const result = await endOf(handle);
  expect(result).toMatchObject({ end: { kind: 'ended_with_unknown' }, effectsCount: 1 });
  expect(result.unknowns).toMatchObject([{ actionId, outcome: 'unknown' }]);
  await letGo(runId, actionId);
  expect(await letters(runId)).toEqual(['t1.c1', 't2.c1']);
});

test('R-046 R-135 a step forged as invalid: the run stops, what is open is asked', async () => {
  const { runId, actionId, handle, target } = await heldAt('t2.c1', 3);
  await operator.complete(target, await replyWith(runId, { verdict: 'invalid_input' }));
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(result.unknowns).toMatchObject([{ actionId, outcome: 'unknown' }]);
  await letGo(runId, actionId);
  expect(await letters(runId)).toEqual(['t1.c1', 't2.c1']);
});

test('R-046 R-135 the last step forged, its reply lost: a person is asked', async () => {
  let lose: () => void = () => undefined;
  const lost = new Promise<void>((resolve) => {
    lose = resolve;
  });
  stage.behave['charge_card'] = async () => {
    await lost;
    throw new Error('connection reset');
  };
  const runId = newRunId('forged');
  const actionId = `${runId}.t1.c1`;
  const steps = [{ tool: 'charge_card', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  await eventually('it is at work', async () => stage.effects.length === 1);
  const forged = await replyWith(runId, { settled: 'executed', outcome: executed(actionId) });
  await operator.complete(await targetAt(runId, actionId), forged);
  const action = await inDoubt(stage, runId, 't1.c1');
  lose();
  expect((await endOf(handle)).end).toEqual({ kind: 'ended_with_unknown' });
  const child = stage.client.workflow.getHandle(unknownIdOf(actionId));
  const yes = { verb: 'confirm_executed', evidence, externalId: 'L-7' };
  await child.signal('resolve', answerTo(action, yes));
  expect(await finalOf(runId, actionId)).toMatchObject({ kind: 'executed_result_missing' });
  expect(stage.effects).toEqual([actionId]);
});

test.each([
  ['closed', { verdict: 'attempt_closed' }],
  ['not sent', { settled: 'not_sent' }],
  ['refused by a full server', { settled: 'not_taken', retryAfterMs: 0 }],
] as const)('R-046 R-135 forged as %s: the gate lets no second one in', async (_, over) => {
  const { runId, actionId, handle, target } = await heldAt('t1.c1', 2);
  await operator.complete(target, await replyWith(runId, over));
  await eventually('the next attempt is refused', async () => {
    const facts = await factsOf(stage, runId);
    return facts.some(
      ({ body }) => body.kind === 'attempt_refused' && body.verdict === 'action_in_doubt',
    );
  });
  await gateway.release();
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(await letters(runId)).toEqual(['t1.c1', 't2.c1']);
  const { attempts } = (await stage.ledger.read(runId)).actions.get(actionId) ?? {};
  expect(attempts?.map(({ attemptId }) => attemptId)).toEqual([target.attemptId]);
});

test('R-046 R-135 forged before it has entered: it never enters', async () => {
  const runId = newRunId('forged');
  const actionId = `${runId}.t1.c1`;
  stage.around.performAction = async (call, next) => {
    if (call.actionId === actionId) {
      const forged = await replyWith(runId, { settled: 'executed', outcome: executed(actionId) });
      await operator.complete({ runId, attemptId: call.attemptId }, forged);
    }
    return next(call);
  };
  const steps = [1, 2].map((n) => ({ tool: 'post_letter', input: { runId, n } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'predecessor_mismatch' });
  expect(result).toMatchObject({ effectsCount: 0, unknownsCount: 0 });
  await eventually('the late delivery is refused', async () => {
    const facts = await factsOf(stage, runId);
    return facts.some(({ body }) => body.kind === 'attempt_refused' && body.actionId === actionId);
  });
  expect(await letters(runId)).toEqual([]);
});

const goal = { kind: 'model', instructions: 'write to the lead' } as const;

/** A run whose model is thinking until it is told to answer. */
async function thinking() {
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let asked = 0;
  stage.turns = async () => {
    asked++;
    await told;
    return { text: 'dear lead', calls: [] };
  };
  const runId = newRunId('forged');
  const handle = await startRun(stage, runId, goal);
  await eventually('the model is asked', async () => asked > 0);
  const target = await targetAt(runId, `${runId}.t1.m`);
  return { runId, handle, target, tell, asked: () => asked };
}

test('R-046 R-135 the last answer of the model forged: it is no answer of the run', async () => {
  const { runId, handle, target, tell, asked } = await thinking();
  const outcome = executed(`${runId}.t1.m`);
  await operator.complete(target, await replyWith(runId, { settled: 'executed', outcome }));
  await inDoubt(stage, runId, 't1.m');
  tell();
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'predecessor_mismatch' });
  expect(result.answer).toBeNull();
  // What the true reply cost is known.
  expect(result.cost).toMatchObject({ atLeast: { requests: 1 }, unknownAttempts: 0 });
  expect(asked()).toBe(1);
});

test('R-046 R-135 tool calls forged into an answer of the model have no effect', async () => {
  const { runId, handle, target, tell, asked } = await thinking();
  // The payload is in the ledger: it is the goal's own.
  const { opened } = await stage.ledger.read(runId);
  const input = opened?.goal ?? { digest: digestOf(goal), bytes: 0 };
  const calls = [{ callId: 'c', tool: 'post_letter', input }];
  const outcome = executed(`${runId}.t1.m`, { calls });
  await operator.complete(target, await replyWith(runId, { settled: 'executed', outcome }));
  await inDoubt(stage, runId, 't1.m');
  tell();
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'predecessor_mismatch' });
  expect(result).toMatchObject({ effectsCount: 0, unknownsCount: 0, answer: null });
  expect([asked(), stage.effects]).toEqual([1, []]);
});

test('R-046 R-135 a forged answer whose true one never comes waits for a person', async () => {
  const { runId, handle, target, tell } = await thinking();
  const outcome = executed(`${runId}.t1.m`);
  await operator.complete(target, await replyWith(runId, { settled: 'executed', outcome }));
  const action = await inDoubt(stage, runId, 't1.m');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, { verb: 'abandon' }));
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'ended_with_unknown' });
  expect(result.answer).toBeNull();
  tell();
});

test('R-046 R-135 a forged end of the run is no end in the ledger', async () => {
  const runId = newRunId('forged');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const replies: EndRunReply[] = [];
  stage.around.endRun = async (call, next) => {
    await released;
    const reply = await next(call);
    replies.push(reply);
    return reply;
  };
  const steps = [{ tool: 'post_letter', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const attemptId = await eventually('its end is under way', async () => {
    const pending = await operator.pending(runId);
    return pending.find(({ type }) => type === 'endRun')?.attemptId;
  });
  const run = await stage.ledger.read(runId);
  const result = runResultOf(run, { end: { kind: 'completed' }, answer: null });
  await operator.complete({ runId, attemptId }, { kind: 'ended', result });
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  release();
  const late = await eventually('the late delivery is answered', async () => replies[0]);
  expect(late).toMatchObject({ kind: 'refused', verdict: 'attempt_not_current' });
  expect((await stage.ledger.read(runId)).ended).toBeNull();
});
