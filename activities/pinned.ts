// A transaction on the ledger that the run's history has seen, and on no other.

import type { LedgerPin } from '../core/activity-calls.ts';
import type { Decision, LedgerView } from '../core/decision.ts';
import { onPinned } from '../core/pin.ts';
import type { Committed, Ledger, Look } from '../ledger/port.ts';

/** Throws OtherLedgerError, with nothing written. */
export function transactPinned<T>(
  ledger: Ledger,
  { runId, pin }: { readonly runId: string; readonly pin: LedgerPin | null },
  look: Pick<Look, 'actionId' | 'attemptId'>,
  decide: (view: LedgerView) => Decision<T>,
): Promise<Committed<T>> {
  const pinned = pin === null ? {} : { pin: pin.head };
  return ledger.transact({ runId, ...look, ...pinned }, onPinned({ runId, pin }, decide));
}
