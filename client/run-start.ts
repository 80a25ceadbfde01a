// Starts a run, or attaches to it. The run id decides: one id is one run, for ever.
//
// INV-1 Calling again with the same id and the same start never makes a second run; so a lost reply
//       is answered by calling again.
// INV-2 A closed id is never started here; only `resume` does that, with a ticket.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { RunResult } from '../core/outcome.ts';
import { ClientError } from './errors.ts';
import type { Room } from './room.ts';
import { awaitedEnd, closedEnd, endIn, needsResume, statusText } from './run-end.ts';
import {
  type RunMemo,
  refuseOtherOpening,
  refuseOtherStart,
  type StartOptions,
  type StartRequest,
  startRequest,
} from './start-request.ts';
import { calling, executionOf, type Temporal } from './temporal.ts';

export interface RunHandle {
  readonly runId: string;
  /** `ended`: the run was over already and `result` answers at once. */
  readonly how: 'started' | 'attached' | 'ended';
  /** Waits for the end. Throws ClientError `needs_resume` when there is none. */
  result(): Promise<RunResult>;
}

/** Throws ClientError, e.g. `other_goal`, `needs_resume`. */
export async function startRun(
  room: Room,
  runId: string,
  options: StartOptions,
): Promise<RunHandle> {
  const request = startRequest(runId, options, room.runsQueue);
  const recorded = await fromLedger(room, request);
  if (recorded !== null) return ended(runId, recorded);
  const memo = { ...request.memo, startId: room.newId() };
  try {
    await begin(room.temporal, request, { memo, reuse: 'REJECT_DUPLICATE' });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return ended(runId, await closedStart(room, request));
  }
  return attach(room, request, memo.startId);
}

export function handleOf(room: Room, runId: string, how: 'started' | 'attached'): RunHandle {
  return { runId, how, result: () => awaitedEnd(room, runId) };
}

function ended(runId: string, result: RunResult): RunHandle {
  return { runId, how: 'ended', result: async () => result };
}

/** The end when the ledger has one; throws when it has a run that cannot simply be started. */
async function fromLedger(room: Room, request: StartRequest): Promise<RunResult | null> {
  const run = await room.ledger?.read(request.runId);
  if (run === undefined || run.opened === null) return null;
  refuseOtherOpening(request, run);
  const execution = await executionOf(room.temporal, request.runId);
  if (execution.kind !== 'none') refuseOtherStart(request, execution.description);
  const end = endIn(run);
  if (end !== null || execution.kind === 'open') return end;
  throw needsResume(
    request.runId,
    execution.kind === 'none' ? 'gone from Temporal' : statusText(execution.description),
  );
}

async function closedStart(room: Room, request: StartRequest): Promise<RunResult> {
  const execution = await executionOf(room.temporal, request.runId);
  if (execution.kind !== 'none') refuseOtherStart(request, execution.description);
  return closedEnd(room, request.runId);
}

/** Whoever started it, what runs under this id must be what was asked for. */
async function attach(room: Room, request: StartRequest, startId: string): Promise<RunHandle> {
  const { runId } = request;
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'none') throw startUnknown(runId, 'it was not found right after');
  refuseOtherStart(request, execution.description);
  const mine = execution.description.memo?.['startId'] === startId;
  return handleOf(room, runId, mine ? 'started' : 'attached');
}

export interface Begin {
  readonly memo: RunMemo;
  readonly reuse: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE';
}

/** One start request. A lost reply throws, saying that the same call settles it. */
export async function begin(
  temporal: Temporal,
  { runId, workflowType, args, taskQueue, summary }: StartRequest,
  { memo, reuse }: Begin,
): Promise<void> {
  try {
    await calling(temporal, () =>
      temporal.client.workflow.start(workflowType, {
        workflowId: runId,
        taskQueue,
        args: [...args],
        memo: { ...memo },
        staticSummary: summary,
        workflowIdReusePolicy: reuse,
        workflowIdConflictPolicy: reuse === 'REJECT_DUPLICATE' ? 'USE_EXISTING' : 'FAIL',
      }),
    );
  } catch (error) {
    if (error instanceof ClientError && error.code === 'temporal_unreachable')
      throw startUnknown(runId, error.message, error);
    throw error;
  }
}

function startUnknown(runId: string, why: string, cause?: unknown): ClientError {
  return new ClientError(
    'temporal_unreachable',
    `whether run ${runId} was started is not known: ${why}. ` +
      'Do the same again with the same run id; it cannot start twice',
    { cause },
  );
}
