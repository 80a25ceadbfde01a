// Cross-record rules: what one fact may say after the others. One total table over kinds; a record
// without its rule does not compile. The ledger asks before it writes, so a broken caller cannot.

import { isBegun, openAttempts, undecidedAttempts } from './action-status.ts';
import { boundOf, decisionOn } from './approval.ts';
import { rolledOf } from './consumes.ts';
import type { BodyOf, FactBody, FactKind, NewFact } from './facts.ts';
import { hasEffectBy } from './finality.ts';
import { resultIdOf } from './ids.ts';
import { limits } from './limits.ts';
import { prepareProblem } from './prepare.ts';
import type { ActionState, AttemptState, RunState } from './run-state.ts';

type Rule<K extends FactKind> = (run: RunState, body: BodyOf<K>) => string | null;

/** First problem of a list of [holds, words], or null. */
function firstProblem(rows: readonly (readonly [boolean, string])[]): string | null {
  return rows.find(([holds]) => !holds)?.[1] ?? null;
}

const ruleTable: { [K in FactKind]: Rule<K> } = {
  run_opened: (run, body) =>
    firstProblem([
      [run.ended === null, 'the run has ended'],
      [body.revisions.auth === run.revisions.auth, 'opens under another authority revision'],
      [body.revisions.goal === run.revisions.goal, 'opens under another goal revision'],
      [opensInOrder(run, body), 'the epoch does not follow, or its ticket is not there'],
      [run.opened === null || run.opened.goal.digest === body.goal.digest, 'has another goal'],
    ]),
  attempt_entered: (run, body) => {
    const action = run.actions.get(body.actionId);
    const first = action?.attempts[0]?.entry;
    return firstProblem([
      [run.opened !== null, 'the run is not open'],
      [run.ended === null, 'the run has ended'],
      [!run.revoked && !run.canceled, 'the run is revoked or canceled'],
      [run.opened?.epoch === body.sendToken.epoch, 'the epoch is not the claim’s'],
      [run.opened?.claim.scope === 'effects' || isBegun(action), 'the claim covers facts only'],
      [body.revisions.auth === run.revisions.auth, 'decided under another authority revision'],
      [body.revisions.goal === run.revisions.goal, 'decided under another goal revision'],
      [body.attemptId !== body.actionId, 'attempt id and action id are the same'],
      [attemptOf(run, body) === undefined, 'the attempt entered before'],
      [body.number === nextNumber(action), 'the number does not follow'],
      [body.sendToken.number === body.number, 'the send token carries another number'],
      [body.resultId === resultIdOf(body.attemptId), 'the result id is not the attempt’s'],
      [samePayload(first, body), 'an earlier attempt has another payload'],
      [run.rolled.has(body.consumes.base), 'consumes from a base that is not known'],
      [body.rolled === rolledOf(body.consumes), 'the rolling digest does not fit'],
      [permitIsThere(action, body), 'the permit is not there'],
      [action?.final == null || body.permit !== null, 'the action is final'],
      [action?.abandoned !== true, 'the action is abandoned'],
      [approvalIsThere(action, body), 'nobody approved exactly this'],
      [compensatesEffect(run, body), 'compensates what is open, or had no effect'],
    ]);
  },
  attempt_prepared: (run, body) => prepareProblem(run, body),
  attempt_refused: (run, body) =>
    firstProblem([
      [attemptOf(run, body) === undefined, 'the attempt has entered'],
      [body.verdict !== 'entered', 'entered is no refusal'],
      [
        body.asks === undefined || body.verdict === 'approval_missing',
        'asks for an approval without missing one',
      ],
      [body.twin === undefined || body.verdict === 'twin_unknown', 'a twin without waiting for it'],
    ]),
  attempt_settled: (run, body) => {
    const attempt = attemptOf(run, body);
    const hasResult = body.result !== null;
    return firstProblem([
      [attempt !== undefined, 'result without intent'],
      [attempt?.settled === null, 'the attempt is settled'],
      [body.resultId === attempt?.entry.resultId, 'stored under another id than pre-allocated'],
      [body.revisions.auth === attempt?.entry.revisions.auth, 'another revision than the intent’s'],
      [!hasResult || body.outcome === 'executed', 'a result without `executed`'],
      [
        body.outcome !== 'executed' || hasResult !== (body.resultMissing !== null),
        'executed needs a result, or the reason why it is missing',
      ],
      [body.outcome !== 'accepted' || body.externalId !== null, 'accepted without external id'],
      [body.outcome !== 'partial' || body.parts.length > 0, 'partial without parts'],
      [
        (body.refusal !== null) === ['refused', 'not_taken'].includes(body.outcome),
        'the receiver’s words belong to refused and not_taken, and only there',
      ],
      [body.calls.length === 0 || attempt?.entry.replay === 'rebuy', 'only a model proposes calls'],
      [
        body.evaluates === undefined ||
          (body.outcome === 'executed' && attempt?.entry.replay !== 'rebuy'),
        'only a tool that did its work judges an object, and never a model',
      ],
    ]);
  },
  action_in_doubt: (run, body) => {
    const action = run.actions.get(body.actionId);
    const open = action === undefined ? [] : openAttempts(action).map((each) => each.attemptId);
    return firstProblem([
      [body.attemptIds.every((id) => open.includes(id)), 'names an attempt that is not open'],
    ]);
  },
  observation: (run, body) => {
    const action = run.actions.get(body.actionId);
    return firstProblem([
      [body.about === 'orphan_result' || action !== undefined, 'the action is not known'],
      [body.about !== 'orphan_result' || attemptOf(run, body) === undefined, 'is no orphan'],
      [body.proof === null || body.verdict === 'not_executed', 'a proof of something else'],
      [body.about !== 'second_effect' || action?.final != null, 'no first effect is final'],
      [body.result === undefined || body.verdict === 'executed', 'a result without an effect'],
      [
        body.verdict !== 'partial' || body.attemptId === null || body.parts !== undefined,
        'partial without parts',
      ],
    ]);
  },
  resolution: (run, body) => {
    const action = run.actions.get(body.actionId);
    return firstProblem([
      [
        action !== undefined && (action.attempts.length > 0 || body.verb === 'confirm_distinct'),
        'no attempt of the action entered',
      ],
      [!run.commandIds.has(body.commandId), 'the command was applied before'],
      [body.recordVersion <= run.head.count, 'answers a record that is not there'],
      [(body.permit !== null) === (body.verb === 'authorize_retry'), 'permits come by retry only'],
      [statesEffect(body) || body.result === null, 'a result without an effect'],
      [
        (body.distinctFrom !== undefined) === (body.verb === 'confirm_distinct') &&
          body.distinctFrom !== body.actionId,
        'what is distinct names another action, and nothing else does',
      ],
      [
        (body.states !== undefined) === (body.verb === 'settle_dispute'),
        'a settled dispute states what holds, and nothing else does',
      ],
      [body.verb !== 'settle_dispute' || action?.disputed === true, 'there is no dispute'],
      [body.permit === null || action?.abandoned === false, 'what is abandoned is never resent'],
      [needsEvidence(body) === (body.evidence !== null), 'evidence missing, or without a claim'],
      [
        body.verb !== 'confirm_not_executed' || body.coverage !== null,
        'not executed needs its coverage',
      ],
    ]);
  },
  authority_changed: (run, body) =>
    firstProblem([
      [!run.commandIds.has(body.commandId), 'the command was applied before'],
      [
        body.revisions.auth === run.revisions.auth + (raisesAuthority(body) ? 1 : 0),
        'the authority revision does not follow',
      ],
      [
        body.revisions.goal === run.revisions.goal + (body.goal === undefined ? 0 : 1),
        'the goal revision does not follow',
      ],
      [body.ticket === null || body.change === 'permit', 'a ticket is a permit'],
      [!widens(body) || run.ended === null, 'the run has ended'],
      [body.goal === undefined || body.change === 'amend', 'another goal without an amendment'],
      [(body.added !== undefined) === (body.change === 'top_up'), 'only a top-up adds'],
      [
        (body.actionId !== undefined && body.bound !== undefined) === isDecision(body),
        'a decision names its action and what it decides on, and nothing else does',
      ],
      [!isDecision(body) || isFirstDecision(run, body), 'decided before'],
    ]),
  command_rejected: (run) =>
    firstProblem([[run.rejectedCount < limits.rejectedCommandsMax, 'too many to keep']]),
  run_ended: (run, body) =>
    firstProblem([
      [run.opened !== null, 'the run is not open'],
      [run.ended === null, 'the run has ended'],
      [run.opened?.epoch === body.epoch, 'the epoch is not the claim’s'],
      [sameSet(body.openUnknowns, openUnknowns(run)), 'open unknowns are others'],
      [body.end.kind !== 'completed' || body.openUnknowns.length === 0, 'completed with unknowns'],
    ]),
  payload_erased: (run, body) =>
    firstProblem([
      [run.ended !== null, 'the run is open'],
      [
        !openUnknowns(run).some((id) => refersTo(run.actions.get(id), body.digest)),
        'still asked about',
      ],
    ]),
};

