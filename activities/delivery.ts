// What this delivery of an activity is, from Temporal's context: read once, at the start.

import { Context } from '@temporalio/activity';
import { limits } from '../core/limits.ts';
import type { BarrierTarget } from './barrier.ts';
import type { Clock } from './clock.ts';

export interface Delivery {
  readonly target: BarrierTarget;
  readonly heartbeat: (details: unknown) => void;
  readonly heartbeatMs: number;
  /** Monotonic ms at which start-to-close has passed: from then on the run hears of no failure. */
  readonly closesAt: number;
}

/** Throws when the call is not about this activity: then it was not made by our workflow. */
export function deliveryOf(
  clock: Clock,
  expected: { readonly runId: string; readonly attemptId: string | null },
): Delivery {
  const context = Context.current();
  const { info } = context;
  const { runId, attemptId } = expected;
  const workflow = info.workflowExecution;
  if (workflow === undefined)
    throw new Error(`${info.activityType}: not scheduled by a workflow; call it from one`);
  if (workflow.workflowId !== runId)
    throw new Error(`run "${runId}" is called from workflow "${workflow.workflowId}"; use its id`);
  if (attemptId !== null && info.activityId !== attemptId)
    throw new Error(`attempt "${attemptId}" runs as activity "${info.activityId}"; use one id`);
  const target = {
    namespace: info.namespace,
    workflowId: workflow.workflowId,
    runId: workflow.runId,
    activityId: info.activityId,
  };
  return {
    target,
    heartbeat: (details) => context.heartbeat(details),
    heartbeatMs: (info.heartbeatTimeoutMs ?? limits.heartbeatTimeoutMs) / limits.beatsPerTimeout,
    closesAt: clock.now().monotonicMs + info.startToCloseTimeoutMs,
  };
}
