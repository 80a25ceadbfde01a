// One intent on its way: claimed, asked about, recorded as leaving, sent, recorded again.
//
// INV-1  Nothing leaves before `sending` is committed; what a dead sender left so may have left.
// INV-2  `mayStillSend` is asked before each send, and its answer is good for the send window only.
// INV-3  A receipt is never dropped: it settles what is open, and disputes what a person denied.

import { performance } from 'node:perf_hooks';
import { elapsedMs, type Instant } from '../../core/instant.ts';
import type { EffectTx } from '../operation.ts';
import { errorText } from '../site.ts';
import type { Checked, Intent, IntentRecord, IntentState, MaySend, SendOutcome } from './intent.ts';
import { dueOf, endedBy, refusedState } from './next.ts';
import { type Change, change, note, postpone, read, takeDue } from './rows.ts';

export interface Desk {
  readonly receivers: ReadonlyMap<string, Checked>;
  /** Rejects unless it was committed. */
  transaction<T>(body: (tx: EffectTx) => Promise<T>): Promise<T>;
  mayStillSend(intent: Intent): Promise<MaySend>;
  readonly clock: () => number;
  readonly newClaim: () => string;
  readonly leaseMs: number;
  readonly windowMs: number;
  readonly sendsMax: number;
  /** Before it is tried again: after so many sends. */
  pauseMs(sends: number): number;
}

export interface Step {
  readonly key: string;
  readonly state: IntentState;
  /** Why nothing was sent now, where that is not for good. */
  readonly held?: string;
}

/** Thrown by `beforeSend`: nothing has left. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** null: nothing is due. Rejects when the store is not to be had; nothing is sent then. */
export async function sendNext(desk: Desk): Promise<Step | null> {
  const claim = desk.newClaim();
  const now = desk.clock();
  const record = await desk.transaction((tx) =>
    takeDue(tx, { claim, now, until: now + desk.leaseMs }),
  );
  if (record === null) return null;
  const held: Held = { desk, claim, record };
  const receiver = desk.receivers.get(record.receiver);
  if (receiver === undefined) return putBack(held, `no receiver "${record.receiver}" here`);
  const { sendsMax } = desk;
  const due = dueOf({ record, contract: receiver.contract, now, sendsMax });
  if (due.kind === 'unknown') return end(held, 'unknown', due.reason);
  const asked = instantOf(desk);
  const may = await mayBeSent(held);
  if (may.kind === 'held') return putBack(held, may.reason);
  if (may.kind === 'revoked') return end(held, refusedState(record), `revoked: ${may.reason}`);
  if (elapsedMs(asked, instantOf(desk)) > desk.windowMs)
    return putBack(held, 'the answer of mayStillSend came too late');
  const leaving = await desk.transaction((tx) => leave(tx, held));
  if (leaving === null) return { key: record.key, state: record.state, held: 'taken by another' };
  const gone: Held = { ...held, record: leaving };
  const late = (outcome: Outcome) => settle(gone, receiver, outcome);
  const outcome = await sent(held, { receiver, leaving, asked, late });
  return settle(gone, receiver, outcome);
}

interface Held {
  readonly desk: Desk;
  readonly claim: string;
  readonly record: IntentRecord;
}

function instantOf({ clock }: Desk): Instant {
  return { monotonicMs: performance.now(), wallMs: clock() };
}

async function mayBeSent({
  desk,
  record,
}: Held): Promise<MaySend | { readonly kind: 'held'; readonly reason: string }> {
  try {
    // Later its answer would be good for nothing.
    return await within(desk.windowMs, desk.mayStillSend(record));
  } catch (error) {
    return { kind: 'held', reason: `mayStillSend: ${errorText(error)}` };
  }
}

/** As it was, and due again later. */
async function putBack({ desk, claim, record }: Held, why: string): Promise<Step> {
  const at = desk.clock();
  const dueAt = at + desk.pauseMs(record.sends);
  await desk.transaction((tx) => postpone(tx, record.key, { claim, dueAt, reason: why }));
  return { key: record.key, state: record.state, held: why };
}

async function end({ desk, claim, record }: Held, state: IntentState, why: string): Promise<Step> {
  const at = desk.clock();
  const to = { state, reason: why };
  const mine = await desk.transaction((tx) => change(tx, record, { claim, at, to }));
  return mine ? { key: record.key, state } : { key: record.key, state: record.state, held: 'lost' };
}

async function leave(tx: EffectTx, { desk, claim, record }: Held): Promise<IntentRecord | null> {
  const at = desk.clock();
  const to = {
    ...{ state: 'sending' as const, reason: null },
    ...{ sends: record.sends + 1, openSends: record.openSends + 1 },
    firstSentAt: record.firstSentAt ?? at,
    dueAt: at + desk.leaseMs,
  };
  if (!(await change(tx, record, { claim, at, to }))) return null;
  return { ...record, ...to, version: record.version + 1 };
}

