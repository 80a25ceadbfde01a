// Records are permanent: this list is their names. Lines are added to it, never taken out.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { factBodySchema, factSchema, headSchema } from '../../core/facts.ts';

type Node = Partial<{
  properties: Record<string, Node>;
  items: Node;
  anyOf: Node[];
  oneOf: Node[];
  enum: unknown[];
  const: unknown;
}>;

/** Every field by its path, and every word that a field may hold. */
function namesOf(path: string, node: Node): string[] {
  const words = node.enum ?? (node.const === undefined ? [] : [node.const]);
  return [
    ...words.map((word) => `${path} = ${word}`),
    ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => [
      `${path}.${name}`,
      ...namesOf(`${path}.${name}`, inner),
    ]),
    ...[...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap((inner) => namesOf(path, inner)),
    ...(node.items === undefined ? [] : namesOf(`${path}[]`, node.items)),
  ];
}

function goldenOf(name: string, schema: z.ZodType): string {
  const node = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' }) as Node;
  return [...new Set(namesOf(name, node))].join('\n');
}

test('R-064 a kind, a field or a word that is removed or renamed changes this list', () => {
  const kinds = factBodySchema.options.map((option) => goldenOf(option.shape.kind.value, option));
  expect(kinds.join('\n')).toMatchInlineSnapshot(`
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
    attempt_entered.kind
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
    attempt_refused.verdict = authority_stale
    attempt_refused.verdict = approval_missing
    attempt_refused.verdict = approval_mismatch
    attempt_refused.verdict = twin_unknown
    attempt_refused.verdict = compensates_open
    attempt_refused.verdict = binding_changed
    attempt_refused.verdict = budget_exhausted
    attempt_refused.verdict = entered
    attempt_refused.verdict = invalid_input
    attempt_refused.verdict = closed_by_inquiry
    attempt_refused.detail
    attempt_refused.payload
    attempt_refused.payload.digest
    attempt_refused.payload.bytes
    attempt_refused.tool
    attempt_refused.revisions
    attempt_refused.revisions.goal
    attempt_refused.revisions.auth
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
    attempt_settled.cost.kind = unknown
    attempt_settled.cost.reason
    attempt_settled.cost.kind = none
    attempt_settled.revisions
    attempt_settled.revisions.goal
    attempt_settled.revisions.auth
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
