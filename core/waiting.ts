// What of a run waits for a person besides its questions: approvals, a budget that is used up, and
// wishes that look like another one that is in doubt.

import { undecidedAttempts } from './action-status.ts';
import { pendingAsk } from './approval.ts';
import type { ActionState, RunState } from './run-state.ts';

export interface WaitingForPeople {
  readonly approvals: readonly ActionState[];
  readonly exhausted: readonly { readonly actionId: string; readonly why: string }[];
  readonly twins: readonly Twin[];
}

/** What has to be settled first, and the record of the action itself that an answer is based on. */
export interface Waits {
  readonly actionId: string;
  readonly recordVersion: number;
}

export interface Twin {
  readonly action: ActionState;
  /** The action in doubt that it looks like: of this run, or of another one. */
  readonly twin: string;
}

/** Nothing waits in a run that is over, or that nothing widens any more. */
export function waitingForPeople(run: RunState, now: number): WaitingForPeople {
  if (run.ended !== null || run.revoked || run.canceled)
    return { approvals: [], exhausted: [], twins: [] };
  const approvals = [...run.actions.values()].filter(
    (action) => pendingAsk(run, action, now) !== null,
  );
  const exhausted = [...run.exhausted].map(([actionId, why]) => ({ actionId, why }));
  const twins = [...run.actions.values()].flatMap((action) => twinOf(action) ?? []);
  return { approvals, exhausted, twins };
}

/** As of its newest refusal: whether the other one is still in doubt is in that one's record. */
export function twinOf(action: ActionState): Twin | null {
  const { twin } = action.refusals.at(-1) ?? {};
  if (twin === undefined || action.final !== null) return null;
  if (undecidedAttempts(action).length > 0) return null;
  const isAnswered = action.resolutions.some(({ distinctFrom }) => distinctFrom === twin);
  return isAnswered ? null : { action, twin };
}

export function waitingCount(run: RunState, now: number): number {
  const { approvals, exhausted, twins } = waitingForPeople(run, now);
  return approvals.length + exhausted.length + twins.length;
}
