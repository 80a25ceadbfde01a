// The barrier's I/O: asks the server until `core/barrier.ts` has a verdict. Uses a client of its
// own, because the worker's client is bound to the activity's cancellation.

import { type Client, isGrpcServiceError } from '@temporalio/client';
import {
  type ActivityState,
  type BarrierAnswer,
  type BarrierVerdict,
  barrierStart,
  barrierStep,
} from '../core/barrier.ts';
import { elapsedMs, type Instant } from '../core/instant.ts';
import { limits } from '../core/limits.ts';
import type { Clock } from './clock.ts';

/** The delivery that asks: whose activity it is. */
export interface BarrierTarget {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  /** The attempt id. */
  readonly activityId: string;
}

/**
 * What the barrier asks; each within `deadlineMs`. A failure to ask is an answer, never a throw.
 */
export interface BarrierServer {
  describe(target: BarrierTarget, deadlineMs: number): Promise<BarrierAnswer>;
  history(target: BarrierTarget, deadlineMs: number): Promise<BarrierAnswer>;
}

export interface BarrierResult {
  readonly verdict: BarrierVerdict;
  /** Start of the last Describe; barrier age and send window are measured from here, once. */
  readonly askedAt: Instant;
}

export interface BarrierDeps {
  readonly server: BarrierServer;
  readonly clock: Clock;
  readonly waitMs: number;
}

export async function passBarrier(
  { server, clock, waitMs }: BarrierDeps,
  target: BarrierTarget,
): Promise<BarrierResult> {
  const beganAt = clock.now();
  let askedAt = beganAt;
  let { state, next } = barrierStart(target.runId);
  for (;;) {
    if (next.kind !== 'ask_describe' && next.kind !== 'ask_history')
      return { verdict: next, askedAt };
    if (next.kind === 'ask_describe' && next.soon) await clock.sleep(limits.barrierPollMs);
    const now = clock.now();
    const left = Math.max(limits.barrierAskMinMs, waitMs - elapsedMs(beganAt, now));
    if (next.kind === 'ask_describe') askedAt = now;
    const answer =
      next.kind === 'ask_describe'
        ? await server.describe(target, left)
        : await server.history(target, left);
    const waitedMs = elapsedMs(beganAt, clock.now());
    ({ state, next } = barrierStep(state, answer, { waitedMs, waitMaxMs: waitMs }));
  }
}

const RUNNING = 1;
const activityStates: Readonly<Record<number, ActivityState>> = {
  1: 'scheduled',
  2: 'started',
  3: 'cancel_requested',
  4: 'paused',
  5: 'pause_requested',
};

/** The real server, by workflow id: the answer is about the *current* run. */
export function temporalBarrier(client: Client): BarrierServer {
  const service = client.workflowService;
  const ask = async (deadlineMs: number, question: () => Promise<BarrierAnswer>) => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, question);
    } catch (error) {
      return answerOfError(error);
    }
  };
  return {
    describe: ({ namespace, workflowId, activityId }, deadlineMs) =>
      ask(deadlineMs, async () => {
        const reply = await service.describeWorkflowExecution({
          namespace,
          execution: { workflowId },
        });
        const ours = reply.pendingActivities.find((pending) => pending.activityId === activityId);
        return {
          kind: 'describe',
          running: reply.workflowExecutionInfo?.status === RUNNING,
          currentRunId: reply.workflowExecutionInfo?.execution?.runId ?? '',
          activity:
            ours === undefined
              ? null
              : {
                  state: activityStates[ours.state ?? 0] ?? 'unspecified',
                  paused: ours.paused === true,
                },
          taskPending: reply.pendingWorkflowTask != null,
          historyLength: Number(reply.workflowExecutionInfo?.historyLength ?? 0),
        };
      }),
    history: ({ namespace, workflowId, runId }, deadlineMs) =>
      ask(deadlineMs, async () => {
        const reply = await service.getWorkflowExecutionHistoryReverse({
          namespace,
          execution: { workflowId, runId },
          maximumPageSize: limits.barrierHistoryPage,
        });
        const completed = (reply.history?.events ?? [])
          .map((event) => event.workflowTaskCompletedEventAttributes?.startedEventId)
          .filter((startedEventId) => startedEventId != null);
        return { kind: 'history', completedStarts: completed.map(Number) };
      }),
  };
}

const NOT_FOUND = 5;

function answerOfError(error: unknown): BarrierAnswer {
  if (isGrpcServiceError(error) && error.code === NOT_FOUND) return { kind: 'gone' };
  return { kind: 'no_answer', why: error instanceof Error ? error.message : String(error) };
}
