// Commands to paste, as an operator finds them beside what a run waits for. Whatever a person has
// to say is left open, and a command that still says so is refused.

import type { ApprovalCommand, TopUpCommand } from './commands.ts';
import type { Digest } from './digest.ts';

const FILL_IN = 'FILL IN';

/**
 * For `approve` and for `deny`; the same id again is the same decision. `earlier`: decisions on
 * just this that have expired, so that the next one is another.
 */
export function approvalTo(actionId: string, bound: string, earlier = 0): ApprovalCommand {
  const again = earlier === 0 ? '' : `/${earlier + 1}`;
  const id = `approval/${actionId}/${bound.slice(-12)}${again}`;
  return { id, actor: FILL_IN, reason: FILL_IN, actionId, bound: bound as Digest };
}

/** An amount is left to the person: what is pasted unread adds nothing. */
export function topUpTo(runId: string): Omit<TopUpCommand, 'requests'> & { requests: string } {
  return { id: `top-up/${runId}/${FILL_IN}`, actor: FILL_IN, reason: FILL_IN, requests: FILL_IN };
}

/**
 * Of a command that was pasted and not filled in; null: nothing is left open. An id that is left
 * open would make the next command of its kind a duplicate.
 */
export function unfilledProblem(command: { readonly id: string }): string | null {
  const isOpen = command.id.endsWith(FILL_IN) || JSON.stringify(command).includes(`"${FILL_IN}"`);
  return isOpen ? `replace every "${FILL_IN}" by your own words` : null;
}
