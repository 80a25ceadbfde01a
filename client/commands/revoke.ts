// holdfast revoke: withdraws a run's permission to act.

import { randomUUID } from 'node:crypto';
import type { CommandContext, CommandOutput } from './command.ts';

export interface RevokeFlags {
  readonly actor: string;
  readonly reason: string;
  readonly id?: string;
}

export async function revoke(
  { client }: CommandContext,
  runId: string,
  { actor, reason, id }: RevokeFlags,
): Promise<CommandOutput> {
  const command = { id: id ?? `revoke/${randomUUID()}`, actor, reason };
  const reply = await client.revoke(runId, command);
  const record = reply.recordedFirst
    ? `in the ledger (${reply.recorded}) before the signal`
    : 'as a signal only, not in the ledger first: ' +
      (reply.ledgerProblem ?? 'this client has no access to it (HOLDFAST_LEDGER_URL)');
  return {
    json: { ...reply, commandId: command.id },
    lines: [
      `run ${runId} is revoked, ${record}`,
      reply.signaled
        ? 'the run has the signal; what is in flight is awaited, nothing new begins'
        : 'its workflow is not open: nothing was running; if it is ever resumed, it is revoked',
    ],
    exit: reply.ledgerProblem === null ? 'ok' : 'ledger',
  };
}
