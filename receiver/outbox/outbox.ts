// An outbox for services of other people: intents that commit with the author's own change, and a
// sender that asks again before each send whether it may.
//
// Owns: its two tables, the claims. Does not own: the database, the services, who may do what.
//
// INV-1  An intent is never deleted.
// INV-2  What may have had its effect is sent again only under the same key, with the same bytes,
//        to a service that de-duplicates by it and has not forgotten it; else by a person's word.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { contractSchema } from '../../core/contract.ts';
import { receiverLimits } from '../limits.ts';
import type { EffectTx } from '../operation.ts';
import { storeProblem } from '../site.ts';
import type {
  Checked,
  Intent,
  IntentEvent,
  IntentRecord,
  IntentState,
  MaySend,
  OutboxReceiver,
  OutboxStore,
} from './intent.ts';
import { type Decision, decide, type Resolved } from './resolution.ts';
import { insert, makeTables, read, readAll, readEvents } from './rows.ts';
import { type Desk, type Step, sendNext } from './sender.ts';

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly receivers: Readonly<Record<string, OutboxReceiver>>;
  /** Asked before each send. Throws, or takes too long: it is asked again later. */
  mayStillSend(intent: Intent): Promise<MaySend>;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** A sender that has not reported for so long counts as lost. Every send is over by then. */
  readonly leaseMs?: number;
  readonly windowMs?: number;
  readonly sendsMax?: number;
  readonly pauseMs?: number;
  readonly newClaim?: () => string;
}

export interface Outbox {
  /**
   * In the caller's own transaction. False: this very intent is there already. Throws where its key
   * stands for another one, and where it is too large or its receiver is not known here.
   */
  enqueue(tx: EffectTx, intent: Intent): Promise<boolean>;
  /** One claim and what came of it; null when nothing is due. */
  sendNext(): Promise<Step | null>;
  /** Sends what is due until the signal comes. Contract: `onProblem` must not throw. */
  work(signal: AbortSignal, onProblem: (error: unknown) => void): Promise<void>;
  intent(key: string): Promise<IntentRecord | null>;
  intents(state: IntentState): Promise<readonly IntentRecord[]>;
  events(key: string): Promise<readonly IntentEvent[]>;
  /** A person's word on an unknown or a dispute; the only way in which one is sent again. */
  resolve(key: string, decision: Decision): Promise<Resolved>;
}

/** Rejects when the tables cannot be made or a contract cannot be read. */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const desk = deskOf(options);
  if (desk.windowMs > desk.leaseMs)
    throw new Error(`outbox: windowMs ${desk.windowMs} may not be above leaseMs ${desk.leaseMs}`);
  const { transaction, clock, receivers } = desk;
  await transaction(makeTables);
  return {
    async enqueue(tx, intent) {
      checkIntent(intent, receivers);
      return insert(tx, intent, clock());
    },
    sendNext: () => sendNext(desk),
    work: (signal, onProblem) => work(desk, signal, onProblem),
    intent: (key) => transaction((tx) => read(tx, key)),
    intents: (state) =>
      transaction((tx) => readAll(tx, { state, rowsMax: receiverLimits.outboxRowsMax })),
    events: (key) => transaction((tx) => readEvents(tx, key)),
    resolve: (key, decision) => transaction((tx) => decide(tx, { key, decision, at: clock() })),
  };
}

function deskOf(options: OutboxOptions): Desk {
  const checked = Object.entries(options.receivers).map(([name, receiver]): [string, Checked] => [
    name,
    {
      send: (sending) => receiver.send(sending),
      contract: contractSchema.parse(receiver.contract ?? {}),
    },
  ]);
  const base = options.pauseMs ?? receiverLimits.outboxPauseMs;
  return {
    receivers: new Map(checked),
    async transaction(body) {
      const done = await options.store.transaction(body);
      if (done.kind === 'committed') return done.value;
      if (done.kind === 'rolled_back') throw done.error;
      throw new Error(`outbox: ${storeProblem(done) ?? 'the store is down'}`);
    },
    mayStillSend: (intent) => options.mayStillSend(intent),
    clock: options.clock ?? Date.now,
    newClaim: options.newClaim ?? randomUUID,
    leaseMs: options.leaseMs ?? receiverLimits.outboxLeaseMs,
    windowMs: options.windowMs ?? receiverLimits.outboxWindowMs,
    sendsMax: options.sendsMax ?? receiverLimits.outboxSendsMax,
    pauseMs: (sends) => Math.min(base * 2 ** sends, receiverLimits.outboxPauseMaxMs),
  };
}

function checkIntent(intent: Intent, receivers: Desk['receivers']): void {
  const { key, receiver, payload } = intent;
  if (key === '' || key.length > receiverLimits.keyCharsMax)
    throw new Error(`outbox: a key has 1 to ${receiverLimits.keyCharsMax} characters`);
  if (!receivers.has(receiver))
    throw new Error(`outbox: no receiver "${receiver}" for "${key}"; name it in receivers`);
  if (
    !payload.isWellFormed() ||
    payload.includes('\0') ||
    Buffer.byteLength(payload) > receiverLimits.bodyBytesMax
  )
    throw new Error(
      `outbox: the payload of "${key}" has to be text without NUL, of at most ` +
        `${receiverLimits.bodyBytesMax} bytes`,
    );
}

async function work(
  desk: Desk,
  signal: AbortSignal,
  onProblem: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    const step = await sendNext(desk).catch((error: unknown) => {
      onProblem(error);
      return null;
    });
    // A stop while it waits is no problem.
    if (step === null)
      await pause(receiverLimits.outboxPollMs, undefined, { signal }).catch(() => undefined);
  }
}
