// Workers that somebody composed without the interceptor. Would catch: a failed attempt that the
// server keeps for Unpause, because what it failed with may be retried.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { operatorOf } from '../support/operator.ts';
import {
  answerTo,
  eventually,
  evidence,
  inDoubt,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage({ interceptor: 'forgotten' });

test('R-046 without the interceptor an attempt that fails while paused is over', async () => {
  let fail: () => void = () => undefined;
  const failing = new Promise<void>((resolve) => {
    fail = resolve;
  });
  stage.behave['post_letter'] = async () => {
    await failing;
    throw new Error('connection reset');
  };
  const runId = newRunId('forgotten');
  const steps = [{ tool: 'post_letter', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const operator = operatorOf(stage.client);
  const attempt = await eventually('it is at work', async () => {
    if (stage.effects.length === 0) return null;
    return (await operator.pending(runId))[0];
  });
  await operator.pause({ runId, attemptId: attempt?.attemptId ?? '' });
  fail();
  // A failure that may be retried is kept, and no worker has the attempt any more.
  const kept = await eventually('it has failed', async () => {
    const [still] = await operator.pending(runId);
    if (still?.attemptId !== attempt?.attemptId) return 'over';
    return still?.started === false ? 'kept for Unpause' : null;
  });
  expect(kept).toBe('over');
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, { verb: 'confirm_executed', evidence }));
  expect(await handle.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(stage.effects).toEqual([action.actionId]);
});
