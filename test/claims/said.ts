// What the product says of each operation of a run, from everywhere it says something: the ledger's
// fold, the view that people get, and the run's own result.

import { recordedView } from '../../client/run-view.ts';
import { outcomeOf } from '../../core/action-status.ts';
import type { Axes } from '../../core/axes.ts';
import type { EffectLine, Outcome, RunResult } from '../../core/outcome.ts';
import type { RunState } from '../../core/run-state.ts';
import type { Claim, Said } from './checker.ts';

export function claimsOf(run: RunState, end: RunResult | null): readonly Claim[] {
  const folded = [...run.actions.values()].map((action): Claim => {
    return { op: action.actionId, said: saidBy(outcomeOf(action)), by: 'ledger' };
  });
  const shown = recordedView(run, Date.now()).actions.map(({ actionId, axes }): Claim => {
    return { op: actionId, said: effectWords[axes.effect], by: 'view' };
  });
  return [...folded, ...shown, ...(end === null ? [] : toldBy(end, run))];
}

/** What its lists leave out had no effect, it says. */
function toldBy({ effects, unknowns }: RunResult, run: RunState): readonly Claim[] {
  const said = new Map([...effects, ...unknowns].map((each) => [each.actionId, each.outcome]));
  return [...run.actions.keys()].map((op): Claim => {
    return { op, said: lineWords[said.get(op) ?? 'not_executed'], by: 'result' };
  });
}

function saidBy(outcome: Outcome | null): Said {
  return outcome === null ? 'unknown' : lineWords[outcome.kind];
}

const effectWords: Record<Axes['effect'], Said> = {
  none: 'not_executed',
  partial: 'partial',
  complete: 'executed',
  unknown: 'unknown',
};

const lineWords: Record<EffectLine['outcome'], Said> = {
  executed: 'executed',
  executed_result_missing: 'executed',
  partial: 'partial',
  accepted: 'unknown',
  unknown: 'unknown',
  not_executed: 'not_executed',
};
