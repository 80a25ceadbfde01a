// What a service author writes: one operation = a version and either a local effect, run inside the
// transaction that stores its outcome (A4), or a foreign one behind a claim (A5).

import type { Digest, Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';

export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export type Dialect = 'sqlite' | 'postgres';

/** What the two stores spell differently in a CREATE TABLE. */
export interface TableWords {
  readonly dialect: Dialect;
  /** Type of a column that numbers its rows: `id ${serial}`. */
  readonly serial: string;
  /** Type of a whole number of 64 bits. */
  readonly integer: string;
  /** After the closing bracket: `) ${strict};`. */
  readonly strict: string;
}

/**
 * The open transaction. Values stand for `?`, in both stores; in Postgres write `jsonb_exists` for
 * an operator of that name. Await each call: one that is made after the effect has returned throws.
 * After a call that failed only a rejection can still be returned, because it undoes all writes.
 */
export interface EffectTx {
  readonly dialect: Dialect;
  run(sql: string, ...values: readonly SqlValue[]): Promise<{ readonly changes: number }>;
  /** The first row; also of an INSERT … RETURNING. */
  get(sql: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined>;
  all(sql: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

/** Who asks, and the marks an effect must carry so that it can be found from the target (B12). */
export interface EffectContext {
  readonly principal: string;
  readonly domain: string;
  readonly operation: string;
  readonly version: string;
  readonly key: string;
  readonly digest: Digest;
  readonly sendToken: SendToken | null;
  /** Epoch milliseconds of the receiver's clock. */
  readonly at: number;
}

export interface Rejection {
  readonly rejected: { readonly code: string; readonly message: string };
}

export interface Applied {
  /** Left out: the operation has no result. */
  readonly result?: Json | undefined;
  readonly externalId: string;
  readonly objectVersion?: string | undefined;
}

interface OperationBase {
  readonly version: string;
  /** Why this input cannot be taken, or null. Must not throw; nothing is stored for a bad input. */
  problem?(input: Json): string | null;
}

type Awaitable<T> = T | Promise<T>;

export interface LocalOperation extends OperationBase {
  /** Its own tables, `CREATE TABLE IF NOT EXISTS`; run at each open. */
  readonly tables?: string | ((words: TableWords) => string);
  /**
   * May throw: all is rolled back, the answer is `not_taken`. A rejection undoes its writes. Must
   * not ask the receiver itself: on SQLite that waits for the very transaction it runs in.
   */
  apply(tx: EffectTx, input: Json, context: EffectContext): Awaitable<Applied | Rejection>;
  /** What the objects look like now; read-only. */
  observe?(tx: EffectTx): Awaitable<Json>;
}

export interface ForeignContext extends EffectContext {
  /** The receiver's own key for the service behind it, never the caller's (A5). */
  readonly downstreamKey: string;
}

export interface ForeignOperation extends OperationBase {
  /** `keyed`: the service behind de-duplicates by downstreamKey; a lost claim may be taken over. */
  readonly downstream: 'keyed' | 'unkeyed';
  /** A throw is `unknown`; only what is returned is definite. */
  perform(
    input: Json,
    context: ForeignContext,
  ): Promise<Applied | Rejection | { readonly notExecuted: string }>;
}

export type Operation = LocalOperation | ForeignOperation;
export type Operations = Readonly<Record<string, Operation>>;

export function isForeign(operation: Operation): operation is ForeignOperation {
  return 'perform' in operation;
}
