// What a service author writes: one operation = a version and either a local effect, run inside the
// transaction that stores its outcome (A4), or a foreign one behind a claim (A5).

import type { Digest, Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';

export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** The open transaction. Synchronous: an effect that awaits would let others in between. */
export interface EffectTx {
  run(sql: string, ...values: readonly SqlValue[]): { readonly lastId: number };
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[];
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

export interface LocalOperation extends OperationBase {
  /** Its own tables, `CREATE TABLE IF NOT EXISTS`; run at each open. */
  readonly tables?: string;
  /** May throw: all is rolled back, the answer is `not_taken`. A rejection undoes its writes. */
  apply(tx: EffectTx, input: Json, context: EffectContext): Applied | Rejection;
  /** What the objects look like now; read-only. */
  observe?(tx: EffectTx): Json;
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
