// The four axes of an action, and what else is known apart from them. Derived, never stored.

import { type Acceptance, acceptanceOf } from './acceptance.ts';
import { type FactualAxes, factualAxes } from './action-status.ts';
import type { ActionState, RunState } from './run-state.ts';

export interface Axes extends FactualAxes {
  /** Whether the effect is what was wanted, as it stands now. */
  readonly acceptance: Acceptance;
  readonly result: 'recorded' | 'missing';
  readonly cost: 'known' | 'unknown';
  readonly disputed: boolean;
}

export function axesOf(run: RunState, action: ActionState): Axes {
  return {
    ...factualAxes(action),
    acceptance: acceptanceOf(run, action),
    result: action.final?.resultRef ? 'recorded' : 'missing',
    cost: costIsKnown(action) ? 'known' : 'unknown',
    disputed: action.disputed,
  };
}

/** An attempt that provably had no effect has cost nothing at its receiver. */
function costIsKnown(action: ActionState): boolean {
  return action.attempts.every(({ settled, exclusion }) =>
    settled === null ? exclusion === 'proved' : settled.cost.kind !== 'unknown',
  );
}
