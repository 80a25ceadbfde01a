// Opening a ledger in a SQLite file: one host, several processes.

import { resolve } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { limits } from '../core/limits.ts';
import { type Host, refuseLiveWriterElsewhere, refuseNetworkFileSystem, thisHost } from './host.ts';
import { identityOf, insertMeta, readMeta, updateMeta } from './meta.ts';
import { migrate, SCHEMA_VERSION } from './migrations.ts';
import { type Ledger, LedgerError, type LedgerIdentity } from './port.ts';
import { SqlLedger } from './sql-ledger.ts';
import { ledgerErrorOf, type SqlStore, writeTransaction } from './sql-store.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { createFile, lookAtFile, missing, placeCheck } from './sqlite-file.ts';
import type { MetaTable, Tables } from './tables.ts';

export interface SqliteLedgerOptions {
  readonly path: string;
  /** Whether a missing file is made. Otherwise it is `missing`: a lost ledger is never replaced. */
  readonly create?: boolean;
}

/** What surrounds the ledger; tests put other things around it. */
export interface SqliteSurroundings {
  readonly host: Host;
  /** How long another process's transaction is waited for. */
  readonly busyMs: number;
  /** Told of each connection once it is set up, e.g. to narrow its limits. */
  onOpen(connection: Database.Database): void;
  /** Told of each statement after it ran. */
  onQuery(query: { readonly sql: string; readonly parameters: readonly unknown[] }): void;
}

const asUsual: SqliteSurroundings = {
  host: thisHost,
  busyMs: limits.ledgerBusyMs,
  onOpen: () => undefined,
  onQuery: () => undefined,
};

/**
 * Throws LedgerError: `missing`, `read_only`, `newer_schema`, `network_file_system`, `other_host`,
 * `corrupt`, `full`, `unavailable`.
 */
export async function openSqliteLedger(
  options: SqliteLedgerOptions,
  surroundings: Partial<SqliteSurroundings> = {},
): Promise<Ledger> {
  const around = { ...asUsual, ...surroundings };
  const path = resolve(options.path);
  await refuseNetworkFileSystem(around.host, path);
  if ((await lookAtFile(path)) === 'absent') {
    if (options.create !== true) throw missing(path);
    await createFile(path, (draft) => fillNew(draft, around));
  }
  const store = openStore(path, around);
  try {
    const meta = await writeTransaction(store, (db) => takePlace(db, path, around.host));
    return new SqlLedger(store, around.host, identityOf(meta));
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * After a copy was put in place: what was written after it was made is not in this ledger, and runs
 * that have seen more notice by the incarnation. Any host may be the next to write. Times as above.
 */
export async function bumpIncarnation(
  path: string,
  surroundings: Partial<SqliteSurroundings> = {},
): Promise<LedgerIdentity> {
  const around = { ...asUsual, ...surroundings };
  const place = resolve(path);
  await refuseNetworkFileSystem(around.host, place);
  if ((await lookAtFile(place)) === 'absent') throw missing(place);
  const store = openStore(place, around);
  try {
    return await writeTransaction(store, async (db) => {
      await refuseForeignFile(db, place);
      const { ledger_id: id, incarnation } = await readMeta(db, place);
      await updateMeta(db, { incarnation: incarnation + 1, writer_boot: null });
      return { id, incarnation: incarnation + 1 };
    });
  } finally {
    await store.close();
  }
}

async function fillNew(path: string, around: SqliteSurroundings): Promise<void> {
  const store = openStore(path, around);
  try {
    await writeTransaction(store, async (db) => {
      await migrate(db, sqliteDialect, 0);
      await insertMeta(db, around.host);
    });
  } finally {
    await store.close();
  }
}

async function takePlace(db: Kysely<Tables>, path: string, host: Host): Promise<MetaTable> {
  await refuseForeignFile(db, path);
  const meta = await readMeta(db, path);
  refuseLiveWriterElsewhere(host, path, meta);
  await migrate(db, sqliteDialect, meta.schema_version);
  await updateMeta(db, { schema_version: SCHEMA_VERSION, writer_boot: host.bootId() });
  return meta;
}

async function refuseForeignFile(db: Kysely<Tables>, path: string): Promise<void> {
  const tables = await db.introspection.getTables();
  if (tables.some((table) => table.name === 'meta')) return;
  throw new LedgerError(
    'corrupt',
    `ledger ${path}: this is an SQLite file but no ledger; name another file or restore a copy`,
    { nothingWritten: true },
  );
}

function openStore(path: string, around: SqliteSurroundings): SqlStore {
  let connection: Database.Database | null = null;
  try {
    connection = new Database(path, { fileMustExist: true, timeout: around.busyMs });
    prepare(connection);
    around.onOpen(connection);
    return storeOver(connection, path, around);
  } catch (error) {
    connection?.close();
    throw ledgerErrorOf({ dialect: sqliteDialect, place: path }, error, { nothingWritten: true });
  }
}

function prepare(connection: Database.Database): void {
  connection.pragma('journal_mode = wal');
  connection.pragma('synchronous = full');
  // macOS flushes the disk's own cache only when told; elsewhere these do nothing.
  connection.pragma('fullfsync = on');
  connection.pragma('checkpoint_fullfsync = on');
  // Erased payloads shall be gone from the file.
  connection.pragma('secure_delete = on');
}

function storeOver(
  connection: Database.Database,
  path: string,
  around: SqliteSurroundings,
): SqlStore {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: connection }),
    log: ({ query }) => around.onQuery({ sql: query.sql, parameters: query.parameters }),
  });
  const checkFile = placeCheck(path);
  return {
    db,
    dialect: sqliteDialect,
    place: path,
    busyMs: around.busyMs,
    withoutWaiting: async (begin) => {
      connection.pragma('busy_timeout = 0');
      try {
        await begin();
      } finally {
        if (connection.open) connection.pragma(`busy_timeout = ${around.busyMs}`);
      }
    },
    checkPlace: () => {
      checkFile();
      if (!connection.open)
        throw new LedgerError('unavailable', `ledger ${path}: it is closed; open it again`, {
          nothingWritten: true,
        });
    },
    isInTransaction: () => connection.inTransaction,
    close: async () => {
      connection.close();
    },
  };
}