/** The rule that `fact` breaks, in words, or null. */
export function factProblem(run: RunState, fact: NewFact): string | null {
  const rule = ruleTable[fact.body.kind] as Rule<FactBody['kind']>;
  return rule(run, fact.body as never);
}

/** Actions with an open or accepted attempt and nothing final. */
export function openUnknowns(run: RunState): string[] {
  return [...run.actions.values()]
    .filter((action) => action.final === null && hasUnsettledEffect(action))
    .map((action) => action.actionId);
}

function hasUnsettledEffect(action: ActionState): boolean {
  if (action.attempts[0]?.entry.replay === 'safe' || action.attempts[0]?.entry.replay === 'rebuy')
    return false;
  return undecidedAttempts(action).length > 0;
}

export function nextNumber(action: ActionState | undefined): number {
  return 1 + Math.max(0, ...(action?.attempts ?? []).map((attempt) => attempt.entry.number));
}

function attemptOf(
  run: RunState,
  body: { actionId: string; attemptId: string | null },
): AttemptState | undefined {
  return run.actions.get(body.actionId)?.attempts.find((each) => each.attemptId === body.attemptId);
}

function opensInOrder(run: RunState, body: BodyOf<'run_opened'>): boolean {
  const ticketHolds = body.claim.ticket !== null && run.tickets.has(body.claim.ticket);
  if (run.opened === null) return body.epoch === 1 && (body.claim.ticket === null || ticketHolds);
  if (body.epoch === run.opened.epoch)
    return run.opened.claim.scope === 'facts' && body.claim.scope === 'effects';
  return body.epoch === run.opened.epoch + 1 && ticketHolds;
}

