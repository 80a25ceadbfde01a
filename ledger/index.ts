// The ledger as other rooms use it.

export { exportRun, readExport } from './export.ts';
export { thisHost } from './host.ts';
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
