// The receiver's SQLite file.
//
// Owns: connection, schema, what a failed transaction means. Does not own: what is written.
//
// INV-1  Writers are serialized: every decision and its effect are one BEGIN IMMEDIATE transaction.
// INV-2  A COMMIT that failed proves nothing, except when it was merely busy: `commit_unknown`.
// INV-3  A file of a newer schema is refused.

import Database from 'better-sqlite3';
import type { EffectTx, SqlRow, SqlValue } from './operation.ts';

const SCHEMA_VERSION = 1;
const IDENTITY = `principal TEXT NOT NULL, domain TEXT NOT NULL, operation TEXT NOT NULL,
  version TEXT NOT NULL, key TEXT NOT NULL`;
const TOKEN = 'token_epoch INTEGER, token_number INTEGER';

const SCHEMA = `
CREATE TABLE operation (${IDENTITY}, digest TEXT NOT NULL, state TEXT NOT NULL
    CHECK (state IN ('processing', 'unknown', 'not_executed', 'executed', 'rejected')),
  result TEXT, external_id TEXT, object_version TEXT, rejected_code TEXT, rejected_message TEXT,
  ${TOKEN}, claim_token TEXT, changed_at INTEGER NOT NULL,
  PRIMARY KEY (principal, domain, operation, version, key)) STRICT;
CREATE INDEX operation_by_change ON operation (changed_at);
CREATE TABLE closing (${IDENTITY}, ${TOKEN}, closed_at INTEGER NOT NULL,
  PRIMARY KEY (principal, domain, operation, version, key)) STRICT;
CREATE TABLE fence (principal TEXT NOT NULL, domain TEXT NOT NULL, scope TEXT NOT NULL,
  epoch INTEGER NOT NULL, PRIMARY KEY (principal, domain, scope)) STRICT;
CREATE TABLE effect (seq INTEGER PRIMARY KEY AUTOINCREMENT, ${IDENTITY}, digest TEXT NOT NULL,
  ${TOKEN}, external_id TEXT NOT NULL, object_version TEXT, at INTEGER NOT NULL) STRICT;
CREATE TABLE arrival (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ${IDENTITY},
  digest TEXT, ${TOKEN}, first_sent_at INTEGER, at INTEGER NOT NULL, answer TEXT) STRICT;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

export type Committed<T> =
  | { readonly kind: 'committed'; readonly value: T }
  | { readonly kind: 'busy' }
  | { readonly kind: 'rolled_back'; readonly error: unknown }
  | { readonly kind: 'commit_unknown'; readonly error: unknown };

export interface Store extends EffectTx {
  /** Never throws; `body` may: then everything is rolled back. */
  immediate<T>(body: () => T): Committed<T>;
  /** Runs `body` so that its writes alone can be undone; undone when it returns or throws so. */
  nested<T>(body: () => T, undo: (value: T) => boolean): T;
  script(sql: string): void;
  close(): void;
}

export interface StoreOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  /** Called with each statement's text before it runs, for logs. */
  readonly trace?: ((sql: string) => void) | undefined;
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Throws when the file cannot be opened, is of a newer schema or refuses WAL. */
export function openStore(options: StoreOptions): Store {
  const { trace } = options;
  const db = new Database(options.path, {
    timeout: options.busyTimeoutMs,
    ...(trace === undefined ? {} : { verbose: (sql) => trace(String(sql)) }),
  });
  try {
    prepareFile(db, options.path);
  } catch (error) {
    db.close();
    throw error;
  }
  return storeOf(db);
}

function prepareFile(db: Database.Database, path: string): void {
  const mode = db.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new Error(`receiver store ${path}: no WAL (${mode}); use a local file`);
  // FULL: an answer leaves only after its commit is on the disk.
  db.pragma('synchronous = FULL');
  const migrate = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > SCHEMA_VERSION)
      throw new Error(
        `receiver store ${path}: schema ${version} is newer than ${SCHEMA_VERSION}; upgrade`,
      );
    if (version === 0) db.exec(SCHEMA);
  });
  migrate.immediate();
}

function storeOf(db: Database.Database): Store {
  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  return {
    run: (sql, ...values) => ({ lastId: Number(prepared(sql).run(...values).lastInsertRowid) }),
    get: (sql, ...values) => prepared(sql).get(...values) as SqlRow | undefined,
    all: (sql, ...values) => prepared(sql).all(...values) as readonly SqlRow[],
    immediate: (body) => immediate(db, body),
    nested: (body, undo) => nested(db, body, undo),
    script: (sql) => void db.exec(sql),
    close: () => void db.close(),
  };
}

function immediate<T>(db: Database.Database, body: () => T): Committed<T> {
  let value: T;
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    return isBusy(error) ? { kind: 'busy' } : { kind: 'rolled_back', error };
  }
  try {
    value = body();
  } catch (error) {
    // Some errors (disk full) have rolled back already; ROLLBACK would then throw for nothing.
    if (db.inTransaction) db.exec('ROLLBACK');
    return { kind: 'rolled_back', error };
  }
  try {
    db.exec('COMMIT');
    return { kind: 'committed', value };
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    return isBusy(error) ? { kind: 'busy' } : { kind: 'commit_unknown', error };
  }
}

function nested<T>(db: Database.Database, body: () => T, undo: (value: T) => boolean): T {
  db.exec('SAVEPOINT effect');
  const value = body();
  if (undo(value)) db.exec('ROLLBACK TO effect');
  db.exec('RELEASE effect');
  return value;
}

/** One value of a row as text or null; a missing column is a bug and throws. */
export function text(row: SqlRow, column: string): string | null {
  const value: SqlValue | undefined = row[column];
  if (value === undefined) throw new Error(`store: no column ${column}`);
  return value === null ? null : String(value);
}

export function number(row: SqlRow, column: string): number | null {
  const value = text(row, column);
  return value === null ? null : Number(value);
}
