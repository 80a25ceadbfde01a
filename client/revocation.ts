// Withdraws a run's permission to act. In the ledger first: from then on no gate opens under the
// old revision, and no Reset takes it back. Then the signal, so that the run stops scheduling.
//
// INV-1 The signal is sent even when the ledger could not be written; the reply says so.
// INV-2 `recordedFirst` is true only when the ledger has the fact.

import { decideAuthority } from '../core/authority.ts';
import { type RevokeCommand, revokeSchema } from '../core/commands.ts';
import { LedgerError } from '../ledger/port.ts';
import { revokeSignal } from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { checked } from './goal.ts';
import type { Room } from './room.ts';
import { notFound } from './run-end.ts';
import { executionOf, signaled } from './temporal.ts';

export interface RevokeReply {
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
export async function revokeRun(
  room: Room,
  runId: string,
  command: RevokeCommand,
): Promise<RevokeReply> {
  const revoke = checked(revokeSchema, command, {
    code: 'bad_input',
    what: `the revocation of run ${runId}`,
  });
  const record = await recordRevoke(room, runId, revoke);
  const sent = await signaled(room.temporal, runId, { name: revokeSignal.name, argument: revoke });
  if (!sent && record.recorded === null && record.ledgerProblem === null)
    throw await unsent(room, runId);
  return {
    runId,
    recordedFirst: record.recorded !== null,
    recorded: record.recorded,
    ledgerProblem: record.ledgerProblem,
    signaled: sent,
  };
}

type Record = Pick<RevokeReply, 'recorded' | 'ledgerProblem'>;

async function recordRevoke(room: Room, runId: string, command: RevokeCommand): Promise<Record> {
  const { ledger, temporal } = room;
  if (ledger === null) return { recorded: null, ledgerProblem: null };
  try {
    const known = (await ledger.read(runId)).head.count > 0;
    // A revocation may precede the opening, but a misspelt run id must not begin a chain.
    if (!known && (await executionOf(temporal, runId)).kind === 'none') throw notFound(room, runId);
    const decide = decideAuthority({ change: 'revoke', command, position: null, ticket: null });
    const { reply } = await ledger.transact({ runId }, decide);
    if (reply.what !== 'applied' && reply.what !== 'duplicate')
      throw new ClientError(
        'refused_by_ledger',
        `the revocation ${command.id} of run ${runId} was refused: ${reply.why}`,
      );
    return { recorded: reply.what, ledgerProblem: null };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return { recorded: null, ledgerProblem: error.message };
  }
}

async function unsent(room: Room, runId: string): Promise<ClientError> {
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'none') return notFound(room, runId);
  return new ClientError(
    'ledger_needed',
    `run ${runId} is closed, so no signal reaches it; set HOLDFAST_LEDGER_URL and ` +
      'revoke again, so that it is in the ledger before anyone resumes the run',
  );
}
