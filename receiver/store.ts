// The receiver's store as a port: what both dialects promise, and the transaction that an effect
// sees. Does not own: connections, schema, what is written.
//
// INV-1  Verdict, effect, record and log of a request are one transaction.
// INV-2  A COMMIT that failed proves nothing unless the store says so: `commit_unknown`.
// INV-3  A transaction handle is dead once its body has ended, also by its deadline.

import type { EffectTx, SqlRow, SqlValue, TableWords } from './operation.ts';

export type Committed<T> =
  | { readonly kind: 'committed'; readonly value: T }
  /** Somebody else held what was needed for too long. Nothing was changed. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'rolled_back'; readonly error: unknown }
  | { readonly kind: 'commit_unknown'; readonly error: unknown };

/** Row locks of the dialect, appended to a SELECT; '' where one writer is alone anyway. */
export interface Locks {
  readonly operation: string;
  /** Held to the end of the effect, so that a fence waits for it (B3); readers do not starve it. */
  readonly fence: string;
}

export interface Tx extends EffectTx {
  readonly locks: Locks;
  /** Runs `body` so that its writes alone can be undone. A throw dooms the whole transaction. */
  nested<T>(body: () => Promise<T>, undo: (value: T) => boolean): Promise<T>;
}

export interface Store {
  /** True: what is waited for is a row. False: the whole store, whoever holds it. */
  readonly locksRows: boolean;
  /** Never rejects; `body` may: then everything is rolled back. */
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<Committed<T>>;
  /** One consistent look. Rejects when the store is down. */
  read<T>(body: (tx: EffectTx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface StoreSettings {
  /** Waiting for others: for a turn, a lock or a free connection. */
  readonly busyTimeoutMs: number;
  /** The longest that one transaction may stay open, effect included. */
  readonly transactionMs: number;
  /** Called with each statement's text before it runs, and awaited. */
  readonly trace?: ((sql: string) => void | Promise<void>) | undefined;
  /** CREATE TABLE IF NOT EXISTS …, run when the store is opened. */
  readonly tables: (words: TableWords) => readonly string[];
}

/** What a dialect gives; one statement at a time, errors of the driver pass through. */
export interface RawTx {
  readonly dialect: TableWords['dialect'];
  readonly locks: Locks;
  run(sql: string, values: readonly SqlValue[]): Promise<{ readonly changes: number }>;
  all(sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  get(sql: string, values: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /** Several statements at once, without values; what the last one was, where that is known. */
  exec(sql: string): Promise<string>;
}

/** Runs `body` in the open transaction and waits for every statement that it started. */
export async function runBody<T>(
  raw: RawTx,
  body: (tx: Tx) => Promise<T>,
  limitMs: number,
): Promise<T> {
  const handle = openHandle(raw);
  try {
    const value = await within(body(handle.tx), limitMs);
    await handle.settled();
    return value;
  } finally {
    handle.end();
  }
}

/** What would end the transaction, or a part of it, behind the receiver's back. */
const CONTROL = /^\s*(begin|start|commit|end|rollback|abort|savepoint|release|prepare)\b/i;

async function refuse(sql: string): Promise<never> {
  throw new Error(`an effect does not end its transaction: ${sql}`);
}

function openHandle(raw: RawTx) {
  const pending = new Set<Promise<unknown>>();
  let over = false;
  let failure: { readonly error: unknown } | null = null;
  const through = async <R>(sql: string, statement: () => Promise<R>): Promise<R> => {
    if (over) throw new Error('the transaction is over; await every call inside the effect');
    const running = CONTROL.test(sql) ? refuse(sql) : statement();
    pending.add(running);
    try {
      return await running;
    } catch (error) {
      failure ??= { error };
      throw error;
    } finally {
      pending.delete(running);
    }
  };
  const settled = async (): Promise<void> => {
    while (pending.size > 0) await Promise.allSettled(pending);
    if (failure !== null) throw failure.error;
  };
  const tx: Tx = {
    dialect: raw.dialect,
    locks: raw.locks,
    run: (sql, ...values) => through(sql, () => raw.run(sql, values)),
    get: (sql, ...values) => through(sql, () => raw.get(sql, values)),
    all: (sql, ...values) => through(sql, () => raw.all(sql, values)),
    async nested(body, undo) {
      await raw.exec('SAVEPOINT effect');
      const value = await body();
      if (undo(value)) {
        await settled().catch(() => undefined); // undone with everything else of the body
        await raw.exec('ROLLBACK TO SAVEPOINT effect');
        failure = null;
      } else await settled();
      await raw.exec('RELEASE SAVEPOINT effect');
      return value;
    },
  };
  const end = () => {
    over = true;
  };
  return { tx, settled, end };
}

async function within<T>(body: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`the transaction was open for more than ${limitMs} ms`);
    timer = setTimeout(() => reject(error), limitMs);
  });
  try {
    return await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
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
