// Whether a ledger is the one that a run's history has seen. On any other nothing is closed and
// nothing written: what is not in it proves nothing.

import type { LedgerPin } from './activity-calls.ts';
import type { Decision, LedgerView } from './decision.ts';

/** Why it is not, in words, or null. The view must have been looked at with the pin's head. */
export function pinProblem(pin: LedgerPin, { ledger, pinHolds }: LedgerView): string | null {
  const same = ledger.id === pin.id && ledger.incarnation === pin.incarnation && pinHolds;
  if (same) return null;
  const pinned = `history pinned ledger ${pin.id}/${pin.incarnation} at fact ${pin.head.count}`;
  return `${pinned}; this is ${ledger.id}/${ledger.incarnation}`;
}

/** The ledger was restored since it last opened the run: what the run did meanwhile may be lost. */
export function restoredProblem({ ledger, run }: LedgerView): string | null {
  const before = run.opened?.ledger;
  if (before === undefined) return null;
  if (ledger.id === before.id && ledger.incarnation === before.incarnation) return null;
  return (
    `opened in ${before.id}/${before.incarnation}, ` +
    `and this is ${ledger.id}/${ledger.incarnation}: ` +
    'what was done in between may not be in it'
  );
}

/** A ledger that was never restored has all that it was ever told. */
export function mayLack({ ledger }: LedgerView): boolean {
  return ledger.incarnation > FIRST_INCARNATION;
}

const FIRST_INCARNATION = 1;

export class OtherLedgerError extends Error {
  override readonly name = 'OtherLedgerError';
}

/** `decide`, on the pinned ledger alone. Throws OtherLedgerError; null: none is pinned yet. */
export function onPinned<T>(
  { runId, pin }: { readonly runId: string; readonly pin: LedgerPin | null },
  decide: (view: LedgerView) => Decision<T>,
): (view: LedgerView) => Decision<T> {
  return (view) => {
    const problem = pin === null ? null : pinProblem(pin, view);
    if (problem === null) return decide(view);
    throw new OtherLedgerError(
      `run ${runId}: ${problem}; nothing was written. Put the right ledger back, or restore a ` +
        `copy of it, then use "holdfast resume ${runId}"`,
    );
  };
}
