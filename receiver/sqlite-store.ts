// The receiver's store in a SQLite file.
//
// Owns: connection, the order of this process's transactions. Several processes may share a file.
//
// INV-1  One writer: every transaction is BEGIN IMMEDIATE, and those of one store take turns, so
//        that an effect that awaits lets nobody in between. Waiting blocks no event loop.
// INV-2  synchronous = FULL: an answer leaves only after its commit is on the disk.
// INV-3  A file of a newer schema is refused.

import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { receiverLimits } from './limits.ts';
import type { SqlRow } from './operation.ts';
import { fromVersion1, SCHEMA_VERSION, schemaOf, sqliteWords } from './schema.ts';
import {
  type Committed,
  type RawTx,
  runBody,
  type Store,
  type StoreSettings,
  type Tx,
} from './store.ts';
import { turns } from './turns.ts';

/** Throws when the file cannot be opened, is of a newer schema or refuses WAL. */
export function openSqliteStore(path: string, settings: StoreSettings): Store {
  const db = new Database(path, { timeout: settings.busyTimeoutMs });
  try {
    prepareFile(db, path, settings.tables(sqliteWords));
  } catch (error) {
    db.close();
    throw error;
  }
  // Whoever else writes is waited for by looking again, not inside the call.
  db.pragma('busy_timeout = 0');
  return storeOf(db, settings);
}

function prepareFile(db: Database.Database, path: string, tables: readonly string[]): void {
  const mode = db.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new Error(`receiver store ${path}: no WAL (${mode}); use a local file`);
  db.pragma('synchronous = FULL');
  const migrate = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version > SCHEMA_VERSION)
      throw new Error(
        `receiver store ${path}: schema ${version} is newer than ${SCHEMA_VERSION}; upgrade`,
      );
    if (version === 0) db.exec(schemaOf(sqliteWords));
    if (version === 1) db.exec(fromVersion1);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
    for (const sql of tables) db.exec(sql);
  });
  migrate.immediate();
}

function storeOf(db: Database.Database, settings: StoreSettings): Store {
  const takeTurn = turns(settings.busyTimeoutMs);
  const raw = rawOf(db, settings.trace);
  const open: Open = { db, raw, settings };
  return {
    locksRows: false,
    async transaction(body) {
      const done = await takeTurn();
      if (done === null) return { kind: 'busy' };
      try {
        return await immediate(open, body);
      } finally {
        done();
      }
    },
    async read(body) {
      const done = await takeTurn();
      if (done === null) throw new Error('the store is busy with an effect; ask again');
      try {
        await begin(open, 'BEGIN');
        return await runBody(raw, body, settings.transactionMs);
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK');
        done();
      }
    },
    close: async () => void db.close(),
  };
}

interface Open {
  readonly db: Database.Database;
  readonly raw: RawTx;
  readonly settings: StoreSettings;
}

/** Throws SQLITE_BUSY once others have written for the whole time. */
async function begin({ raw, settings }: Open, sql: string): Promise<void> {
  const until = performance.now() + settings.busyTimeoutMs;
  for (;;) {
    try {
      await raw.exec(sql);
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await pause(receiverLimits.busyPollMs);
  }
}

/** Statements are run by the call itself, so that a body that awaits nothing else is not split. */
function rawOf(db: Database.Database, trace: StoreSettings['trace']): RawTx {
  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const traced = async <T>(sql: string, act: () => T): Promise<T> => {
    if (trace !== undefined) await trace(sql);
    return act();
  };
  return {
    dialect: 'sqlite',
    locks: { operation: '', fence: '' },
    run: (sql, values) => traced(sql, () => prepared(sql).run(...values)),
    all: (sql, values) => traced(sql, () => prepared(sql).all(...values) as readonly SqlRow[]),
    get: (sql, values) => traced(sql, () => prepared(sql).get(...values) as SqlRow | undefined),
    exec: (sql) =>
      traced(sql, () => {
        db.exec(sql);
        return '';
      }),
  };
}

async function immediate<T>(open: Open, body: (tx: Tx) => Promise<T>): Promise<Committed<T>> {
  const { db, raw, settings } = open;
  let value: T;
  try {
    await begin(open, 'BEGIN IMMEDIATE');
    value = await runBody(raw, body, settings.transactionMs);
  } catch (error) {
    // Some errors (disk full) have rolled back already; ROLLBACK would then throw for nothing.
    if (db.inTransaction) db.exec('ROLLBACK');
    return isBusy(error) ? { kind: 'busy' } : { kind: 'rolled_back', error };
  }
  try {
    await raw.exec('COMMIT');
    return { kind: 'committed', value };
  } catch (error) {
    // Still open: it did not begin to commit (a deferred constraint), and now never will.
    const refused = db.inTransaction;
    if (refused) db.exec('ROLLBACK');
    if (isBusy(error)) return { kind: 'busy' };
    return { kind: refused ? 'rolled_back' : 'commit_unknown', error };
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
