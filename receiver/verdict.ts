// What a request gets, as one ordered list: first match wins. The order is the contract.

import type { Digest } from '../core/digest.ts';
import { compareSendTokens, type SendToken } from '../core/ids.ts';

export type RecordState = 'processing' | 'unknown' | 'not_executed' | 'executed' | 'rejected';

/** Closed up to a token, or (null) the whole key. */
export interface ClosedThrough {
  readonly through: SendToken | null;
}

export interface Situation {
  readonly record: {
    readonly digest: Digest;
    readonly state: RecordState;
    readonly changedAt: number;
  } | null;
  readonly closed: ClosedThrough | null;
  /** Epoch that holds the request's fence scope; null: no scope or no fence. */
  readonly fenceEpoch: number | null;
  readonly digest: Digest;
  readonly token: SendToken | null;
  readonly firstSentAt: number | null;
  readonly now: number;
  readonly retentionMs: number;
  readonly clockSkewMs: number;
  readonly claimLeaseMs: number;
  /** The operation exists here in this version. */
  readonly served: boolean;
  /** The service behind the operation de-duplicates, so a lost claim may be taken over. */
  readonly takeover: boolean;
  readonly inputProblem: string | null;
}

export type Verdict =
  | 'key_reused'
  | 'replay_executed'
  | 'replay_rejected'
  | 'in_progress'
  | 'unknown'
  | 'closed'
  | 'fenced'
  | 'from_the_future'
  | 'outside_window'
  | 'unsupported'
  | 'input_invalid'
  | 'execute';

/** In order of precedence; docs and tests keep this order. */
export const verdicts: readonly (readonly [Verdict, (at: Situation) => boolean])[] = [
  // Before all else, so that no state shows anything of another payload's outcome (A3).
  ['key_reused', (at) => at.record !== null && at.record.digest !== at.digest],
  // Before closed and fenced: what is executed is told, and "refused" must mean not executed.
  ['replay_executed', (at) => at.record?.state === 'executed'],
  ['replay_rejected', (at) => at.record?.state === 'rejected'],
  ['in_progress', (at) => at.record?.state === 'processing' && !leaseOver(at)],
  ['unknown', (at) => unresolved(at) && (!at.takeover || isClosed(at) || isFenced(at))],
  ['closed', isClosed],
  ['fenced', isFenced],
  // It would defeat the window: never too old, whenever it arrives.
  ['from_the_future', (at) => at.firstSentAt !== null && at.firstSentAt > at.now + at.clockSkewMs],
  ['outside_window', (at) => at.record === null && isOutside(at)],
  ['unsupported', (at) => !at.served],
  ['input_invalid', (at) => at.inputProblem !== null],
  ['execute', () => true],
];

export function verdictOf(at: Situation): Verdict {
  for (const [verdict, holds] of verdicts) if (holds(at)) return verdict;
  throw new Error('verdicts: the last row always holds');
}

/** A request without a token cannot show that it is newer than what was closed. */
function isClosed(at: Situation): boolean {
  if (at.closed === null) return false;
  if (at.closed.through === null || at.token === null) return true;
  return compareSendTokens(at.token, at.closed.through) <= 0;
}

function isFenced(at: Situation): boolean {
  return at.fenceEpoch !== null && (at.token === null || at.token.epoch < at.fenceEpoch);
}

function isOutside(at: Situation): boolean {
  // A record is gone `retentionMs` after it was made, and the sender's clock may be ahead.
  return at.firstSentAt !== null && at.now - at.firstSentAt >= at.retentionMs - at.clockSkewMs;
}

function leaseOver(at: Situation): boolean {
  return at.record !== null && at.now - at.record.changedAt >= at.claimLeaseMs;
}

function unresolved({ record }: Situation): boolean {
  return record !== null && isUnresolved(record);
}

/** A claim on it did not report, or said that it cannot tell. */
export function isUnresolved({ state }: { readonly state: RecordState }): boolean {
  return state === 'unknown' || state === 'processing';
}
