// What Temporal has in the history of a run, for tests that count what was scheduled.

import { Client, Connection } from '@temporalio/client';

/** Activity ids of the attempts of one action that were ever scheduled, in order. */
export async function scheduledAttempts(
  { address, namespace }: { readonly address: string; readonly namespace: string },
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