type Outcome =
  | SendOutcome
  | { readonly kind: 'open'; readonly reason: string }
  /** Not even tried: it counts as no send. */
  | { readonly kind: 'late'; readonly reason: string };

interface Leaving {
  readonly receiver: Checked;
  readonly leaving: IntentRecord;
  readonly asked: Instant;
  /** Is told what comes after the lease. */
  late(outcome: Outcome): Promise<unknown>;
}

async function sent({ desk }: Held, of: Leaving): Promise<Outcome> {
  const { key, receiver, principal, payload, sends, firstSentAt } = of.leaving;
  let isLate = false;
  const beforeSend = () => {
    isLate = elapsedMs(of.asked, instantOf(desk)) > desk.windowMs;
    if (isLate) throw new NotSentError(`${key}: not sent within ${desk.windowMs} ms of the ask`);
  };
  try {
    beforeSend();
    const sending = of.receiver.send({
      ...{ key, receiver, principal, payload, beforeSend },
      ...{ send: sends, firstSentAt: firstSentAt ?? desk.clock() },
      signal: AbortSignal.timeout(desk.leaseMs),
    });
    return await within(desk.leaseMs, sending, of.late);
  } catch (error) {
    const reason = errorText(error);
    return { kind: isLate && error instanceof NotSentError ? 'late' : 'open', reason };
  }
}

/** One that never ends must not keep the rest from being sent. What it ends with later is told. */
async function within<T>(
  ms: number,
  asked: Promise<T>,
  late?: (value: T) => Promise<unknown>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no end within ${ms} ms`));
      // Without the store it is as if this process had died here: it stays open.
      asked.then(late).catch(() => undefined);
    }, ms);
  });
  try {
    return await Promise.race([asked, over]);
  } finally {
    clearTimeout(timer);
  }
}

async function settle(held: Held, receiver: Checked, outcome: Outcome): Promise<Step> {
  const { desk, record } = held;
  const state = await desk.transaction(async (tx) => {
    const current = await read(tx, record.key);
    if (current === null) throw new Error(`outbox: the intent ${record.key} is gone`);
    const own = await settleOwn(tx, held, receiver, outcome);
    return own ?? (await settleLate(tx, held, current, outcome));
  });
  return { key: record.key, state };
}

/** null: the claim is no longer ours. */
async function settleOwn(
  tx: EffectTx,
  { desk, claim, record }: Held,
  { contract }: Checked,
  outcome: Outcome,
): Promise<IntentState | null> {
  const at = desk.clock();
  const { sendsMax } = desk;
  const sends = outcome.kind === 'late' ? record.sends - 1 : record.sends;
  const openSends = outcome.kind === 'open' ? record.openSends : record.openSends - 1;
  const isAgain = outcome.kind === 'not_executed' && outcome.againAfterMs !== undefined;
  const state = endedBy(isAgain ? 'again' : outcome.kind, { openSends, sends, sendsMax });
  const due = dueOf({
    record: { ...record, state, sends, openSends },
    contract,
    now: at,
    sendsMax,
  });
  const pause = isAgain ? (outcome.againAfterMs ?? 0) : desk.pauseMs(sends);
  const told = 'reason' in outcome ? { reason: outcome.reason } : receiptOf(outcome);
  const counts = { sends, openSends };
  const to: Change =
    state === 'sending' && due.kind === 'unknown'
      ? { state: 'unknown', reason: `${told.reason}; ${due.reason}`, ...counts }
      : { ...told, state, ...counts, dueAt: at + pause };
  return (await change(tx, record, { claim, at, to })) ? to.state : null;
}

/** Somebody else has it by now, or a person has answered: only a receipt counts. */
async function settleLate(
  tx: EffectTx,
  { desk, record }: Held,
  current: IntentRecord,
  outcome: Outcome,
): Promise<IntentState> {
  const at = desk.clock();
  const detail = 'reason' in outcome ? outcome.reason : (outcome.externalId ?? '');
  await note(tx, { key: record.key, at, event: `late: ${outcome.kind}`, detail });
  if (outcome.kind !== 'executed' || current.state === 'executed') return current.state;
  const isDenied = current.state === 'not_executed' || current.state === 'disputed';
  const state = isDenied ? 'disputed' : 'executed';
  await change(tx, current, { claim: null, at, to: { state, ...receiptOf(outcome) } });
  return state;
}

function receiptOf({ externalId, result }: Extract<Outcome, { kind: 'executed' }>) {
  return { reason: null, externalId: externalId ?? null, result: result ?? null };
}
