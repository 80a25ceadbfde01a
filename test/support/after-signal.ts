// What a run scheduled after the workflow task that handled a stop: the commands of that task stand
// after its end in history, so they count as well.

import type proto from '@temporalio/proto';

type Event = proto.temporal.api.history.v1.IHistoryEvent;

/** `cancel`: a signal of that name, or the server's own request. */
export type StopName = 'revoke' | 'cancel' | 'cancel request';

/** Activity ids of the attempts scheduled since. Throws where the stop was never handled. */
export function scheduledAfter(events: readonly Event[], stop: StopName): readonly string[] {
  const came = events.findIndex((event) => isStop(event, stop));
  const arrived = Number(events[came]?.eventId ?? Number.NaN);
  const handled = events.findIndex(
    ({ workflowTaskCompletedEventAttributes: task }) =>
      task != null && Number(task.startedEventId) > arrived,
  );
  if (came === -1 || handled === -1) throw new Error(`no task has handled a ${stop}`);
  return attemptsIn(events.slice(handled));
}

/** Activity ids of the attempts that these events schedule, in order. */
export function attemptsIn(events: readonly Event[]): readonly string[] {
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled?.activityType?.name === 'performAction' ? [scheduled.activityId ?? ''] : [],
  );
}

function isStop(event: Event, stop: StopName): boolean {
  return stop === 'cancel request'
    ? event.workflowExecutionCancelRequestedEventAttributes != null
    : event.workflowExecutionSignaledEventAttributes?.signalName === stop;
}
