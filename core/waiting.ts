// What of a run waits for a person besides its questions: approvals, and a budget that is used up.

import { pendingAsk } from './approval.ts';
import type { ActionState, RunState } from './run-state.ts';

export interface WaitingForPeople {
  readonly approvals: readonly ActionState[];
  readonly exhausted: readonly { readonly actionId: string; readonly why: string }[];
}

/** Nothing waits in a run that is over, or that nothing widens any more. */
export function waitingForPeople(run: RunState, now: number): WaitingForPeople {
  if (run.ended !== null || run.revoked || run.canceled) return { approvals: [], exhausted: [] };
  const approvals = [...run.actions.values()].filter(
    (action) => pendingAsk(run, action, now) !== null,
  );
  const exhausted = [...run.exhausted].map(([actionId, why]) => ({ actionId, why }));
  return { approvals, exhausted };
}

export function waitingCount(run: RunState, now: number): number {
  const { approvals, exhausted } = waitingForPeople(run, now);
  return approvals.length + exhausted.length;
}
