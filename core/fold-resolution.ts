// What a person's answer changes in the state of an action; part of the fold.

import type { BodyOf, Fact } from './facts.ts';
import { contradictsRecord, finalAfter, finalAsStated, isHalfDone } from './finality.ts';
import type { ActionState, AttemptState } from './run-state.ts';

export function resolved(action: ActionState, body: BodyOf<'resolution'>, fact: Fact): ActionState {
  const resolutions = [...action.resolutions, body];
  const attempts =
    body.verb === 'confirm_not_executed'
      ? action.attempts.map((attempt) => excludedBy(body, attempt, isHalfDone(action)))
      : action.attempts;
  const permits = permitsAfter(action, body);
  if (body.verb === 'settle_dispute')
    return finalAsStated({ ...action, resolutions, disputed: false }, body, fact);
  const disputed = action.disputed || contradictsRecord(action, body.verb);
  const abandoned = action.abandoned || body.verb === 'abandon';
  return finalAfter({ ...action, attempts, resolutions, permits, disputed, abandoned }, fact);
}

/**
 * A statement never weakens a proof; it also covers what the receiver had accepted, unless that has
 * done a part of it already.
 */
function excludedBy(
  body: BodyOf<'resolution'>,
  attempt: AttemptState,
  halfDone: boolean,
): AttemptState {
  const decided = attempt.settled !== null && (attempt.settled.outcome !== 'accepted' || halfDone);
  if (decided || attempt.exclusion === 'proved') return attempt;
  return { ...attempt, exclusion: body.oldRequestCannotArrive ? 'proved' : 'stated' };
}

/** What is abandoned is never resent: no permit outlives that. */
function permitsAfter(action: ActionState, body: BodyOf<'resolution'>): ActionState['permits'] {
  if (body.verb === 'abandon') return [];
  const { permit, acceptsPossibleDuplicate } = body;
  return permit === null
    ? action.permits
    : [...action.permits, { id: permit, acceptsPossibleDuplicate }];
}
