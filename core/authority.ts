// Changes of what a run may do. `revoke` and `cancel` stop; a takeover ticket lets `openRun` raise
// the epoch once. All of them may come before the run has opened.

import type { AuthorityHead } from './activity-calls.ts';
import type { StopCommand } from './commands.ts';
import type { Decision, LedgerView } from './decision.ts';
import type { BodyOf } from './facts.ts';
import type { CommandReply } from './resolve.ts';
import type { RunState } from './run-state.ts';

export function authorityOf(run: RunState): AuthorityHead {
  const { revisions, revoked, canceled } = run;
  return { epoch: run.opened?.epoch ?? 0, revisions, revoked, canceled };
}

/** Names its run, so that a ledger that lacks both tells that it is the wrong one. */
export function ticketOf(runId: string, commandId: string): string {
  return `ticket/${runId}/${commandId}`;
}

/** a ticket is single-use, and takes over from the epoch it was written under, no later. */
export function ticketHolds(run: RunState, ticket: string | null): ticket is string {
  return ticket !== null && run.tickets.get(ticket) === (run.opened?.epoch ?? 0);
}

interface AuthorityAsk {
  readonly change: 'revoke' | 'cancel' | 'permit';
  readonly command: StopCommand;
  readonly position: string | null;
  /** `permit`: the takeover ticket. */
  readonly ticket: string | null;
}

export function decideAuthority(ask: AuthorityAsk): (view: LedgerView) => Decision<CommandReply> {
  return ({ run }) => {
    const { change, command, position, ticket } = ask;
    if (run.commandIds.has(command.id))
      return { reply: { what: 'duplicate', why: null }, facts: [] };
    const auth = run.revisions.auth + (change === 'revoke' ? 1 : 0);
    const body: BodyOf<'authority_changed'> = {
      kind: 'authority_changed',
      change,
      commandId: command.id,
      actor: command.actor,
      reason: command.reason,
      position,
      revisions: { goal: run.revisions.goal, auth },
      ticket,
    };
    return { reply: { what: 'applied', why: null }, facts: [{ source: 'human', body }] };
  };
}
