// Commands to paste, as an operator finds them beside what a run waits for. Whatever a person has
// to say is left open, and a command that still says so is refused.

import type { ApprovalCommand, TopUpCommand } from './commands.ts';
import type { Digest } from './digest.ts';

const FILL_IN = 'FILL IN';

/** For `approve` and for `deny`; the same id again is the same decision. */
export function approvalTo(actionId: string, bound: string): ApprovalCommand {
  const id = `approval/${actionId}/${bound.slice(-12)}`;
  return { id, actor: FILL_IN, reason: FILL_IN, actionId, bound: bound as Digest };
}

/** An amount is left to the person: what is pasted unread adds nothing. */
export function topUpTo(runId: string): Omit<TopUpCommand, 'requests'> & { requests: string } {
  return { id: `top-up/${runId}/${FILL_IN}`, actor: FILL_IN, reason: FILL_IN, requests: FILL_IN };
}

/** Of a command that was pasted and not filled in; null: nothing is left open. */
export function unfilledProblem(command: unknown): string | null {
  return JSON.stringify(command).includes(`"${FILL_IN}"`)
    ? `replace every "${FILL_IN}" by your own words`
    : null;
}
