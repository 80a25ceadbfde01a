// Records are permanent: this list is their names. Lines are added to it, never taken out.
// Those of attempts stand in `facts-golden-attempts.test.ts`.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { factSchema, headSchema } from '../../core/facts.ts';
import { goldenOf, kindsOf } from '../support/golden-names.ts';

test('R-064 a kind, a field or a word that is removed or renamed changes this list', () => {
  expect(kindsOf('others')).toMatchInlineSnapshot(`
    "run_opened.kind
    run_opened.kind = run_opened
    run_opened.claim
    run_opened.claim.owner
    run_opened.claim.scope
    run_opened.claim.scope = facts
    run_opened.claim.scope = effects
    run_opened.claim.firstExecutionRunId
    run_opened.claim.ticket
    run_opened.claim.oldExecutor
    run_opened.epoch
    run_opened.principal
    run_opened.principal.user
    run_opened.principal.workspace
    run_opened.principal.account
    run_opened.goal
    run_opened.goal.digest
    run_opened.goal.bytes
    run_opened.revisions
    run_opened.revisions.goal
    run_opened.revisions.auth
    run_opened.grants
    run_opened.grants[] = effect
    run_opened.grants[] = query
    run_opened.grants[] = read
    run_opened.grants[] = send
    run_opened.grants[] = accept
    run_opened.grants[] = compensate
    run_opened.catalog
    run_opened.catalog.digest
    run_opened.catalog.bytes
    run_opened.bindings
    run_opened.bindings[].tool
    run_opened.bindings[].version
    run_opened.bindings[].digest
    run_opened.scope
    run_opened.scope.installation
    run_opened.scope.namespace
    run_opened.ledger
    run_opened.ledger.id
    run_opened.ledger.incarnation
    run_opened.budget
    run_opened.budget.requests
    run_opened.budget.tokens
    run_opened.budget.money
    run_opened.budget.money.currency
    run_opened.budget.money.micros
    run_opened.budget.wallTimeMs
    run_opened.budget.onExhausted
    run_opened.budget.onExhausted = ask
    run_opened.budget.onExhausted = end
    action_in_doubt.kind
    action_in_doubt.kind = action_in_doubt
    action_in_doubt.actionId
    action_in_doubt.attemptIds
    action_in_doubt.why
    action_in_doubt.revisions
    action_in_doubt.revisions.goal
    action_in_doubt.revisions.auth
    observation.kind
    observation.kind = observation
    observation.actionId
    observation.attemptId
    observation.about
    observation.about = inquiry
    observation.about = settlement_after_final
    observation.about = second_effect
    observation.about = orphan_result
    observation.about = note
    observation.verdict
    observation.verdict = executed
    observation.verdict = not_executed
    observation.verdict = processing
    observation.verdict = no_record
    observation.verdict = partial
    observation.verdict = conflict
    observation.verdict = unavailable
    observation.verdict = forbidden
    observation.proof
    observation.proof = closed_token
    observation.proof = closed_key
    observation.proof = settled
    observation.detail
    observation.externalId
    observation.objectVersion
    observation.cost
    observation.cost.kind
    observation.cost.kind = known
    observation.cost.usage
    observation.cost.usage.requests
    observation.cost.usage.inputTokens
    observation.cost.usage.outputTokens
    observation.cost.estimate
    observation.cost.estimate.currency
    observation.cost.estimate.micros
    observation.cost.estimate.tableDate
    observation.cost.callId
    observation.cost.purpose
    observation.cost.purpose = generation
    observation.cost.purpose = evaluation
    observation.cost.purpose = reflection
    observation.cost.kind = unknown
    observation.cost.reason
    observation.cost.kind = none
    observation.result
    observation.result.digest
    observation.result.bytes
    observation.parts
    observation.parts[].name
    observation.parts[].state
    observation.parts[].state = confirmed
    observation.parts[].state = unconfirmed
    resolution.kind
    resolution.kind = resolution
    resolution.actionId
    resolution.commandId
    resolution.verb
    resolution.verb = confirm_executed
    resolution.verb = confirm_not_executed
    resolution.verb = authorize_retry
    resolution.verb = abandon
    resolution.verb = confirm_distinct
    resolution.verb = settle_dispute
    resolution.actor
    resolution.reason
    resolution.evidence
    resolution.evidence.kind
    resolution.evidence.kind = receiver_query
    resolution.evidence.kind = object_observation
    resolution.evidence.kind = human_attestation
    resolution.evidence.source
    resolution.evidence.detail
    resolution.coverage
    resolution.recordVersion
    resolution.externalId
    resolution.result
    resolution.result.digest
    resolution.result.bytes
    resolution.oldRequestCannotArrive
    resolution.acceptsPossibleDuplicate
    resolution.permit
    resolution.distinctFrom
    resolution.states
    resolution.states = executed
    resolution.states = not_executed
    authority_changed.kind
    authority_changed.kind = authority_changed
    authority_changed.change
    authority_changed.change = revoke
    authority_changed.change = amend
    authority_changed.change = approve
    authority_changed.change = deny
    authority_changed.change = top_up
    authority_changed.change = cancel
    authority_changed.change = permit
    authority_changed.commandId
    authority_changed.actor
    authority_changed.reason
    authority_changed.position
    authority_changed.revisions
    authority_changed.revisions.goal
    authority_changed.revisions.auth
    authority_changed.ticket
    authority_changed.grants
    authority_changed.grants[] = effect
    authority_changed.grants[] = query
    authority_changed.grants[] = read
    authority_changed.grants[] = send
    authority_changed.grants[] = accept
    authority_changed.grants[] = compensate
    authority_changed.goal
    authority_changed.goal.digest
    authority_changed.goal.bytes
    authority_changed.actionId
    authority_changed.bound
    authority_changed.validUntil
    authority_changed.added
    authority_changed.added.requests
    authority_changed.added.tokens
    authority_changed.added.micros
    authority_changed.added.wallTimeMs
    command_rejected.kind
    command_rejected.kind = command_rejected
    command_rejected.commandId
    command_rejected.name
    command_rejected.why
    run_ended.kind
    run_ended.kind = run_ended
    run_ended.end
    run_ended.end.kind
    run_ended.end.kind = completed
    run_ended.end.kind = stopped
    run_ended.end.reason
    run_ended.end.reason = revoked
    run_ended.end.reason = canceled
    run_ended.end.reason = budget
    run_ended.end.reason = payload_conflict
    run_ended.end.reason = predecessor_mismatch
    run_ended.end.reason = binding_changed
    run_ended.end.reason = disputed
    run_ended.end.reason = claim_stale
    run_ended.end.reason = ledger_mismatch
    run_ended.end.reason = blocked
    run_ended.end.kind = ended_with_unknown
    run_ended.epoch
    run_ended.openUnknowns
    run_ended.answer
    run_ended.answer.digest
    run_ended.answer.bytes
    payload_erased.kind
    payload_erased.kind = payload_erased
    payload_erased.digest
    payload_erased.actor
    payload_erased.reason"
  `);
});

test('R-064 the frame of a fact and the head keep their names', () => {
  const { body: _body, ...frame } = factSchema.shape;
  expect(goldenOf('fact', z.object(frame))).toMatchInlineSnapshot(`
    "fact.schema
    fact.schema = holdfast/1
    fact.runId
    fact.seq
    fact.at
    fact.source
    fact.source = history
    fact.source = execution
    fact.source = late_result
    fact.source = receiver_inquiry
    fact.source = object_observation
    fact.source = human
    fact.prev"
  `);
  expect(goldenOf('head', headSchema)).toMatchInlineSnapshot(`
    "head.count
    head.hash"
  `);
});
