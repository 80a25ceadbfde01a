// What Temporal has in the history of a run, for tests that count what was scheduled.

import { Client, Connection } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';

const SCHEDULED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;

interface Place {
  readonly address: string;
  readonly namespace: string;
}

/** Activity ids of the attempts of one action that were ever scheduled, in order. */
export async function scheduledAttempts(
  { address, namespace }: Place,
  runId: string,
  actionId: string,
): Promise<readonly string[]> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const { events } = await client.workflow.getHandle(runId).fetchHistory();
    return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
      const id = scheduled?.activityId ?? '';
      return id.startsWith(`${actionId}~`) ? [id] : [];
    });
  } finally {
    await connection.close();
  }
}

/** Attempts of one action that no worker has taken yet; not what the run itself has queued. */
export async function queuedAttempts(
  place: Place,
  runId: string,
  actionId: string,
): Promise<readonly string[]> {
  const connection = await Connection.connect({ address: place.address });
  try {
    const { pendingActivities } = await connection.workflowService.describeWorkflowExecution({
      namespace: place.namespace,
      execution: { workflowId: runId },
    });
    return (pendingActivities ?? []).flatMap(({ activityId, state }) =>
      state === SCHEDULED && activityId?.startsWith(`${actionId}~`) === true ? [activityId] : [],
    );
  } finally {
    await connection.close();
  }
}

type Event = NonNullable<History['events']>[number];

/**
 * How often a wait came to its natural end although the run had handled the answer by then. What
 * fires while the answer is being recorded is nobody's fault, and is not counted.
 */
export function waitsAfterAnswer({ events }: History, commandId: string, timer: string): number {
  const all = events ?? [];
  const by = new Map(all.map((event) => [String(event.eventId), event]));
  const recorded = all.findIndex(({ activityTaskCompletedEventAttributes: completed }) => {
    const scheduled = completed == null ? undefined : by.get(String(completed.scheduledEventId));
    return summaryOf(scheduled).includes(`record the answer ${commandId}`);
  });
  const handled = all.findIndex(
    (event, index) => index > recorded && event.workflowTaskStartedEventAttributes != null,
  );
  if (recorded === -1 || handled === -1) throw new Error(`${commandId} was not recorded`);
  return all.slice(handled).filter(({ timerFiredEventAttributes: fired }) => {
    return fired != null && summaryOf(by.get(String(fired.startedEventId))) === timer;
  }).length;
}

function summaryOf(event: Event | undefined): string {
  const data = event?.userMetadata?.summary?.data;
  return data == null ? '' : (JSON.parse(Buffer.from(data).toString('utf8')) as string);
}
