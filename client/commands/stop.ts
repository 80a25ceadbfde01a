// holdfast revoke: withdraws a run's permission to act. holdfast cancel: also aborts what it is at.

import { randomUUID } from 'node:crypto';
import type { CommandContext, CommandOutput } from './command.ts';

export interface StopFlags {
  readonly actor: string;
  readonly reason: string;
  readonly id?: string;
}

const words = {
  revoke: { done: 'revoked', next: 'what is in flight is awaited, nothing new begins' },
  cancel: { done: 'canceled', next: 'what is at work is told to stop, nothing new begins' },
} as const;

export const revoke = stopping('revoke');
export const cancel = stopping('cancel');

function stopping(change: keyof typeof words) {
  const { done, next } = words[change];
  return async (
    { client }: CommandContext,
    runId: string,
    { actor, reason, id }: StopFlags,
  ): Promise<CommandOutput> => {
    const command = { id: id ?? `${change}/${randomUUID()}`, actor, reason };
    const reply = await client[change](runId, command);
    const record = reply.recordedFirst
      ? `in the ledger (${reply.recorded}) before the signal`
      : 'as a signal only, not in the ledger first: ' +
        (reply.ledgerProblem ?? 'this client has no access to it (HOLDFAST_LEDGER_URL)');
    return {
      json: { ...reply, commandId: command.id },
      lines: [
        `run ${runId} is ${done}, ${record}`,
        reply.signaled
          ? `the run has the signal; ${next}`
          : 'its workflow is not open, so nothing new begins; an attempt may still be at work; ' +
            `if the run is ever resumed, it is ${done}`,
      ],
      exit: reply.ledgerProblem === null ? 'ok' : 'ledger',
    };
  };
}
