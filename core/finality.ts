// When an action's outcome is final: by the first `executed`, by a `partial` that cannot be
// continued, by a resolution of the effect, by a burnt key, or by a refusal when no other attempt
// is open.

import type { BodyOf, Fact } from './facts.ts';
import { type FinalContent, outcomeDigest } from './outcome.ts';
import type { ActionState, AttemptState, FinalState } from './run-state.ts';

/** The first final outcome stays; what comes later is an observation. */
export function finalAfter(action: ActionState, fact: Fact): ActionState {
  if (action.final !== null) return action;
  const found = finalBySettlement(action) ?? finalByResolution(action) ?? finalByBurntKey(action);
  if (found === null) return action;
  const { attempt, content, via, resultRef } = found;
  const final: FinalState = {
    ...content,
    attemptId: attempt?.attemptId ?? null,
    via,
    seq: fact.seq,
    digest: outcomeDigest(action.actionId, content),
    resultRef,
    late: attempt?.late ?? false,
  };
  return { ...action, final };
}

/** An effect is another one when the receiver names another object or version; a replay is none. */
export function isSecondEffect(
  final: FinalState | null,
  body: Pick<BodyOf<'attempt_settled'>, 'attemptId' | 'externalId'>,
): boolean {
  if (final === null) return false;
  if (final.kind === 'not_executed' || final.kind === 'refused') return true;
  if (final.attemptId === body.attemptId) return false;
  return (
    final.externalId !== null && body.externalId !== null && final.externalId !== body.externalId
  );
}

interface Found {
  readonly attempt: AttemptState | null;
  readonly content: FinalContent;
  readonly via: FinalState['via'];
  readonly resultRef: FinalState['resultRef'];
}

function finalBySettlement(action: ActionState): Found | null {
  for (const attempt of action.attempts) {
    const kind = finalKindOf(action, attempt);
    const { settled } = attempt;
    if (kind === null || settled === null) continue;
    const content: FinalContent = {
      kind,
      result: settled.result?.digest ?? null,
      parts: settled.parts,
      externalId: settled.externalId,
    };
    return { attempt, content, via: 'settlement', resultRef: settled.result };
  }
  return null;
}

function finalKindOf(action: ActionState, attempt: AttemptState): FinalContent['kind'] | null {
  const { settled, entry } = attempt;
  if (settled === null) return null;
  if (settled.outcome === 'executed')
    return settled.result === null ? 'executed_result_missing' : 'executed';
  if (settled.outcome === 'partial' && entry.continuing === 'none') return 'partial';
  if (settled.outcome === 'refused') return othersAreOpen(action, attempt) ? null : 'refused';
  return null;
}

function othersAreOpen(action: ActionState, attempt: AttemptState): boolean {
  return action.attempts.some(
    (other) => other !== attempt && other.settled === null && other.exclusion === 'none',
  );
}

function finalByResolution(action: ActionState): Found | null {
  const answer = action.resolutions.find((each) => each.verb === 'confirm_executed');
  if (answer === undefined) return null;
  const content: FinalContent = {
    kind: answer.result === null ? 'executed_result_missing' : 'executed',
    result: answer.result?.digest ?? null,
    parts: [],
    externalId: answer.externalId,
  };
  return { attempt: null, content, via: 'resolution', resultRef: answer.result };
}

function finalByBurntKey(action: ActionState): Found | null {
  if (!action.observations.some((each) => each.proof === 'closed_key')) return null;
  const content: FinalContent = { kind: 'not_executed', result: null, parts: [], externalId: null };
  return { attempt: null, content, via: 'settlement', resultRef: null };
}
