// One place with the ledger's tables, and the one way to run a transaction there.
// Owns: begin, commit, rollback and what is certain after each of them.
// Does not own: what is read or written in between.
//
// INV-1 `nothingWritten` is true only when BEGIN failed or ROLLBACK succeeded. A COMMIT that failed
//       proves nothing: its last page may be on the disk and be found by the next recovery.
// INV-2 Waiting for another process's transaction holds up nothing else in this process: heartbeats
//       that come too late make calls unknown which are well under way.
// INV-3 No statement runs in a transaction that an earlier call left open: when ROLLBACK fails, the
//       store is closed for good.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ColumnDataType, type Kysely, type RawBuilder, sql } from 'kysely';
import { limits } from '../core/limits.ts';
import { LedgerError, type LedgerErrorCode } from './port.ts';
import type { Tables } from './tables.ts';

/** What differs between SQL databases; everything else in this room is common to them. */
export interface SqlDialect {
  /** Begins a transaction no other writer can get in between of. */
  readonly beginWrite: string;
  /** Begins a transaction that reads one state throughout. */
  readonly beginRead: string;
  readonly bytesType: ColumnDataType;
  /** Statements that make changes and deletes of the table's rows fail. */
  appendOnly(table: 'fact' | 'gate_row'): readonly RawBuilder<unknown>[];
  /** Another process's transaction is in the way of a BEGIN. */
  isBusy(error: unknown): boolean;
  /** What an error of the driver means; null for errors of other origin. */
  meaningOf(error: unknown): { readonly code: LedgerErrorCode; readonly words: string } | null;
}

export interface SqlStore {
  readonly db: Kysely<Tables>;
  readonly dialect: SqlDialect;
  /** For messages: the file or the address. */
  readonly place: string;
  /** How long another process's transaction is waited for. */
  readonly busyMs: number;
  /** Runs `begin` so that a lock of others is an error at once, which `isBusy` knows. */
  withoutWaiting(begin: () => Promise<unknown>): Promise<void>;
  /** Throws LedgerError when what is open is no longer what stands at `place`. */
  checkPlace(): void;
  /** Whether the connection still has a transaction open. */
  isInTransaction(): boolean;
  close(): Promise<void>;
}

export type Work<T> = (db: Kysely<Tables>) => Promise<T>;

export function writeTransaction<T>(store: SqlStore, work: Work<T>): Promise<T> {
  return transaction(store, store.dialect.beginWrite, work);
}

export function readTransaction<T>(store: SqlStore, work: Work<T>): Promise<T> {
  return transaction(store, store.dialect.beginRead, work);
}

async function transaction<T>(store: SqlStore, begin: string, work: Work<T>): Promise<T> {
  const giveUpAt = performance.now() + store.busyMs;
  for (;;) {
    const done = await store.db.connection().execute(async (db) => {
      try {
        store.checkPlace();
        await store.withoutWaiting(() => sql.raw(begin).execute(db));
      } catch (error) {
        if (store.dialect.isBusy(error) && performance.now() < giveUpAt) return null;
        throw ledgerErrorOf(store, error, { nothingWritten: true });
      }
      return { value: await finished(store, db, work) };
    });
    if (done !== null) return done.value;
    // INV-2: without the connection, so that who waits beside this one waits no longer for it.
    await sleep(limits.ledgerBusyPollMs);
  }
}

/** From BEGIN to COMMIT. */
async function finished<T>(store: SqlStore, db: Kysely<Tables>, work: Work<T>): Promise<T> {
  let value: T;
  try {
    value = await work(db);
  } catch (error) {
    await rollBack(store, db);
    throw ledgerErrorOf(store, error, { nothingWritten: true });
  }
  try {
    await sql.raw('commit').execute(db);
  } catch (error) {
    await rollBack(store, db);
    throw ledgerErrorOf(store, error, { nothingWritten: false });
  }
  return value;
}

async function rollBack(store: SqlStore, db: Kysely<Tables>): Promise<void> {
  if (!store.isInTransaction()) return;
  try {
    await sql.raw('rollback').execute(db);
  } catch (cause) {
    await store.close();
    throw new LedgerError(
      'unavailable',
      `ledger ${store.place}: a failed transaction could not be rolled back (${String(cause)}); ` +
        'this connection is closed: open the ledger again and read what is there',
      { nothingWritten: false, cause },
    );
  }
}

/** Errors of the driver become LedgerErrors; others, such as those of `decide`, stay so. */
export function ledgerErrorOf(
  store: Pick<SqlStore, 'dialect' | 'place'>,
  error: unknown,
  { nothingWritten }: { nothingWritten: boolean },
): unknown {
  const meaning = store.dialect.meaningOf(error);
  if (meaning === null) return error;
  return new LedgerError(meaning.code, `ledger ${store.place}: ${meaning.words}`, {
    nothingWritten,
    cause: error,
  });
}
