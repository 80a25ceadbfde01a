// Takes over a run whose workflow is closed without an end: a single-use ticket in the ledger, then
// the same id started again with it.
//
// INV-1 Never while the workflow is open: the one that runs is the run.
// INV-2 The ticket is durable before the start; a start without one is refused by `openRun`.
// INV-3 Never by a ledger without the run, where the run was opened in some ledger.

import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { decideTicket, ticketHolds, ticketOf } from '../core/authority.ts';
import { digestOf, type Json } from '../core/digest.ts';
import type { Ledger } from '../ledger/port.ts';
import { AGENT_RUN, TICKET_MEMO } from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { openedIn } from './opened-in.ts';
import type { Room } from './room.ts';
import { notFound } from './run-end.ts';
import { begin, handleOf, type RunHandle } from './run-start.ts';
import {
  refuseBadRunId,
  refuseOtherOpening,
  refuseOtherStart,
  type StartOptions,
  type StartRequest,
  startRequest,
} from './start-request.ts';
import { type Execution, executionOf, startArguments } from './temporal.ts';

export interface ResumeOptions {
  readonly actor: string;
  readonly reason: string;
  /** Command id; give the same again after a lost reply. Left out: a fresh one. */
  readonly id?: string;
  /** What the run was started with; needed only where Temporal has forgotten its history. */
  readonly start?: StartOptions;
}

/** Throws ClientError `still_open`, `already_ended`, `ledger_needed`, `history_gone` …. */
export async function resumeRun(
  room: Room,
  runId: string,
  options: ResumeOptions,
): Promise<RunHandle> {
  refuseBadRunId(runId);
  const ledger = ledgerOf(room, runId);
  const id = options.id ?? `resume/${room.newId()}`;
  const run = await ledger.read(runId);
  if (run.ended !== null)
    throw new ClientError(
      'already_ended',
      `run ${runId} has ended, there is nothing to resume; see: holdfast state ${runId}`,
    );
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'open') {
    if (execution.description.memo?.['resumedBy'] === id) return handleOf(room, runId, 'attached');
    throw stillOpen(runId);
  }
  if (execution.kind === 'none' && run.head.count === 0) throw notFound(room, runId);
  if (run.opened === null) await refuseOtherLedger(room, runId, ledger);
  const request = await earlierStart(room, runId, execution, options.start);
  refuseOtherOpening(request, run);
  const ticket = await ticketFor(ledger, runId, { ...options, id });
  await startWith(room, request, { id, ticket });
  return handleOf(room, runId, 'started');
}

function ledgerOf({ ledger }: Room, runId: string): Ledger {
  if (ledger !== null) return ledger;
  throw new ClientError(
    'ledger_needed',
    `run ${runId} can be resumed only with access to its ledger; set HOLDFAST_LEDGER_URL`,
  );
}

/** INV-3 */
async function refuseOtherLedger(room: Room, runId: string, ledger: Ledger): Promise<void> {
  const opened = await openedIn(room.temporal, runId);
  if (opened === null) return;
  throw new ClientError(
    'refused_by_ledger',
    `run ${runId} was opened in ledger ${opened}, and the one here (${ledger.identity.id}, ` +
      `incarnation ${ledger.identity.incarnation}) has no record of it: everything would be done ` +
      'again; set HOLDFAST_LEDGER_URL to the ledger that knows it, or start another run id',
  );
}

function stillOpen(runId: string): ClientError {
  return new ClientError(
    'still_open',
    `run ${runId} is open in Temporal and needs no takeover; attach to it with holdfast run, or ` +
      'terminate the workflow first if nothing works on it',
  );
}

async function ticketFor(
  ledger: Ledger,
  runId: string,
  command: { readonly id: string; readonly actor: string; readonly reason: string },
): Promise<string> {
  const { id, actor, reason } = command;
  // Made from the command id, so that a repeated command finds its own ticket again.
  const ticket = ticketOf(runId, id);
  const { reply, run } = await ledger.transact(
    { runId },
    decideTicket({ id, actor, reason }, ticket),
  );
  if (reply.what !== 'rejected' && ticketHolds(run, ticket)) return ticket;
  throw new ClientError(
    'refused_by_ledger',
    `the takeover ${id} of run ${runId} was refused: ` +
      (reply.why ??
        'its ticket is used up, or of an earlier claim; resume with another command id'),
  );
}

/** The start that made the closed run, from its history; or as the caller gives it again. */
async function earlierStart(
  room: Room,
  runId: string,
  execution: Execution,
  given: StartOptions | undefined,
): Promise<StartRequest> {
  if (given !== undefined) {
    const request = startRequest(runId, given, room.runsQueue);
    if (execution.kind !== 'none') refuseOtherStart(request, execution.description);
    return request;
  }
  const args = execution.kind === 'none' ? null : await startArguments(room.temporal, runId);
  if (execution.kind === 'none' || args === null)
    throw new ClientError(
      'history_gone',
      `Temporal no longer has the start of run ${runId}; give its goal and principal again`,
    );
  const { type, taskQueue, memo } = execution.description;
  const digest = digestOf({ workflow: type, args });
  const earlier = memo ?? {};
  return {
    runId,
    workflowType: type,
    args: args as readonly Json[],
    taskQueue,
    memo: {
      goalDigest: (earlier['goalDigest'] ?? digest) as typeof digest,
      startDigest: (earlier['startDigest'] ?? digest) as typeof digest,
    },
    summary: (await execution.description.staticSummary()) ?? type,
    pinned: null,
  };
}

async function startWith(
  room: Room,
  request: StartRequest,
  { id, ticket }: { readonly id: string; readonly ticket: string },
): Promise<void> {
  const { args } = request;
  const ours = request.workflowType === AGENT_RUN;
  const withTicket = ours ? [{ ...(args[0] as { [key: string]: Json }), ticket }] : args;
  const memo = { ...request.memo, startId: room.newId(), resumedBy: id, [TICKET_MEMO]: ticket };
  try {
    await begin(
      room.temporal,
      { ...request, args: withTicket },
      { memo, reuse: 'ALLOW_DUPLICATE' },
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) throw stillOpen(request.runId);
    throw error;
  }
}
