// What is SQLite's own: how a transaction begins, and what its errors mean.

import Database from 'better-sqlite3';
import { sql } from 'kysely';
import type { LedgerErrorCode } from './port.ts';
import type { SqlDialect } from './sql-store.ts';

interface Meaning {
  readonly code: LedgerErrorCode;
  readonly advice: string;
}

const unavailable = (advice: string): Meaning => ({ code: 'unavailable', advice });
const corrupt: Meaning = {
  code: 'corrupt',
  advice: 'nothing was changed; keep the file for inspection and restore a copy',
};

/** By longest matching prefix of SQLite's result code; the empty one stands for all that follow. */
export const sqliteMeanings: Readonly<Record<string, Meaning>> = {
  SQLITE_BUSY: unavailable('another process held the ledger too long; try again'),
  SQLITE_LOCKED: unavailable('another connection held the ledger; try again'),
  SQLITE_FULL: { code: 'full', advice: 'free disk space, then try again' },
  SQLITE_READONLY: {
    code: 'read_only',
    advice: 'make the file and its directory writable for this user',
  },
  SQLITE_CANTOPEN: unavailable('check that the file and its directory are readable and writable'),
  SQLITE_PERM: unavailable('check the permissions of the file'),
  SQLITE_AUTH: unavailable('check the permissions of the file'),
  SQLITE_CORRUPT: corrupt,
  SQLITE_NOTADB: corrupt,
  SQLITE_IOERR_CORRUPTFS: corrupt,
  SQLITE_IOERR: unavailable('check the disk and the system log'),
  SQLITE_NOLFS: unavailable('the file system takes no files of this size'),
  SQLITE_NOMEM: unavailable('the process has no memory left; restart it'),
  SQLITE_PROTOCOL: unavailable('the lock protocol failed; try again'),
  SQLITE_CONSTRAINT: {
    code: 'rule_violation',
    advice: 'a unique or append-only row stood against it: this is a bug in the caller',
  },
  SQLITE_TOOBIG: { code: 'payload_too_large', advice: 'send a smaller value' },
  '': unavailable('this answer was not expected; report it'),
};

function meaningOfCode(code: string): Meaning {
  const prefixes = Object.keys(sqliteMeanings).filter((prefix) => code.startsWith(prefix));
  const longest = prefixes.reduce((a, b) => (b.length > a.length ? b : a), '');
  return sqliteMeanings[longest] as Meaning;
}

export const sqliteDialect: SqlDialect = {
  // A deferred BEGIN that turns into a write gives up at once when another process wrote meanwhile.
  beginWrite: 'begin immediate',
  beginRead: 'begin',
  bytesType: 'blob',
  appendOnly: (table) =>
    ['update', 'delete'].map((verb) =>
      sql.raw(
        `create trigger ${table}_no_${verb} before ${verb} on ${table} ` +
          `begin select raise(abort, '${table} rows are append-only'); end`,
      ),
    ),
  isBusy: (error) => error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'),
  meaningOf: (error) => {
    if (!(error instanceof Database.SqliteError)) return null;
    const { code, advice } = meaningOfCode(error.code);
    return { code, words: `${error.message} (${error.code}); ${advice}` };
  },
};
