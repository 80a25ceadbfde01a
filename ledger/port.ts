// The ledger's port. A storage adapter keeps facts; what facts mean is decided in core.
//
// Contract (checked by `conformance.ts`, which any adapter can run):
// INV-1 `transact` is one serializable transaction over the run it names and over `twins`: no other
//       writer's commit falls between what `decide` saw and what it wrote.
// INV-2 When `transact` resolves, its facts, gate rows and payloads survive SIGKILL and power loss.
//       A buffered write voids every promise of the product.
// INV-3 When it throws, everything or nothing was written; the caller does not know which, unless
//       the error says `nothingWritten`.
// INV-4 Facts of a run are numbered 1, 2, 3 … and each carries the digest of the previous one's
//       exact bytes; the head (count, hash) is stored apart from them and checked on every read.
// INV-5 An attempt has at most one gate row, for ever (unique in the store, not only in `decide`).
// INV-6 Ledger time never steps back within an incarnation; `clockSteppedBack` tells that the
//       machine's clock did.
// INV-7 Facts are never changed or deleted. Payload bytes go only by `payload_erased`.

import type { Decision, LedgerIdentity, LedgerView } from '../core/decision.ts';
import type { Digest } from '../core/digest.ts';
import type { Fact, Head } from '../core/facts.ts';
import type { RunState } from '../core/run-state.ts';

export type {
  Decision,
  GateRow,
  LedgerIdentity,
  LedgerView,
  NewPayload,
  Twin,
} from '../core/decision.ts';

/** What a decision needs to see besides the run. */
export interface Look {
  readonly runId: string;
  /** Its gate row is looked up. */
  readonly attemptId?: string;
  /** Its newest closed row outside the chain is looked up. */
  readonly actionId?: string;
  readonly intentDigest?: Digest;
  /** A head the caller was given earlier: does this chain contain it? */
  readonly pin?: Head;
}

export interface Committed<T> {
  readonly reply: T;
  readonly head: Head;
  readonly ledger: LedgerIdentity;
  /** The run's state after the transaction. */
  readonly run: RunState;
  readonly at: number;
}

export interface RunLine {
  readonly runId: string;
  readonly head: Head;
  readonly lastFactAt: number;
  readonly ended: boolean;
  /** Actions that somebody is asked about, and those with two outcomes that contradict. */
  readonly inDoubt: number;
  readonly disputed: number;
  /** Actions that wait for an approval, and those the budget did not let in. */
  readonly waiting: number;
}

export interface Ledger {
  readonly identity: LedgerIdentity;
  /**
   * `decide` is pure and synchronous; if it throws, nothing is written and the error comes back.
   */
  transact<T>(look: Look, decide: (view: LedgerView) => Decision<T>): Promise<Committed<T>>;
  /** The folded run with its chain checked; `head.count` 0 when the ledger has no such run. */
  read(runId: string): Promise<RunState>;
  /** In order of `seq`. */
  facts(runId: string, range: { after: number; limit: number }): Promise<Fact[]>;
  payload(digest: Digest): Promise<Uint8Array | null>;
  /** Newest first. */
  runs(limit: number): Promise<RunLine[]>;
  close(): Promise<void>;
}

export type LedgerErrorCode =
  | 'unavailable'
  | 'full'
  | 'read_only'
  | 'missing'
  | 'corrupt'
  | 'newer_schema'
  | 'network_file_system'
  | 'other_host'
  | 'rule_violation'
  | 'payload_too_large';

/** Names what, which file or run, and what to do. */
export class LedgerError extends Error {
  override readonly name = 'LedgerError';
  readonly code: LedgerErrorCode;
  /** True only where the store surely rolled back; never guessed from a lost reply. */
  readonly nothingWritten: boolean;
  constructor(
    code: LedgerErrorCode,
    message: string,
    options: { nothingWritten: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.nothingWritten = options.nothingWritten;
  }
}
