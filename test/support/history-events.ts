// What Temporal has in the history of a run, for tests that count what was scheduled.

import { Client, Connection } from '@temporalio/client';
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
