// What an action's attempts cost, each counted once: totals and budgets are summed from the same
// list.

import type { Cost } from './cost.ts';
import type { ActionState, AttemptState } from './run-state.ts';

/** An attempt that may be billed and did not say its cost has an unknown one, settled or lost. */
export function costsOf(action: ActionState): readonly Cost[] {
  const ids = new Set<string | null>(action.attempts.map(({ attemptId }) => attemptId));
  const ofAttempts = action.attempts.flatMap((attempt) => ownCost(action, attempt));
  const later = action.observations
    // That somebody did not learn the cost of an attempt says nothing new about it.
    .filter(({ attemptId, cost }) => cost.kind === 'known' || !ids.has(attemptId))
    .map(({ cost }) => cost);
  return [...ofAttempts, ...later];
}

/** What is known of this attempt's cost, whenever it came; empty: nothing yet. */
export function knownCosts(action: ActionState, { attemptId, settled }: AttemptState) {
  const said = action.observations
    .filter((each) => each.attemptId === attemptId)
    .map(({ cost }) => cost);
  return [...(settled === null ? [] : [settled.cost]), ...said].filter(isKnown);
}

function ownCost(action: ActionState, attempt: AttemptState): readonly Cost[] {
  const { settled, entry } = attempt;
  if (settled !== null && settled.cost.kind !== 'unknown') return [settled.cost];
  if (knownCosts(action, attempt).length > 0) return [];
  if (settled !== null) return [settled.cost];
  if (entry.reserve === undefined && entry.replay !== 'rebuy') return [];
  return [{ kind: 'unknown', reason: 'the reply was lost' }];
}

function isKnown(cost: Cost): cost is Extract<Cost, { kind: 'known' }> {
  return cost.kind === 'known';
}
