// A ledger by its configured location: what compositions and clients open.

import type { LedgerLocation } from '../core/config-table.ts';
import type { Ledger } from './port.ts';
import { openSqliteLedger } from './sqlite-ledger.ts';

/** Throws LedgerError; `create: false` never makes a ledger where there is none. */
export function openLedger(
  location: LedgerLocation,
  { create }: { create: boolean },
): Promise<Ledger> {
  return openSqliteLedger({ path: location.path, create });
}
