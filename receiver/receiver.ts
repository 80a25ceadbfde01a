// The reference receiver as a library.
//
// Owns: the store, what it de-duplicates, its own logs. Does not own: transport, the clock,
// authentication (the principal is taken as given).
//
// INV-1  At most one effect per identity, as long as its record lives.
// INV-2  Nothing is removed but by sweep(), and never what is not final (A8, A10).
// INV-3  A closing lives at least as long as a record made at the same time (A14).

import { randomUUID } from 'node:crypto';
import type { Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Answer, Closing, Fencing, Inquiry } from './answer.ts';
import { type Arrival, readArrivals, sweepArrivals } from './arrivals.ts';
import { type Effect, readEffects } from './effects.ts';
import { executeRequest } from './execution.ts';
import { type Asker, close, type FenceRequest, fence, inquire } from './inquiry.ts';
import { receiverLimits } from './limits.ts';
import { isForeign, type Operations, type TableWords } from './operation.ts';
import { openStore, type StorePlace } from './place.ts';
import { sweepRecords } from './records.ts';
import type { Identity, OperationRequest } from './request.ts';
import { operationOf, type Site } from './site.ts';
import type { Store } from './store.ts';

export interface ReceiverSettings {
  readonly operations: Operations;
  /** Region or installation name; records of different domains never meet. */
  readonly domain?: string;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  readonly retentionMs?: number;
  readonly clockSkewMs?: number;
  readonly claimLeaseMs?: number;
  readonly busyTimeoutMs?: number;
  /** One transaction with its effect. */
  readonly transactionMs?: number;
  /** Fresh and unguessable for each claim. */
  readonly newClaim?: () => string;
  /** Called with each SQL text before it runs, and awaited. */
  readonly trace?: (sql: string) => void | Promise<void>;
}

export type ReceiverOptions = StorePlace & ReceiverSettings;

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
  /** Never rejects, like `inquire`, `close` and `fence`: every failure is an answer. */
  execute(request: OperationRequest): Promise<Answer>;
  inquire(identity: Identity, asker?: Asker): Promise<Inquiry>;
  /** Refuses every token up to `sendToken` from now on; without one, the whole key. */
  close(identity: Identity, sendToken?: SendToken, asker?: Asker): Promise<Closing>;
  fence(request: FenceRequest): Promise<Fencing>;
  /** Forgets what became final longer ago than the retention; returns how many records went. */
  sweep(): Promise<number>;
  /** What the objects behind an operation look like; undefined where there is nothing to see. */
  observe(operation: string): Promise<Json | undefined>;
  effects(): Promise<readonly Effect[]>;
  requests(): Promise<readonly Arrival[]>;
  capabilities(): Capabilities;
  /** Closes the store. Requests at work are answered `not_taken` or `unknown`. */
  shutdown(): Promise<void>;
}

/** Rejects when the store cannot be opened, is of a newer schema, or an option makes no sense. */
export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { retentionMs, clockSkewMs } = timesOf(options);
  if (!(clockSkewMs < retentionMs))
    throw new Error(`clockSkewMs ${clockSkewMs} must be below retentionMs ${retentionMs}`);
  const store = await openStore(options, {
    busyTimeoutMs: options.busyTimeoutMs ?? receiverLimits.busyTimeoutMs,
    transactionMs: options.transactionMs ?? receiverLimits.transactionMs,
    trace: options.trace,
    tables: (words) => tablesOf(options.operations, words),
  });
  return receiverOn(store, options);
}

/** The receiver over a store that is open already. */
export function receiverOn(store: Store, options: ReceiverSettings): Receiver {
  const site: Site = {
    store,
    operations: options.operations,
    domain: options.domain ?? 'local',
    clock: options.clock ?? Date.now,
    newClaim: options.newClaim ?? randomUUID,
    ...timesOf(options),
    claimLeaseMs: options.claimLeaseMs ?? receiverLimits.claimLeaseMs,
    retryAfterMs: receiverLimits.retryAfterMs,
  };
  return {
    execute: (request) => executeRequest(site, request),
    inquire: (identity, asker) => inquire(site, identity, asker),
    close: (identity, through, asker) => close(site, { identity, through, asker }),
    fence: (request) => fence(site, request),
    sweep: () => sweep(site),
    observe: (operation) => observe(site, operation),
    effects: () => store.read(readEffects),
    requests: () => store.read(readArrivals),
    capabilities: () => capabilitiesOf(site),
    shutdown: () => store.close(),
  };
}

function timesOf(options: ReceiverSettings) {
  return {
    retentionMs: options.retentionMs ?? receiverLimits.retentionMs,
    clockSkewMs: options.clockSkewMs ?? receiverLimits.clockSkewMs,
  };
}

function tablesOf(operations: Operations, words: TableWords): readonly string[] {
  return Object.values(operations).flatMap((operation) => {
    if (isForeign(operation) || operation.tables === undefined) return [];
    const { tables } = operation;
    return [typeof tables === 'string' ? tables : tables(words)];
  });
}

/** Nothing is lost by a sweep that did not happen; the next one does the same. */
async function sweep(site: Site): Promise<number> {
  const before = site.clock() - site.retentionMs;
  const swept = await site.store.transaction((tx) => sweepRecords(tx, before));
  await site.store.transaction((tx) => sweepArrivals(tx, before));
  return swept.kind === 'committed' ? swept.value : 0;
}

async function observe(site: Site, name: string): Promise<Json | undefined> {
  const operation = operationOf(site, name);
  if (operation === null || isForeign(operation) || operation.observe === undefined)
    return undefined;
  const { observe: look } = operation;
  return await site.store.read(async (tx) => await look(tx));
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
