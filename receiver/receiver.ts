// The reference receiver as a library.
//
// Owns: the store file, what it de-duplicates, its own logs. Does not own: transport, the clock,
// authentication (the principal is taken as given).
//
// INV-1  At most one effect per identity, as long as its record lives.
// INV-2  Nothing is removed but by sweep(), and never what is not final (A8, A10).
// INV-3  A closing lives at least as long as a record made at the same time (A14).

import { randomUUID } from 'node:crypto';
import type { Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Answer, Closing, Fencing, Inquiry } from './answer.ts';
import { type Arrival, readArrivals } from './arrivals.ts';
import { executeRequest } from './execution.ts';
import { close, type FenceRequest, fence, inquire } from './inquiry.ts';
import { receiverLimits } from './limits.ts';
import { isForeign, type Operations } from './operation.ts';
import { type Effect, readEffects } from './records.ts';
import type { Identity, OperationRequest } from './request.ts';
import { errorText, operationOf, type Site } from './site.ts';
import { openStore, type Store } from './store.ts';

export interface ReceiverOptions {
  /** SQLite file on a local disk; made when missing. Several processes may share it. */
  readonly path: string;
  readonly operations: Operations;
  /** Region or installation name; records of different domains never meet. */
  readonly domain?: string;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  readonly retentionMs?: number;
  readonly clockSkewMs?: number;
  readonly claimLeaseMs?: number;
  readonly busyTimeoutMs?: number;
  /** Fresh and unguessable for each claim. */
  readonly newClaim?: () => string;
  /** Called with each SQL text before it runs. */
  readonly trace?: (sql: string) => void;
}

export interface Capabilities {
  readonly domain: string;
  readonly operations: Readonly<Record<string, { readonly version: string }>>;
  /** ISO 8601; absent anywhere means: assume no idempotency. */
  readonly idempotency_key_lifetime: string;
  readonly inquiry: 'read_your_writes';
  readonly closing: 'by_token';
  readonly fencing: 'by_scope';
  readonly first_sent_at: 'checked';
}

export interface Receiver {
  /** Never rejects. */
  execute(request: OperationRequest): Promise<Answer>;
  inquire(identity: Identity): Inquiry;
  /** Refuses every token up to `sendToken` from now on; without one, the whole key. */
  close(identity: Identity, sendToken?: SendToken): Closing;
  fence(request: FenceRequest): Fencing;
  /** Forgets what became final longer ago than the retention; returns how many records went. */
  sweep(): number;
  /** What the objects behind an operation look like; undefined where there is nothing to see. */
  observe(operation: string): Json | undefined;
  effects(): readonly Effect[];
  requests(): readonly Arrival[];
  capabilities(): Capabilities;
  /** Closes the store. Requests at work are answered `not_taken` or `unknown`. */
  shutdown(): void;
}

/** Throws when the store cannot be opened, is of a newer schema, or an option makes no sense. */
export function openReceiver(options: ReceiverOptions): Receiver {
  const retentionMs = options.retentionMs ?? receiverLimits.retentionMs;
  const clockSkewMs = options.clockSkewMs ?? receiverLimits.clockSkewMs;
  if (!(clockSkewMs < retentionMs))
    throw new Error(`clockSkewMs ${clockSkewMs} must be below retentionMs ${retentionMs}`);
  const store = openStore({
    path: options.path,
    busyTimeoutMs: options.busyTimeoutMs ?? receiverLimits.busyTimeoutMs,
    trace: options.trace,
  });
  const site: Site = {
    store,
    operations: options.operations,
    domain: options.domain ?? 'local',
    clock: options.clock ?? Date.now,
    newClaim: options.newClaim ?? randomUUID,
    retentionMs,
    clockSkewMs,
    claimLeaseMs: options.claimLeaseMs ?? receiverLimits.claimLeaseMs,
    retryAfterMs: receiverLimits.retryAfterMs,
  };
  makeTables(store, options.operations);
  return {
    execute: (request) => executeRequest(site, request),
    inquire: (identity) => inquire(site, identity),
    close: (identity, sendToken) => close(site, identity, sendToken),
    fence: (request) => fence(site, request),
    sweep: () => sweep(site),
    observe: (operation) => observe(site, operation),
    effects: () => readEffects(store),
    requests: () => readArrivals(store),
    capabilities: () => capabilitiesOf(site),
    shutdown: () => store.close(),
  };
}

function makeTables(store: Store, operations: Operations): void {
  const made = store.immediate(() => {
    for (const operation of Object.values(operations))
      if (!isForeign(operation) && operation.tables !== undefined) store.script(operation.tables);
  });
  if (made.kind === 'committed') return;
  store.close();
  const why = made.kind === 'busy' ? 'the store is busy' : errorText(made.error);
  throw new Error(`receiver: the tables of the operations could not be made: ${why}`);
}

function sweep(site: Site): number {
  const before = site.clock() - site.retentionMs;
  const swept = site.store.immediate(() => {
    const gone = site.store.all(
      `DELETE FROM operation WHERE state IN ('executed', 'rejected', 'not_executed')
         AND changed_at <= ? RETURNING 1 AS gone`,
      before,
    );
    site.store.run('DELETE FROM closing WHERE closed_at <= ?', before);
    site.store.run('DELETE FROM arrival WHERE at <= ?', before);
    return gone.length;
  });
  // Nothing is lost by a sweep that did not happen; the next one does the same.
  return swept.kind === 'committed' ? swept.value : 0;
}

function observe(site: Site, name: string): Json | undefined {
  const operation = operationOf(site, name);
  if (operation === null || isForeign(operation)) return undefined;
  return operation.observe?.(site.store);
}

function capabilitiesOf(site: Site): Capabilities {
  const operations = Object.entries(site.operations).map(
    ([name, { version }]) => [name, { version }] as const,
  );
  return {
    domain: site.domain,
    operations: Object.fromEntries(operations),
    idempotency_key_lifetime: `PT${Math.floor(site.retentionMs / 1_000)}S`,
    inquiry: 'read_your_writes',
    closing: 'by_token',
    fencing: 'by_scope',
    first_sent_at: 'checked',
  };
}