function samePayload(
  first: BodyOf<'attempt_entered'> | undefined,
  body: BodyOf<'attempt_entered'>,
): boolean {
  return (
    first === undefined || body.replay === 'rebuy' || first.payload.digest === body.payload.digest
  );
}

function permitIsThere(action: ActionState | undefined, body: BodyOf<'attempt_entered'>): boolean {
  return body.permit === null || action?.permits.some(({ id }) => id === body.permit) === true;
}

function approvalIsThere(
  action: ActionState | undefined,
  body: BodyOf<'attempt_entered'>,
): boolean {
  if (body.approval === undefined) return true;
  const { binding, revisions } = body;
  const decision = decisionOn(
    action,
    boundOf({ binding, payload: body.payload.digest, revisions }),
  );
  return decision?.decision === 'approve' && decision.commandId === body.approval;
}

function compensatesEffect(run: RunState, { compensates }: BodyOf<'attempt_entered'>): boolean {
  if (compensates === undefined) return true;
  return hasEffectBy(run.actions.get(compensates.actionId)?.final ?? null);
}

type Change = BodyOf<'authority_changed'>;

function raisesAuthority({ change, grants }: Change): boolean {
  return change === 'revoke' || (change === 'amend' && grants !== undefined);
}

/** What lets a run do more than before. */
function widens({ change }: Change): boolean {
  return ['amend', 'approve', 'top_up'].includes(change);
}

function isDecision({ change }: Change): boolean {
  return change === 'approve' || change === 'deny';
}

function isFirstDecision(run: RunState, { actionId, bound }: Change): boolean {
  if (actionId === undefined || bound === undefined) return false;
  const before = decisionOn(run.actions.get(actionId), bound);
  return before === undefined || (before.decision === 'approve' && before.validUntil !== null);
}

function needsEvidence({ verb }: BodyOf<'resolution'>): boolean {
  return ['confirm_executed', 'confirm_not_executed', 'settle_dispute'].includes(verb);
}

function statesEffect({ verb, states }: BodyOf<'resolution'>): boolean {
  return verb === 'confirm_executed' || states === 'executed';
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

function refersTo(action: ActionState | undefined, digest: string): boolean {
  return action?.attempts.some((attempt) => attempt.entry.payload.digest === digest) === true;
}
