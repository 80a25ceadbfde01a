// The only place that calls `proxyActivities`. Every activity is tried once per scheduling: a
// server-side retry would run again what the workflow, which knows the declared policy, has not
// decided on.

import {
  ActivityCancellationType,
  type ActivityOptions,
  proxyActivities,
} from '@temporalio/workflow';
import type { HoldfastActivities, PerformCall, PerformReply } from '../core/activity-calls.ts';
import { limits } from '../core/limits.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import type { ActivityQueues } from './queues.ts';

/**
 * Checked by the server before "paused", so that Unpause cannot run a lost attempt again. Types the
 * SDK itself makes, then those that a forgotten interceptor would let through.
 */
export const nonRetryableErrorTypes = [
  'TemporalTimeout:StartToClose',
  'TemporalTimeout:Heartbeat',
  'ActivityPause',
  'ActivityReset',
  'WorkerShutdown',
  'PayloadsTooLarge',
  'NotFoundError',
  'ValueError',
  'CancelledFailure',
  'AttemptError',
  'BarrierError',
  'LedgerError',
  'OtherLedgerError',
  'NotCanonicalError',
  'Error',
  'TypeError',
];

const once = {
  retry: { maximumAttempts: 1, nonRetryableErrorTypes },
  // An eagerly dispatched attempt starts before its scheduling is durable.
  allowEagerDispatch: false,
  // The others report "canceled" while the attempt runs on, and drop its late result.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const satisfies ActivityOptions;

/** Rejects with what Temporal made of a failed attempt; `attempt-failure.ts` reads it. */
export function performAction(
  call: PerformCall,
  policy: ToolPolicy,
  queues: ActivityQueues,
): Promise<PerformReply> {
  const { performAction: perform } = proxyActivities<HoldfastActivities>({
    ...once,
    activityId: call.attemptId,
    taskQueue: policy.taskQueue ?? queues.actions,
    startToCloseTimeout: policy.startToCloseMs,
    scheduleToStartTimeout: policy.scheduleToStartMs,
    heartbeatTimeout: policy.heartbeatTimeoutMs,
    summary: summaryOf(`${policy.binding.tool} ${call.position}`),
  });
  return perform(call);
}

type Infrastructure = Omit<HoldfastActivities, 'performAction'>;

/** Without effects outside; still tried once, `infra.ts` repeats them with a backoff of its own. */
export function infrastructure(
  name: keyof Infrastructure,
  what: string,
  queues: ActivityQueues,
): Infrastructure {
  return proxyActivities<Infrastructure>({
    ...once,
    taskQueue: name === 'inquire' ? queues.inquiries : queues.actions,
    startToCloseTimeout: limits.infraStartToCloseMs,
    heartbeatTimeout: limits.infraHeartbeatTimeoutMs,
    summary: summaryOf(what),
  });
}

/** The server takes 200 bytes; action ids may be longer. */
function summaryOf(text: string): string {
  const bytesMax = 200;
  let kept = text;
  while (new TextEncoder().encode(kept).length > bytesMax) kept = kept.slice(0, -1);
  return kept;
}
