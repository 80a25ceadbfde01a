// Stops a run: `revoke` withdraws its permission to act, `cancel` also aborts what is at work. In
// the ledger first: from then on no gate opens under the old revision, and no Reset takes it back.
// Then the signal, so that the run stops scheduling.
//
// INV-1 The signal is sent even when the ledger could not be written; the reply says so.
// INV-2 `recordedFirst` is true only when the ledger has the fact.

import { decideAuthority } from '../core/authority.ts';
import { type StopCommand, stopSchema } from '../core/commands.ts';
import { LedgerError } from '../ledger/port.ts';
import { cancelSignal, revokeSignal } from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { checked } from './goal.ts';
import type { Room } from './room.ts';
import { notFound } from './run-end.ts';
import { executionOf, signaled } from './temporal.ts';

const stops = {
  revoke: { signal: revokeSignal, noun: 'revocation' },
  cancel: { signal: cancelSignal, noun: 'cancellation' },
} as const;

export interface Stop {
  readonly change: keyof typeof stops;
  readonly command: StopCommand;
}

export interface StopReply {
  readonly runId: string;
  /** The ledger has it, written before the signal was sent. */
  readonly recordedFirst: boolean;
  /** What the ledger made of the command; null where it was not written. */
  readonly recorded: 'applied' | 'duplicate' | null;
  /** Why the ledger was not written although there is one. */
  readonly ledgerProblem: string | null;
  /** An open workflow got the signal. */
  readonly signaled: boolean;
}

/** Throws ClientError `bad_input`, `run_not_found`, `refused_by_ledger`. */
export async function stopRun(
  room: Room,
  runId: string,
  { change, command: given }: Stop,
): Promise<StopReply> {
  const { signal, noun } = stops[change];
  const what = `the ${noun} of run ${runId}`;
  const command = checked(stopSchema, given, { code: 'bad_input', what });
  const record = await recordStop(room, runId, { change, command });
  const sent = await signaled(room.temporal, runId, { name: signal.name, argument: command });
  if (!sent && record.recorded === null && record.ledgerProblem === null)
    throw await unsent(room, runId, change);
  return {
    runId,
    recordedFirst: record.recorded !== null,
    recorded: record.recorded,
    ledgerProblem: record.ledgerProblem,
    signaled: sent,
  };
}

type Record = Pick<StopReply, 'recorded' | 'ledgerProblem'>;

async function recordStop(room: Room, runId: string, { change, command }: Stop): Promise<Record> {
  const { ledger, temporal } = room;
  if (ledger === null) return { recorded: null, ledgerProblem: null };
  try {
    const known = (await ledger.read(runId)).head.count > 0;
    // A stop may precede the opening, but a misspelt run id must not begin a chain.
    if (!known && (await executionOf(temporal, runId)).kind === 'none') throw notFound(room, runId);
    const decide = decideAuthority({ verb: change, command });
    const { reply } = await ledger.transact({ runId }, decide);
    if (reply.what !== 'applied' && reply.what !== 'duplicate')
      throw new ClientError(
        'refused_by_ledger',
        `the ${stops[change].noun} ${command.id} of run ${runId} was refused: ${reply.why}`,
      );
    return { recorded: reply.what, ledgerProblem: null };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return { recorded: null, ledgerProblem: error.message };
  }
}

async function unsent(room: Room, runId: string, change: Stop['change']): Promise<ClientError> {
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'none') return notFound(room, runId);
  return new ClientError(
    'ledger_needed',
    `run ${runId} is closed, so no signal reaches it; set HOLDFAST_LEDGER_URL and ` +
      `${change} again, so that it is in the ledger before anyone resumes the run`,
  );
}
