// What an operator can do to a run from the Web UI or the Temporal CLI, as the calls that these
// make. Nothing of the product is asked.

import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';

const { ResetReapplyExcludeType, ResetReapplyType } = proto.temporal.api.enums.v1;

/** One pending activity, by the attempt id that the product gave it. */
export interface ActivityTarget {
  readonly runId: string;
  readonly attemptId: string;
}

export interface ResetOptions {
  /** Temporal run id of an older execution of the workflow; default: the newest. */
  readonly execution?: string;
  /** The event of the workflow task that the new run begins after: "event id" in the dialog. */
  readonly eventId: number;
  /** "Exclude signals": what was signaled after that event is not applied again. */
  readonly excludeSignals?: boolean;
}

export interface Operator extends ActivityButtons, WorkflowButtons, Looks {}

interface ActivityButtons {
  pause(target: ActivityTarget): Promise<void>;
  unpause(target: ActivityTarget): Promise<void>;
  /** Activity Reset: its attempts begin at 1 again. */
  resetActivity(target: ActivityTarget): Promise<void>;
  /** Update Options. */
  raiseAttempts(target: ActivityTarget, attemptsMax: number): Promise<void>;
  /** `temporal activity complete` with a result of the operator's own. */
  complete(target: ActivityTarget, result: unknown): Promise<void>;
  /** `temporal activity fail`. */
  fail(target: ActivityTarget, message: string): Promise<void>;
}

interface WorkflowButtons {
  /** Workflow Reset. Returns the Temporal run id of the new copy. */
  reset(workflowId: string, options: ResetOptions): Promise<string>;
  /** Request Cancellation. */
  cancel(workflowId: string): Promise<void>;
  terminate(workflowId: string): Promise<void>;
  /** `temporal workflow delete`: terminated and forgotten. */
  remove(workflowId: string): Promise<void>;
  /** The batch buttons, and `--query` of the command line. Returns when the server has begun. */
  batchTerminate(query: string): Promise<void>;
  /** "Start Workflow Like This One": the same input under another id. Returns that id. */
  startLike(workflowId: string, newId: string): Promise<string>;
}

interface Looks {
  /** Attempt ids that are pending now, with the server's word for each. */
  pending(workflowId: string): Promise<readonly PendingAttempt[]>;
  /** Event ids of the completed workflow tasks: where a Reset can go to, oldest first. */
  resetPoints(workflowId: string): Promise<readonly number[]>;
}

export interface PendingAttempt {
  readonly attemptId: string;
  readonly type: string;
  readonly paused: boolean;
  /** Deliveries of this scheduling so far, as the server counts them. */
  readonly deliveries: number;
  /** A worker has it. */
  readonly started: boolean;
  /** When the newest delivery began, by the server's clock; 0: not yet. */
  readonly startedAt: number;
  /** When it was last heard of; 0: not yet. */
  readonly heardAt: number;
}

const IDENTITY = 'operator';
const states = proto.temporal.api.enums.v1.PendingActivityState;
/** "Paused" is one that no worker has; with a worker it is "pause requested". */
const QUEUED: readonly unknown[] = [
  states.PENDING_ACTIVITY_STATE_SCHEDULED,
  states.PENDING_ACTIVITY_STATE_PAUSED,
];

export function operatorOf(client: Client): Operator {
  return { ...activityButtons(client), ...workflowButtons(client), ...looks(client) };
}

function activityButtons(client: Client): ActivityButtons {
  const service = client.workflowService;
  const { namespace } = client.options;
  const at = ({ runId, attemptId }: ActivityTarget) => ({
    namespace,
    execution: { workflowId: runId },
    id: attemptId,
    identity: IDENTITY,
  });
  const byId = ({ runId, attemptId }: ActivityTarget) => ({
    namespace,
    workflowId: runId,
    activityId: attemptId,
    identity: IDENTITY,
  });
  return {
    pause: async (target) => void (await service.pauseActivity(at(target))),
    unpause: async (target) => void (await service.unpauseActivity(at(target))),
    resetActivity: async (target) => void (await service.resetActivity(at(target))),
    async raiseAttempts(target, attemptsMax) {
      await service.updateActivityOptions({
        ...at(target),
        activityOptions: { retryPolicy: { maximumAttempts: attemptsMax } },
        updateMask: { paths: ['retry_policy.maximum_attempts'] },
      });
    },
    async complete(target, result) {
      const payloads = [defaultPayloadConverter.toPayload(result)];
      await service.respondActivityTaskCompletedById({ ...byId(target), result: { payloads } });
    },
    async fail(target, message) {
      const failure = { message, source: 'operator', applicationFailureInfo: { type: 'Operator' } };
      await service.respondActivityTaskFailedById({ ...byId(target), failure });
    },
  };
}

function workflowButtons(client: Client): WorkflowButtons {
  const service = client.workflowService;
  const { namespace } = client.options;
  return {
    async reset(workflowId, { eventId, execution, excludeSignals = false }) {
      const { runId } = await service.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, ...(execution === undefined ? {} : { runId: execution }) },
        reason: IDENTITY,
        requestId: `reset-${workflowId}-${eventId}-${Date.now()}`,
        workflowTaskFinishEventId: eventId as never,
        resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
        resetReapplyExcludeTypes: excludeSignals
          ? [ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL]
          : [],
      });
      return runId;
    },
    cancel: async (workflowId) => void (await client.workflow.getHandle(workflowId).cancel()),
    terminate: async (workflowId) =>
      void (await client.workflow.getHandle(workflowId).terminate(IDENTITY)),
    async remove(workflowId) {
      await service.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId } });
    },
    async batchTerminate(visibilityQuery) {
      await service.startBatchOperation({
        ...{ namespace, visibilityQuery, reason: IDENTITY },
        jobId: `batch-${Date.now()}`,
        terminationOperation: { identity: IDENTITY },
      });
    },
    async startLike(workflowId, newId) {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      const first = events?.[0]?.workflowExecutionStartedEventAttributes;
      await service.startWorkflowExecution({
        namespace,
        workflowId: newId,
        workflowType: first?.workflowType ?? null,
        taskQueue: { name: first?.taskQueue?.name ?? '' },
        input: first?.input ?? null,
        requestId: `like-${newId}`,
        identity: IDENTITY,
      });
      return newId;
    },
  };
}

function looks(client: Client): Looks {
  const service = client.workflowService;
  const { namespace } = client.options;
  return {
    async pending(workflowId) {
      const reply = await service.describeWorkflowExecution({
        namespace,
        execution: { workflowId },
      });
      return reply.pendingActivities.map((pending) => ({
        attemptId: pending.activityId ?? '',
        type: pending.activityType?.name ?? '',
        paused: pending.paused === true,
        deliveries: pending.attempt ?? 0,
        started: !QUEUED.includes(pending.state),
        startedAt: timeOf(pending.lastStartedTime),
        heardAt: timeOf(pending.lastHeartbeatTime),
      }));
    },
    async resetPoints(workflowId) {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      return (events ?? []).flatMap((event) =>
        event.workflowTaskCompletedEventAttributes == null ? [] : [Number(event.eventId)],
      );
    },
  };
}

type Timestamp = proto.google.protobuf.ITimestamp;

function timeOf(time: Timestamp | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}
