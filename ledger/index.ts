// `holdfast/ledger`: the ledger as compositions use it. Adapters of others: `conformance.ts`.

export {
  type ExportBytes,
  type ExportReading,
  exportRun,
  readExport,
} from './export.ts';
export { type Host, thisHost } from './host.ts';
export { openLedger } from './open.ts';
export {
  type Committed,
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
  type Look,
  type RunLine,
} from './port.ts';
export {
  bumpIncarnation,
  openSqliteLedger,
  type SqliteLedgerOptions,
  type SqliteSurroundings,
} from './sqlite-ledger.ts';
