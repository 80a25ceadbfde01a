// A command as an update: the caller waits for the answer of the workflow itself.

import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { digestOf } from '../core/digest.ts';
import type { CommandAnswer } from '../workflows/messages.ts';
import { ClientError, errorText } from './errors.ts';
import { calling, type Temporal } from './temporal.ts';
import { grpcOf } from './temporal-errors.ts';

/** Of a worker that is there; more means that none is. */
const UPDATE_DEADLINE_MS = 20_000;

export interface UpdateAsk {
  readonly workflowId: string;
  readonly update: UpdateDefinition<CommandAnswer, [unknown]>;
  readonly command: object;
  /** Who did not answer, and what to do then. */
  readonly who: string;
  readonly advice: string;
}

/** Null: no open workflow has this id. Throws ClientError `not_answered`. */
export async function updated(
  temporal: Temporal,
  { workflowId, update, command, who, advice }: UpdateAsk,
): Promise<CommandAnswer | null> {
  const handle = temporal.client.workflow.getHandle(workflowId);
  // By content: a corrected command keeps its command id, and is another update.
  const updateId = digestOf(command);
  try {
    return await calling(
      temporal,
      () => handle.executeUpdate(update, { args: [command], updateId }),
      UPDATE_DEADLINE_MS,
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    // What the workflow can tell by itself it refuses before anything is recorded.
    if (error instanceof WorkflowUpdateFailedError)
      return { what: 'rejected', why: errorText(error.cause) };
    const timedOut =
      error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      (error instanceof ClientError && grpcOf(error.cause)?.code === 4);
    if (!timedOut) throw error;
    const within = `did not answer within ${UPDATE_DEADLINE_MS / 1000} s`;
    throw new ClientError('not_answered', `${who} ${within}; ${advice}`, { cause: error });
  }
}
