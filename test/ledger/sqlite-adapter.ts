// The SQLite ledger as the conformance checks see it.

import type { LedgerAdapter } from '../../ledger/conformance.ts';
import { thisHost } from '../../ledger/host.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { newPlace, program } from './places.ts';

export const sqliteAdapter: LedgerAdapter = {
  name: 'the SQLite ledger',
  newLocation: newPlace,
  open: (path, clock = thisHost.clock) =>
    openSqliteLedger({ path, create: true }, { host: { ...thisHost, clock } }),
  writerProcess: (location) => program('sqlite-writer', location),
};
