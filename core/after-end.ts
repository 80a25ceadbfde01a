// What follows when the ledger refuses to write `run_ended`. Total over the gate's refusals.

import type { StopReason } from './fact-fields.ts';
import type { Refusal } from './verdict.ts';

export type AfterEnd =
  /** End it all the same, with this reason. */
  | { readonly kind: 'end_as'; readonly reason: StopReason }
  | { readonly kind: 'wait' }
  | { readonly kind: 'reread_authority' }
  | { readonly kind: 'settle_predecessors' }
  /** There is another goal by now: the run goes on with it. */
  | { readonly kind: 'follow_goal' }
  /** The run cannot be ended from here; it stays without `run_ended` and needs `resume`. */
  | { readonly kind: 'leave_open' };

const leaveOpen = { kind: 'leave_open' } as const;
const reread = { kind: 'reread_authority' } as const;
const wait = { kind: 'wait' } as const;
const endAs = (reason: StopReason): AfterEnd => ({ kind: 'end_as', reason });

export const afterEndTable = {
  ledger_mismatch: leaveOpen,
  disputed: endAs('disputed'),
  already_final: leaveOpen,
  payload_conflict: endAs('payload_conflict'),
  entered_again: leaveOpen,
  attempt_reused: leaveOpen,
  attempt_closed: leaveOpen,
  run_not_open: reread,
  claim_stale: reread,
  claim_facts_only: reread,
  run_ended: reread,
  retention_expired: leaveOpen,
  action_in_doubt: { kind: 'settle_predecessors' },
  predecessor_open: { kind: 'settle_predecessors' },
  predecessor_mismatch: endAs('predecessor_mismatch'),
  attempt_not_current: wait,
  authority_unavailable: wait,
  revoked: endAs('revoked'),
  goal_stale: { kind: 'follow_goal' },
  authority_stale: reread,
  not_granted: leaveOpen,
  object_changed: leaveOpen,
  dependencies_changed: leaveOpen,
  credentials_changed: leaveOpen,
  approval_denied: leaveOpen,
  approval_missing: leaveOpen,
  approval_mismatch: leaveOpen,
  twin_unknown: leaveOpen,
  compensates_open: leaveOpen,
  nothing_to_compensate: leaveOpen,
  binding_changed: endAs('binding_changed'),
  budget_exhausted: endAs('budget'),
  entered: leaveOpen,
  invalid_input: leaveOpen,
  policy_changed: endAs('binding_changed'),
  closed_by_inquiry: leaveOpen,
} as const satisfies Record<Refusal, AfterEnd>;

export function afterEnd(verdict: Refusal): AfterEnd {
  return afterEndTable[verdict];
}
