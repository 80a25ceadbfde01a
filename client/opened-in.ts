// Which ledger a closed run was opened in, as its history has it: a ledger without the run may be
// the wrong one, and a takeover there would do everything again.

import { WorkflowNotFoundError } from '@temporalio/client';
import * as codec from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import type { OpenRunReply } from '../core/activity-calls.ts';
import { calling, type Temporal } from './temporal.ts';

/** The ledger's id; null where the run was closed before it opened, or its history is gone. */
export async function openedIn(temporal: Temporal, runId: string): Promise<string | null> {
  const { client } = temporal;
  const events = await eventsOf(temporal, runId);
  const opening = new Set<string>();
  for (const { eventId, ...event } of events) {
    const { activityType } = event.activityTaskScheduledEventAttributes ?? {};
    if (activityType?.name === 'openRun') opening.add(String(eventId));
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed == null || !opening.has(String(completed.scheduledEventId))) continue;
    const payloads = completed.result?.payloads ?? [];
    const [reply] = await codec.decodeArrayFromPayloads(
      client.options.loadedDataConverter,
      payloads,
    );
    const { pin } = (reply ?? {}) as Partial<Extract<OpenRunReply, { kind: 'open' }>>;
    if (pin !== undefined) return pin.id;
  }
  return null;
}

async function eventsOf(temporal: Temporal, runId: string) {
  try {
    const handle = temporal.client.workflow.getHandle(runId);
    return (await calling(temporal, () => handle.fetchHistory())).events ?? [];
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}
