// What a decision sees of the ledger and what it wants written. Decisions are pure functions from a
// LedgerView; the ledger runs them inside one transaction.

import type { Digest } from './digest.ts';
import type { NewFact } from './facts.ts';
import type { RunState } from './run-state.ts';
import type { Refusal } from './verdict.ts';

export interface LedgerIdentity {
  readonly id: string;
  /** Grows by restore and failover: what was written after the copy is not in this ledger. */
  readonly incarnation: number;
}

export type GateRow =
  | {
      readonly kind: 'entered';
      readonly attemptId: string;
      readonly actionId: string;
      readonly entryToken: string;
    }
  | {
      readonly kind: 'closed';
      readonly attemptId: string;
      readonly actionId: string;
      readonly verdict: Refusal;
      /**
       * False for the middle of a streak of `authority_unavailable`: closed, but not in the chain.
       */
      readonly inChain: boolean;
    };

/** Another action with the same intent digest, in any run of this ledger. */
export interface Twin {
  readonly runId: string;
  readonly actionId: string;
  readonly state: 'in_doubt' | 'abandoned';
}

export interface LedgerView {
  readonly ledger: LedgerIdentity;
  /** Ledger time of this transaction, ms since the epoch. */
  readonly now: number;
  readonly clockSteppedBack: boolean;
  readonly run: RunState;
  readonly gateRow: GateRow | null;
  /**
   * The newest closed row of `actionId` that is not in the chain, if it is the action's newest row.
   */
  readonly unchained: (GateRow & { kind: 'closed' }) | null;
  readonly twins: readonly Twin[];
  /** True when no pin was given. */
  readonly pinHolds: boolean;
}

export interface NewPayload {
  readonly digest: Digest;
  readonly bytes: Uint8Array;
}

export interface Decision<T> {
  readonly reply: T;
  readonly facts: readonly NewFact[];
  readonly gateRows?: readonly GateRow[];
  /** Written in the same transaction; one already stored is left alone. */
  readonly payloads?: readonly NewPayload[];
}
