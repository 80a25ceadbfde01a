// What an outbox keeps: one committed intent for each thing that somebody else's service is to do.

import type { Contract, ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import type { EffectTx } from '../operation.ts';
import type { Committed } from '../store.ts';

export interface Intent {
  /** The same for every send, for ever: what the service de-duplicates by, if it does. */
  readonly key: string;
  /** Name of the service, among the outbox's `receivers`. */
  readonly receiver: string;
  /** For whom it is sent; `mayStillSend` is asked about it. */
  readonly principal: string;
  /** The bytes of every send, as text. */
  readonly payload: string;
}

export type IntentState =
  /** Nothing of it can have left. */
  | 'queued'
  /** It may have left, and is being sent or waits to be sent again under the same key. */
  | 'sending'
  | 'executed'
  /** The service said so, or a person did. */
  | 'not_executed'
  /** It was never sent, and will not be; `reason` says why. */
  | 'not_sent'
  /** It may have had its effect. Never sent again until a person says so. */
  | 'unknown'
  /** A person said "not executed", and then its own late receipt came. */
  | 'disputed';

export interface IntentRecord extends Intent {
  readonly state: IntentState;
  readonly reason: string | null;
  /** Times it was about to leave, and how many of them nobody knows the end of. */
  readonly sends: number;
  readonly openSends: number;
  readonly firstSentAt: number | null;
  readonly externalId: string | null;
  readonly result: Json;
  /** Grows with each change; an answer of a person names the one it is based on. */
  readonly version: number;
}

export interface IntentEvent {
  readonly at: number;
  readonly event: string;
  readonly detail: string;
}

/** What came of one send. A throw says nothing: it may have had its effect. */
export type SendOutcome =
  | { readonly kind: 'executed'; readonly externalId?: string; readonly result?: Json }
  /** It says so of this very request; with a time, it is sent again after that. */
  | { readonly kind: 'not_executed'; readonly reason: string; readonly againAfterMs?: number };

export interface Sending extends Intent {
  /** 1 for the first send of the key. */
  readonly send: number;
  readonly firstSentAt: number;
  readonly signal: AbortSignal;
  /** Call right before the first byte leaves; throws NotSentError when it has become too late. */
  beforeSend(): void;
}

export interface OutboxReceiver {
  /** What the service promises. Without scope, identity and retention it is sent to only once. */
  readonly contract?: ContractInput;
  send(sending: Sending): Promise<SendOutcome>;
}

export type MaySend =
  | { readonly kind: 'yes' }
  /** For good: the intent stays as a fact and is not sent. */
  | { readonly kind: 'revoked'; readonly reason: string };

/** A database of the author's own; `Store` is one. */
export interface OutboxStore {
  /** Never rejects; `body` may: then everything is rolled back. */
  transaction<T>(body: (tx: EffectTx) => Promise<T>): Promise<Committed<T>>;
}

export interface Checked extends OutboxReceiver {
  readonly contract: Contract;
}
