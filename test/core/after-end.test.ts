import { expect, test } from 'vitest';
import { afterEnd, afterEndTable } from '../../core/after-end.ts';
import { endTable } from '../../core/gate-table.ts';
import { refusalSchema } from '../../core/verdict.ts';

test('R-059 what follows a refused end is one table over all refusals', () => {
  const table = refusalSchema.options.map((verdict) => {
    const next = afterEnd(verdict);
    return `${verdict}: ${next.kind}${next.kind === 'end_as' ? ` ${next.reason}` : ''}`;
  });
  expect(Object.keys(afterEndTable)).toEqual(refusalSchema.options);
  expect(table.join('\n')).toMatchInlineSnapshot(`
    "ledger_mismatch: leave_open
    disputed: end_as disputed
    already_final: leave_open
    payload_conflict: end_as payload_conflict
    entered_again: leave_open
    attempt_reused: leave_open
    attempt_closed: leave_open
    run_not_open: reread_authority
    claim_stale: reread_authority
    claim_facts_only: reread_authority
    run_ended: reread_authority
    retention_expired: leave_open
    action_in_doubt: settle_predecessors
    predecessor_open: settle_predecessors
    predecessor_mismatch: end_as predecessor_mismatch
    attempt_not_current: wait
    authority_unavailable: wait
    revoked: end_as revoked
    goal_stale: follow_goal
    authority_stale: reread_authority
    not_granted: leave_open
    object_changed: leave_open
    dependencies_changed: leave_open
    credentials_changed: leave_open
    approval_denied: leave_open
    approval_missing: leave_open
    approval_mismatch: leave_open
    twin_unknown: leave_open
    compensates_open: leave_open
    nothing_to_compensate: leave_open
    binding_changed: end_as binding_changed
    budget_exhausted: end_as budget
    entered: leave_open
    invalid_input: leave_open
    policy_changed: end_as binding_changed
    closed_by_inquiry: leave_open"
  `);
});

test('no refusal that ending can meet leaves the run open, but one: another ledger', () => {
  const left = endTable
    .map(([verdict]) => verdict)
    .filter((each) => afterEnd(each).kind === 'leave_open');
  expect(left).toEqual(['ledger_mismatch']);
});
