// What the file system's refusals mean, before a store is open.

import { LedgerError, type LedgerErrorCode } from './port.ts';

const meanings: Readonly<Record<string, LedgerErrorCode>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
};

/** Errors of the file system become LedgerErrors; others stay as they are. */
export function fileError(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const code = meanings[(error as NodeJS.ErrnoException).code ?? ''] ?? 'unavailable';
  return new LedgerError(
    code,
    `ledger ${path}: ${error.message}; check the directory and its permissions`,
    { nothingWritten: true, cause: error },
  );
}
