// What an open run says of itself, if a worker answers in time.

import {
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { type RunStateAnswer, stateQuery } from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import type { Room } from './room.ts';
import { calling } from './temporal.ts';

/** A worker with the run in its cache answers in milliseconds; without one we wait this long. */
const QUERY_DEADLINE_MS = 3_000;

/** Null: no worker, a worker too busy, a run that is not open. */
export async function liveState(
  { temporal }: Pick<Room, 'temporal'>,
  runId: string,
): Promise<RunStateAnswer | null> {
  const handle = temporal.client.workflow.getHandle(runId);
  try {
    return await calling(temporal, () => handle.query(stateQuery), QUERY_DEADLINE_MS);
  } catch (error) {
    if (isNoAnswer(error)) return null;
    throw error;
  }
}

function isNoAnswer(error: unknown): boolean {
  if (error instanceof ClientError)
    return error.code === 'temporal_unreachable' || error.code === 'temporal_refused';
  return [WorkflowNotFoundError, QueryRejectedError, QueryNotRegisteredError].some(
    (kind) => error instanceof kind,
  );
}
