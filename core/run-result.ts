// What a run answers: computed from the facts, in the transaction that ends it or any time after.

import { isAcceptedOnly } from './action-status.ts';
import { costsOf } from './attempt-costs.ts';
import { addCost, type CostTotal, costText, zeroTotal } from './cost.ts';
import type { End, PayloadRef } from './fact-fields.ts';
import { openUnknowns } from './fact-rules.ts';
import { hasEffectBy } from './finality.ts';
import { limits } from './limits.ts';
import type { EffectLine, RunResult } from './outcome.ts';
import type { ActionState, RunState } from './run-state.ts';

export function runResultOf(
  run: RunState,
  ending: { readonly end: End; readonly answer: PayloadRef | null },
): RunResult {
  const unknownIds = new Set(openUnknowns(run));
  const lines = [...run.actions.values()].flatMap((action) => lineOf(action, unknownIds));
  const effects = lines.filter(({ outcome }) => effectKinds.has(outcome));
  const unknowns = lines.filter(({ actionId }) => unknownIds.has(actionId));
  const late = new Set([...run.actions.values()].filter(isLate).map(({ actionId }) => actionId));
  const lateFacts = lines.filter(({ actionId }) => late.has(actionId));
  const cost = totalCost(run);
  return {
    runId: run.runId,
    end: ending.end,
    answer: ending.answer,
    effects: effects.slice(0, limits.resultListMax),
    effectsCount: effects.length,
    unknowns: unknowns.slice(0, limits.resultListMax),
    unknownsCount: unknowns.length,
    lateFacts: lateFacts.slice(0, limits.resultListMax),
    lateFactsCount: lateFacts.length,
    cost,
    costText: costText(cost),
    undone: false,
  };
}

/** Every attempt counts; an unsettled one has unknown cost where it may be billed. */
export function totalCost(run: RunState): CostTotal {
  let total = zeroTotal;
  for (const action of run.actions.values()) {
    for (const cost of costsOf(action)) total = addCost(total, cost);
  }
  return total;
}

const effectKinds: ReadonlySet<string> = new Set([
  'executed',
  'executed_result_missing',
  'partial',
]);

function isLate(action: ActionState): boolean {
  return action.attempts.some((attempt) => attempt.late);
}

/** Reads and model calls have no line: they have no effect. */
function lineOf(action: ActionState, unknownIds: ReadonlySet<string>): EffectLine[] {
  const entry = action.attempts[0]?.entry;
  if (entry?.replay !== 'keyed' && entry?.replay !== 'never') return [];
  const compensation = hasEffectBy(action.final) ? entry.compensation : undefined;
  return [
    {
      actionId: action.actionId,
      tool: entry.binding.tool,
      outcome: outcomeWord(action, unknownIds),
      externalId: action.final?.externalId ?? null,
      authRevision: entry.revisions.auth,
      ...(compensation === undefined ? {} : { compensation }),
    },
  ];
}

function outcomeWord(action: ActionState, unknownIds: ReadonlySet<string>): EffectLine['outcome'] {
  const kind = action.final?.kind;
  if (kind !== undefined) return kind === 'refused' ? 'not_executed' : kind;
  if (isAcceptedOnly(action)) return 'accepted';
  return unknownIds.has(action.actionId) ? 'unknown' : 'not_executed';
}
