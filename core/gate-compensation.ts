// The gate's rows on compensation: a new action that undoes the effect of another one of its run
// . It is refused while nobody knows whether there is anything to undo (D12).

import { undecidedAttempts } from './action-status.ts';
import { hasEffectBy, objectVersionOf } from './finality.ts';
import { type EntryAsk, type GateCase, type Row, says } from './gate-case.ts';
import type { ActionState } from './run-state.ts';
import type { GateVerdict } from './verdict.ts';

export const compensationRows = {
  compensates_open: ({ ask, view }) => {
    const original = originalOf({ ask, view });
    if (original === undefined) return null;
    const isKnown = original.final !== null || original.abandoned;
    const undecided = !isKnown && undecidedAttempts(original).length > 0;
    return says(
      original.disputed || undecided,
      `what became of ${original.actionId} is not known yet`,
    );
  },
  nothing_to_compensate: ({ ask, view }) => {
    if (ask.compensates === undefined) return null;
    const original = originalOf({ ask, view });
    return nothingProblem(ask.compensates, original) ?? otherToolProblem(ask, original);
  },
} as const satisfies { readonly [V in GateVerdict]?: Row };

/** Whether the object is still as the effect had left it, where its tool tells the version. */
export function compensatedVersionProblem({ ask, view }: GateCase): string | null {
  const original = originalOf({ ask, view });
  const before = original === undefined ? null : objectVersionOf(original);
  const now = ask.versions?.object;
  if (original === undefined || before === null || now === undefined) return null;
  return says(before !== now, `${original.actionId} left it at ${before}; it is ${now} now`);
}

function originalOf({ ask, view }: Pick<GateCase, 'ask' | 'view'>): ActionState | undefined {
  return ask.compensates === undefined ? undefined : view.run.actions.get(ask.compensates);
}

/** The input names the action, and may name one that the tool knows nothing of. */
function otherToolProblem(
  { undoes, binding }: Pick<EntryAsk, 'undoes' | 'binding'>,
  original: ActionState | undefined,
): string | null {
  const tool = original?.attempts[0]?.entry.binding.tool;
  if (original === undefined || undoes === undefined || tool === undefined) return null;
  return says(
    !undoes.includes(tool),
    `${original.actionId} is one of ${tool}; ${binding.tool} undoes ${undoes.join(', ')}`,
  );
}

function nothingProblem(actionId: string, original: ActionState | undefined): string | null {
  if (original === undefined) return `${actionId} is no action of this run`;
  // What came late all the same is known.
  if (original.abandoned && original.final === null)
    return `${actionId} was abandoned: whether it had an effect stays unknown`;
  return says(!hasEffectBy(original.final), `${actionId} had no effect`);
}
