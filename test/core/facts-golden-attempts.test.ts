// Records are permanent: this list is their names. Lines are added to it, never taken out.
// Of attempts; the others stand in `facts-golden.test.ts`.

import { expect, test } from 'vitest';
import { kindsOf } from '../support/golden-names.ts';

test('R-064 a kind, a field or a word of attempts that is removed changes this list', () => {
  expect(kindsOf('attempts')).toMatchInlineSnapshot(`
    "attempt_entered.kind
    attempt_entered.kind = attempt_entered
    attempt_entered.actionId
    attempt_entered.attemptId
    attempt_entered.position
    attempt_entered.number
    attempt_entered.entryToken
    attempt_entered.resultId
    attempt_entered.payload
    attempt_entered.payload.digest
    attempt_entered.payload.bytes
    attempt_entered.binding
    attempt_entered.binding.tool
    attempt_entered.binding.version
    attempt_entered.binding.digest
    attempt_entered.replay
    attempt_entered.replay = safe
    attempt_entered.replay = keyed
    attempt_entered.replay = never
    attempt_entered.replay = rebuy
    attempt_entered.onUnknown
    attempt_entered.onUnknown = hold
    attempt_entered.onUnknown = continue
    attempt_entered.domain
    attempt_entered.receiverKey
    attempt_entered.intentDigest
    attempt_entered.continuing
    attempt_entered.continuing = none
    attempt_entered.continuing = own_protocol
    attempt_entered.resendUntil
    attempt_entered.revisions
    attempt_entered.revisions.goal
    attempt_entered.revisions.auth
    attempt_entered.sendToken
    attempt_entered.sendToken.epoch
    attempt_entered.sendToken.number
    attempt_entered.consumes
    attempt_entered.consumes.base
    attempt_entered.consumes.pairs
    attempt_entered.consumes.pairs[].actionId
    attempt_entered.consumes.pairs[].outcome
    attempt_entered.consumes.pairs[].outcome = open
    attempt_entered.consumes.pairs[].outcome = not_executed
    attempt_entered.rolled
    attempt_entered.permit
    attempt_entered.verify
    attempt_entered.verify.method
    attempt_entered.verify.method = inquiry
    attempt_entered.verify.method = none
    attempt_entered.verify.why
    attempt_entered.approval
    attempt_entered.reserve
    attempt_entered.reserve.requests
    attempt_entered.reserve.tokens
    attempt_entered.reserve.money
    attempt_entered.reserve.money.currency
    attempt_entered.reserve.money.micros
    attempt_entered.versions
    attempt_entered.versions.object
    attempt_entered.versions.dependencies
    attempt_entered.versions.credentials
    attempt_entered.compensates
    attempt_entered.compensates.actionId
    attempt_entered.compensates.objectVersion
    attempt_entered.compensation
    attempt_prepared.kind
    attempt_prepared.kind = attempt_prepared
    attempt_prepared.actionId
    attempt_prepared.attemptId
    attempt_prepared.marks
    attempt_refused.kind
    attempt_refused.kind = attempt_refused
    attempt_refused.actionId
    attempt_refused.attemptId
    attempt_refused.position
    attempt_refused.verdict
    attempt_refused.verdict = ledger_mismatch
    attempt_refused.verdict = disputed
    attempt_refused.verdict = already_final
    attempt_refused.verdict = payload_conflict
    attempt_refused.verdict = entered_again
    attempt_refused.verdict = attempt_reused
    attempt_refused.verdict = attempt_closed
    attempt_refused.verdict = run_not_open
    attempt_refused.verdict = claim_stale
    attempt_refused.verdict = claim_facts_only
    attempt_refused.verdict = run_ended
    attempt_refused.verdict = retention_expired
    attempt_refused.verdict = action_in_doubt
    attempt_refused.verdict = predecessor_open
    attempt_refused.verdict = predecessor_mismatch
    attempt_refused.verdict = attempt_not_current
    attempt_refused.verdict = authority_unavailable
    attempt_refused.verdict = revoked
    attempt_refused.verdict = goal_stale
    attempt_refused.verdict = authority_stale
    attempt_refused.verdict = not_granted
    attempt_refused.verdict = object_changed
    attempt_refused.verdict = dependencies_changed
    attempt_refused.verdict = credentials_changed
    attempt_refused.verdict = approval_denied
    attempt_refused.verdict = approval_missing
    attempt_refused.verdict = approval_mismatch
    attempt_refused.verdict = twin_unknown
    attempt_refused.verdict = compensates_open
    attempt_refused.verdict = nothing_to_compensate
    attempt_refused.verdict = binding_changed
    attempt_refused.verdict = budget_exhausted
    attempt_refused.verdict = entered
    attempt_refused.verdict = invalid_input
    attempt_refused.verdict = policy_changed
    attempt_refused.verdict = closed_by_inquiry
    attempt_refused.detail
    attempt_refused.payload
    attempt_refused.payload.digest
    attempt_refused.payload.bytes
    attempt_refused.tool
    attempt_refused.revisions
    attempt_refused.revisions.goal
    attempt_refused.revisions.auth
    attempt_refused.asks
    attempt_refused.asks.bound
    attempt_refused.asks.validForMs
    attempt_refused.asks.versions
    attempt_refused.asks.versions.object
    attempt_refused.asks.versions.dependencies
    attempt_refused.asks.versions.credentials
    attempt_refused.asks.earlier
    attempt_refused.twin
    attempt_settled.kind
    attempt_settled.kind = attempt_settled
    attempt_settled.actionId
    attempt_settled.attemptId
    attempt_settled.resultId
    attempt_settled.outcome
    attempt_settled.outcome = executed
    attempt_settled.outcome = partial
    attempt_settled.outcome = accepted
    attempt_settled.outcome = refused
    attempt_settled.outcome = not_taken
    attempt_settled.outcome = not_sent
    attempt_settled.result
    attempt_settled.result.digest
    attempt_settled.result.bytes
    attempt_settled.resultMissing
    attempt_settled.parts
    attempt_settled.parts[].name
    attempt_settled.parts[].state
    attempt_settled.parts[].state = confirmed
    attempt_settled.parts[].state = unconfirmed
    attempt_settled.externalId
    attempt_settled.objectVersion
    attempt_settled.evaluates
    attempt_settled.evaluates[].object
    attempt_settled.evaluates[].objectVersion
    attempt_settled.evaluates[].verdict
    attempt_settled.evaluates[].verdict = accepted
    attempt_settled.evaluates[].verdict = rejected
    attempt_settled.refusal
    attempt_settled.refusal.code
    attempt_settled.refusal.message
    attempt_settled.calls
    attempt_settled.calls[].callId
    attempt_settled.calls[].tool
    attempt_settled.calls[].input
    attempt_settled.calls[].input.digest
    attempt_settled.calls[].input.bytes
    attempt_settled.cost
    attempt_settled.cost.kind
    attempt_settled.cost.kind = known
    attempt_settled.cost.usage
    attempt_settled.cost.usage.requests
    attempt_settled.cost.usage.inputTokens
    attempt_settled.cost.usage.outputTokens
    attempt_settled.cost.estimate
    attempt_settled.cost.estimate.currency
    attempt_settled.cost.estimate.micros
    attempt_settled.cost.estimate.tableDate
    attempt_settled.cost.callId
    attempt_settled.cost.purpose
    attempt_settled.cost.purpose = generation
    attempt_settled.cost.purpose = evaluation
    attempt_settled.cost.purpose = reflection
    attempt_settled.cost.kind = unknown
    attempt_settled.cost.reason
    attempt_settled.cost.kind = none
    attempt_settled.revisions
    attempt_settled.revisions.goal
    attempt_settled.revisions.auth"
  `);
});
