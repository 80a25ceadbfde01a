// What a caller is told. Three closed unions: the answer to a request, to an inquiry, to a closing.

import type { Digest, Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';

export interface Executed {
  readonly kind: 'executed';
  /** Absent when the operation has no result; `null` is a result. */
  readonly result?: Json | undefined;
  readonly externalId: string;
  readonly objectVersion?: string | undefined;
}

/** The receiver's business decision against the operation; final for this key (A11). */
export interface Rejected {
  readonly kind: 'rejected';
  readonly code: string;
  readonly message: string;
}

export type Answer =
  | (Executed & { readonly replayed: boolean })
  | (Rejected & { readonly replayed: boolean })
  /** The key belongs to another payload. Nothing was stored, nothing of the first is shown. */
  | { readonly kind: 'key_reused' }
  /** Another request with this key is at work. */
  | { readonly kind: 'in_progress'; readonly retryAfterMs: number }
  /** This request held the claim and lost it by time to another one, which is asked by the key. */
  | { readonly kind: 'lease_expired'; readonly detail: string; readonly retryAfterMs: number }
  /** Executed or not: the receiver itself cannot tell (foreign effect, failed commit). */
  | { readonly kind: 'unknown'; readonly detail: string }
  /** Refused for ever up to `through`; null: the whole key. Definitely not executed. */
  | { readonly kind: 'closed'; readonly through: SendToken | null }
  /** A newer epoch owns the scope. Definitely not executed; stop, do not retry. */
  | { readonly kind: 'fenced'; readonly epoch: number }
  /** Too old to tell new from forgotten (A10): whether it was executed is not known here. */
  | { readonly kind: 'outside_window'; readonly retentionMs: number }
  | { readonly kind: 'invalid'; readonly detail: string }
  /** Store down or busy, or the handler threw: rolled back or never begun. */
  | { readonly kind: 'not_taken'; readonly detail: string; readonly retryAfterMs: number };

export type AnswerKind = Answer['kind'];

/** Of the payload that the key belongs to, so that the asker sees whether it is the right one. */
export interface Belonging {
  /** Canonical input (RFC 8785) as it came; absent in records of schema 1. */
  readonly digest?: Digest | undefined;
  /** What the caller called its payload, where it said so. */
  readonly payloadDigest?: Digest | undefined;
}

type Recorded =
  | Executed
  | Rejected
  | { readonly kind: 'processing'; readonly retryAfterMs: number }
  | { readonly kind: 'unknown'; readonly detail: string };

type Unanswered =
  /** A newer epoch owns the scope that the asker named: what it learns is not for it to act on. */
  | { readonly kind: 'fenced'; readonly epoch: number }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfterMs: number };

/** A plain look. `no_record` is not "not executed": the request may still arrive. */
export type Inquiry = (Recorded & Belonging) | { readonly kind: 'no_record' } | Unanswered;

/** A look that closes the door (A13): `not_executed` holds for ever, up to the token given. */
export type Closing =
  | ((Executed | Rejected) & Belonging)
  | { readonly kind: 'not_executed'; readonly closed: true; readonly through: SendToken | null }
  | ({ readonly kind: 'in_flight'; readonly retryAfterMs: number } & Belonging)
  | Unanswered;

export type Fencing =
  /** Every request of an older epoch has committed and is visible, or never will (B5). */
  | { readonly kind: 'fenced'; readonly epoch: number }
  /** A newer epoch holds the scope already; the caller is the stale one. */
  | { readonly kind: 'stale'; readonly epoch: number }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfterMs: number };
