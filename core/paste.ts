// Commands to paste, as an operator finds them beside what a run waits for. Whatever a person has
// to say is left open, and a command that still says so is refused.

import type { Added } from './budget-limits.ts';
import type { ApprovalCommand, ResolveCommand, TopUpCommand } from './commands.ts';
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

/** For an action that waits because of `twin`; the same id again is the same answer. */
export function distinctTo(actionId: string, twin: string, recordVersion: number): ResolveCommand {
  const id = `distinct/${actionId}/${recordVersion}`;
  const open = { id, actor: FILL_IN, reason: FILL_IN };
  return { ...open, actionId, recordVersion, verb: 'confirm_distinct', distinctFrom: twin };
}

type OpenTopUp = Omit<TopUpCommand, keyof Added> & { readonly [L in keyof Added]?: string };

/**
 * An amount is left to the person: what is pasted unread adds nothing. `why`: as the budget says
 * what does not fit, so that what is pasted adds to that limit and not to one the run has not.
 */
export function topUpTo(runId: string, why: string): OpenTopUp {
  const limit = limitIn(why);
  const open = { actor: FILL_IN, reason: FILL_IN };
  return { id: `top-up/${runId}/${FILL_IN}`, ...open, [limit]: FILL_IN };
}

/** In the words of `budgetProblem`; the name of the action before them may hold anything. */
const limitsIn: readonly (readonly [RegExp, keyof Added])[] = [
  [/(?:^|: )tokens: [^:]*$/, 'tokens'],
  [/(?:^|: )money: [^:]*$/, 'micros'],
  [/(?:^|: )the run is open for [^:]*$/, 'wallTimeMs'],
];

function limitIn(why: string): keyof Added {
  return limitsIn.find(([words]) => words.test(why))?.[1] ?? 'requests';
}

/**
 * Of a command that was pasted and not filled in; null: nothing is left open. An id that is left
 * open would make the next command of its kind a duplicate.
 */
export function unfilledProblem(command: { readonly id: string }): string | null {
  const isOpen = command.id.endsWith(FILL_IN) || JSON.stringify(command).includes(`"${FILL_IN}"`);
  return isOpen ? `replace every "${FILL_IN}" by your own words` : null;
}
