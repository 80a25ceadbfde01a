// How a run ended. Only the fact `run_ended` ends a run: with access to the ledger that is what is
// read; without it, the workflow's own result is taken. A closed workflow without either is no end.

import {
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { canonicalJson } from '../core/digest.ts';
import { type RunResult, runResultSchema } from '../core/outcome.ts';
import { runResultOf } from '../core/run-result.ts';
import type { RunState } from '../core/run-state.ts';
import { AGENT_RUN } from '../workflows/messages.ts';
import { ClientError, errorText } from './errors.ts';
import type { Room } from './room.ts';
import { executionOf } from './temporal.ts';
import { onServer } from './temporal-errors.ts';

/** Null while the ledger has no end of the run, or where there is no ledger. */
export async function recordedEnd({ ledger }: Room, runId: string): Promise<RunResult | null> {
  if (ledger === null) return null;
  return endIn(await ledger.read(runId));
}

export function endIn(run: RunState): RunResult | null {
  return run.ended === null ? null : runResultOf(run, run.ended);
}

/** Waits for the end. Throws ClientError `needs_resume`, `run_refused`, `run_not_found`. */
export async function awaitedEnd(room: Room, runId: string): Promise<RunResult> {
  const recorded = await recordedEnd(room, runId);
  if (recorded !== null) return recorded;
  const closed = await closing(room, runId);
  const end = (await recordedEnd(room, runId)) ?? endFrom(room, closed);
  if (end !== null) return end;
  throw await noEnd(room, runId, closed);
}

/** The end of a run whose workflow is known to be closed; waits for nothing that is open. */
export async function closedEnd(room: Room, runId: string): Promise<RunResult> {
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'open')
    throw new ClientError('still_open', `run ${runId} is open again; start it once more`);
  return awaitedEnd(room, runId);
}

type Closing =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'none' };

async function closing({ temporal }: Room, runId: string): Promise<Closing> {
  const handle = temporal.client.workflow.getHandle(runId);
  try {
    return { kind: 'returned', value: await onServer(temporal.server, () => handle.result()) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'none' };
    if (error instanceof WorkflowFailedError) return { kind: 'failed', cause: error.cause };
    throw error;
  }
}

/** Without a ledger the workflow's result is all there is; with one it proves nothing. */
function endFrom({ ledger }: Room, closed: Closing): RunResult | null {
  if (ledger !== null || closed.kind !== 'returned') return null;
  return runResultSchema.safeParse(closed.value).data ?? null;
}

async function noEnd(room: Room, runId: string, closed: Closing): Promise<ClientError> {
  const run = (await room.ledger?.read(runId)) ?? null;
  if (closed.kind === 'none' && (run === null || run.head.count === 0))
    return notFound(room, runId);
  if (closed.kind === 'failed' && isRefusal(closed.cause))
    return new ClientError('run_refused', `run ${runId} was refused: ${errorText(closed.cause)}`, {
      cause: closed.cause,
    });
  const { kind, description } = await descriptionOf(room, runId);
  const type = description?.type;
  if (closed.kind === 'returned' && room.ledger === null && type !== AGENT_RUN)
    return new ClientError(
      'result_not_readable',
      `run ${runId} is closed and returned a value of its own workflow "${type}"; ` +
        "how it ended is in the ledger: set HOLDFAST_LEDGER_URL, or read the workflow's value " +
        `with the Temporal client (${canonicalJson({ workflowId: runId })})`,
    );
  return needsResume(runId, kind === 'none' ? 'gone from Temporal' : statusText(description));
}

/** By which a run refuses to begin; the others leave something to take over. */
export const refusalTypes = [
  'HoldfastInvalidInput',
  'HoldfastOtherGoal',
  'HoldfastUnknownTool',
  'HoldfastLedgerMismatch',
] as const;

function isRefusal(cause: unknown): boolean {
  if (typeof cause !== 'object' || cause === null) return false;
  return refusalTypes.some((type) => (cause as { type?: unknown }).type === type);
}

async function descriptionOf(
  { temporal }: Room,
  runId: string,
): Promise<{ kind: string; description: WorkflowExecutionDescription | null }> {
  const execution = await executionOf(temporal, runId);
  return {
    kind: execution.kind,
    description: execution.kind === 'none' ? null : execution.description,
  };
}

export function statusText(description: WorkflowExecutionDescription | null): string {
  const name = description?.status.name ?? 'gone from Temporal';
  return name === 'CANCELLED' ? 'canceled' : name.toLowerCase().replaceAll('_', ' ');
}

export function needsResume(runId: string, how: string): ClientError {
  return new ClientError(
    'needs_resume',
    `run ${runId} is closed (${how}) and has no recorded end, so what it left open is not ` +
      `settled; take it over with: holdfast resume ${runId}`,
  );
}

export function notFound({ temporal, ledger }: Room, runId: string): ClientError {
  const { address, namespace } = temporal.server;
  const where = `namespace ${namespace} at ${address}${ledger === null ? '' : ' and the ledger'}`;
  return new ClientError('run_not_found', `there is no run ${runId} in ${where}; check the run id`);
}
