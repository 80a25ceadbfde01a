// What a person can press in the Web UI while an attempt is at work. Would catch: an effect that
// Temporal repeats without an event in history, because the ledger's gate was not asked.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
import { operatorOf } from '../support/operator.ts';
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
const yes = { verb: 'confirm_executed', evidence, externalId: 'L-7' } as const;

/** A run whose only step is at its receiver, which answers when told to. */
async function runAtWork(tool: string) {
  let answer: (how: 'executed' | Error) => void = () => undefined;
  const answered = new Promise<'executed' | Error>((resolve) => {
    answer = resolve;
  });
  stage.behave[tool] = async () => {
    const how = await answered;
    if (how !== 'executed') throw how;
    return { kind: 'executed', result: { ok: true }, externalId: 'L-7' };
  };
  const runId = newRunId('operator');
  const goal = { kind: 'plan', steps: [{ tool, input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const [pending] = await eventually('it is at work', async () => {
    if (stage.effects.length === 0) return null;
    return (await handle.describe()).raw.pendingActivities ?? null;
  });
  const activity = {
    namespace: 'default',
    execution: { workflowId: runId },
    id: pending?.activityId ?? '',
    identity: 'test',
  };
  return {
    runId,
    handle,
    actionId: `${runId}.t1.c1`,
    activity,
    answer: (how: 'executed' | Error) => answer(how),
  };
}

test('R-046 R-135 paused and then failed: nothing is left to unpause', async () => {
  const { runId, handle, actionId, activity, answer } = await runAtWork('post_letter');
  await stage.client.workflowService.pauseActivity(activity);
  answer(new Error('connection reset'));
  const action = await inDoubt(stage, runId, 't1.c1');
  // A failure that Temporal may retry would have been kept for Unpause, limit or no limit.
  const unpause = stage.client.workflowService.unpauseActivity(activity);
  await expect(unpause).rejects.toThrow(/not.?found/i);
  const child = stage.client.workflow.getHandle(unknownIdOf(actionId));
  await child.signal('resolve', answerTo(action, yes));
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([actionId]);
});

test('R-046 R-135 attempts raised to 5, then it fails: one delivery, none to reset', async () => {
  const { runId, handle, actionId, activity, answer } = await runAtWork('post_letter');
  const operator = operatorOf(stage.client);
  const target = { runId, attemptId: activity.id };
  await operator.raiseAttempts(target, 5);
  answer(new Error('connection reset'));
  const action = await inDoubt(stage, runId, 't1.c1');
  for (const press of [operator.resetActivity, operator.unpause])
    await expect(press(target)).rejects.toThrow(/not.?found/i);
  const child = stage.client.workflow.getHandle(unknownIdOf(actionId));
  await child.signal('resolve', answerTo(action, yes));
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([actionId]);
  expect(stage.delivered.filter((type) => type === 'performAction')).toHaveLength(1);
});

test('R-046 R-135 paused on its way to the gate: another attempt does it', async () => {
  const operator = operatorOf(stage.client);
  const attempts: string[] = [];
  stage.around.performAction = async (call, next) => {
    attempts.push(call.attemptId);
    if (attempts.length === 1) await operator.pause(call);
    return next(call);
  };
  const runId = newRunId('operator');
  const actionId = `${runId}.t1.c1`;
  const goal = { kind: 'plan', steps: [{ tool: 'post_letter', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([actionId]);
  const way = (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_refused' || body.kind === 'attempt_entered' ? [body] : [],
  );
  expect(way).toMatchObject([
    { kind: 'attempt_refused', attemptId: attempts[0], verdict: 'attempt_not_current' },
    { kind: 'attempt_entered', attemptId: attempts[1] },
  ]);
  expect(attempts).toHaveLength(2);
});

test('R-135 Pause and fail on calls of the ledger alone: the run makes them again', async () => {
  const operator = operatorOf(stage.client);
  const runId = newRunId('operator');
  const press = async (type: string, button: 'pause' | 'fail') => {
    const pending = await operator.pending(runId);
    const target = {
      runId,
      attemptId: pending.find((each) => each.type === type)?.attemptId ?? '',
    };
    await (button === 'pause' ? operator.pause(target) : operator.fail(target, 'looked stuck'));
  };
  const left = new Set(['openRun', 'recordFacts', 'endRun']);
  for (const type of [...left]) {
    const around = async (call: never, next: (call: never) => never) => {
      if (!left.delete(type)) return next(call);
      if (type === 'openRun') {
        await press(type, 'fail');
        return next(call);
      }
      await press(type, 'pause');
      throw new Error('paused, then failed');
    };
    Object.assign(stage.around, { [type]: around });
  }
  stage.behave['charge_card'] = async () => {
    throw new Error('connection reset');
  };
  const goal = { kind: 'plan', steps: [{ tool: 'charge_card', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, yes));
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect([...left]).toEqual([]);
  expect(stage.effects).toEqual([action.actionId]);
  const facts = (await factsOf(stage, runId)).map(({ body }) => body.kind);
  const once = ['run_opened', 'attempt_entered', 'action_in_doubt', 'resolution', 'run_ended'];
  expect(facts).toEqual(once);
});

test('R-135 a paused call of the ledger without an answer comes again after Unpause', async () => {
  const operator = operatorOf(stage.client);
  const runId = newRunId('operator');
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let calls = 0;
  stage.around.endRun = async (call, next) => {
    calls++;
    if (calls === 1) await released;
    return next(call);
  };
  const goal = { kind: 'plan', steps: [{ tool: 'post_letter', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const attemptId = await eventually('its end is under way', async () => {
    const pending = await operator.pending(runId);
    return calls === 1 && pending.find(({ type }) => type === 'endRun')?.attemptId;
  });
  await operator.pause({ runId, attemptId });
  await operator.unpause({ runId, attemptId });
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  release();
  expect(calls).toBe(2);
  const ends = (await factsOf(stage, runId)).filter(({ body }) => body.kind === 'run_ended');
  expect([ends.length, stage.effects.length]).toEqual([1, 1]);
});

test('R-018 R-046 reset while it runs, the same action is not entered a second time', async () => {
  const { runId, handle, actionId, answer } = await runAtWork('post_letter');
  const { events } = await handle.fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await stage.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: runId, runId: handle.firstExecutionRunId },
    reason: 'test',
    requestId: newRunId('reset'),
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
  const action = await inDoubt(stage, runId, 't1.c1');
  expect(action.actionId).toBe(actionId);
  expect(stage.effects).toEqual([actionId]);

  // The old delivery is still at work, and its result is the action's.
  answer('executed');
  const now = stage.client.workflow.getHandle(runId);
  expect(((await now.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([actionId]);
  const entered = (await factsOf(stage, runId)).filter(({ body }) => {
    return body.kind === 'attempt_entered';
  });
  expect(entered).toHaveLength(1);
});
