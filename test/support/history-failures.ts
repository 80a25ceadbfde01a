// What the activities of a run failed with, as Temporal has it.

import { type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';

export interface ActivityFailed {
  /** Activity id. */
  readonly id: string;
  readonly type: string;
  readonly message: string;
  readonly details: readonly unknown[];
}

export async function failedActivities(
  client: Client,
  runId: string,
): Promise<readonly ActivityFailed[]> {
  const { events } = await client.workflow.getHandle(runId).fetchHistory();
  const ids = new Map(
    (events ?? []).map((event) => [
      String(event.eventId),
      event.activityTaskScheduledEventAttributes?.activityId ?? '',
    ]),
  );
  return (events ?? []).flatMap(({ activityTaskFailedEventAttributes: failed }) => {
    if (failed === null || failed === undefined) return [];
    const { message, applicationFailureInfo: info } = failed.failure ?? {};
    const payloads = info?.details?.payloads ?? [];
    return [
      {
        id: ids.get(String(failed.scheduledEventId)) ?? '',
        type: info?.type ?? '',
        message: message ?? '',
        details: payloads.map((payload) => defaultPayloadConverter.fromPayload(payload)),
      },
    ];
  });
}
