// Questions: the plain one, the one that closes the door, and the fence.
//
// INV-1  A closing answers `not_executed` only in the transaction that wrote the closing (A13).
// INV-2  A closing never shrinks: a later, older one leaves it as it is (A14).

import { compareSendTokens, type SendToken, sendTokenSchema } from '../core/ids.ts';
import type { Belonging, Closing, Fencing, Inquiry } from './answer.ts';
import { writeArrivalAnswer } from './arrivals.ts';
import { lockFence, raiseFence, readFence } from './fences.ts';
import {
  dropEmpty,
  lockStanding,
  type OperationRecord,
  readStanding,
  writeClosing,
} from './records.ts';
import { checkIdentity, type FullIdentity, type Identity, isName } from './request.ts';
import { logArrival, type Site, storeProblem } from './site.ts';
import type { Tx } from './store.ts';
import type { ClosedThrough } from './verdict.ts';

/** Who asks. One whose epoch was replaced is told so, and learns and changes nothing. */
export interface Asker {
  readonly sendToken: SendToken;
  readonly fenceScope: string;
}

export async function inquire(site: Site, identity: Identity, asker?: Asker): Promise<Inquiry> {
  const checked = checkIdentity(identity, site.domain);
  if (checked.kind === 'invalid') return checked;
  const of = checked.value;
  const arrival = await logArrival(site, of, { kind: 'inquire', sendToken: asker?.sendToken });
  if (arrival.kind !== 'committed') return unavailable(site, storeProblem(arrival));
  const seen = await site.store.transaction(async (tx): Promise<Inquiry> => {
    const scope = scopeOf(of, asker);
    const stale = staleness(asker, scope === null ? null : await readFence(tx, scope));
    const answer = stale ?? inquiryOf(site, (await readStanding(tx, of)).record);
    await writeArrivalAnswer(tx, arrival.value, answer.kind);
    return answer;
  });
  return seen.kind === 'committed' ? seen.value : unavailable(site, storeProblem(seen));
}

function scopeOf({ principal, domain }: FullIdentity, asker: Asker | undefined) {
  return asker === undefined ? null : { principal, domain, scope: asker.fenceScope };
}

function staleness(asker: Asker | undefined, epoch: number | null) {
  if (asker === undefined || epoch === null || asker.sendToken.epoch >= epoch) return null;
  return { kind: 'fenced', epoch } as const;
}

function inquiryOf(site: Site, record: OperationRecord | null): Inquiry {
  if (record === null) return { kind: 'no_record' };
  const of = belongingOf(record);
  if (record.outcome !== null) return { ...record.outcome, ...of };
  // Not executed, but a new claim may still come: a plain look must not sound like a promise.
  if (record.state === 'not_executed') return { kind: 'no_record' };
  const lost = site.clock() - record.changedAt >= site.claimLeaseMs;
  if (record.state === 'processing' && !lost)
    return { kind: 'processing', retryAfterMs: site.retryAfterMs, ...of };
  return { kind: 'unknown', detail: 'the effect behind this receiver did not report', ...of };
}

function belongingOf({ inputDigest, payloadDigest }: OperationRecord): Belonging {
  return {
    ...(inputDigest === null ? {} : { digest: inputDigest }),
    ...(payloadDigest === null ? {} : { payloadDigest }),
  };
}

export interface CloseRequest {
  readonly identity: Identity;
  /** Absent: the whole key. */
  readonly through?: SendToken | undefined;
  readonly asker?: Asker | undefined;
}

export async function close(site: Site, request: CloseRequest): Promise<Closing> {
  const { identity, through, asker } = request;
  const checked = checkIdentity(identity, site.domain);
  if (checked.kind === 'invalid') return checked;
  if (through !== undefined && !sendTokenSchema.safeParse(through).success)
    return { kind: 'invalid', detail: 'a send token is two positive integers: epoch, number' };
  const of = checked.value;
  const arrival = await logArrival(site, of, { kind: 'close', sendToken: through });
  if (arrival.kind === 'busy') return { kind: 'in_flight', retryAfterMs: site.retryAfterMs };
  if (arrival.kind !== 'committed') return unavailable(site, storeProblem(arrival));
  const closed = await site.store.transaction(async (tx): Promise<Closing> => {
    const answer = await closingOf(site, tx, of, { through: through ?? null, asker });
    await writeArrivalAnswer(tx, arrival.value, answer.kind);
    return answer;
  });
  if (closed.kind === 'committed') return closed.value;
  // Whoever holds the store or the row may be the very request that is being closed.
  if (closed.kind === 'busy') return { kind: 'in_flight', retryAfterMs: site.retryAfterMs };
  return unavailable(site, storeProblem(closed));
}

async function closingOf(
  site: Site,
  tx: Tx,
  of: FullIdentity,
  { through, asker }: { readonly through: SendToken | null; readonly asker: Asker | undefined },
): Promise<Closing> {
  // Waits behind a request with this key; what it left is then read.
  const { record, closed } = await lockStanding(tx, of, site.clock());
  const scope = scopeOf(of, asker);
  const stale = staleness(asker, scope === null ? null : await lockFence(tx, scope));
  if (stale !== null) {
    if (record === null && closed === null) await dropEmpty(tx, of);
    return stale;
  }
  if (record?.outcome) return { ...record.outcome, ...belongingOf(record) };
  if (record !== null && record.state !== 'not_executed')
    return { kind: 'in_flight', retryAfterMs: site.retryAfterMs, ...belongingOf(record) };
  const widened = widest(closed, through);
  await writeClosing(tx, of, widened, site.clock());
  return { kind: 'not_executed', closed: true, through: widened };
}

/** null closes the whole key and is wider than any token. */
function widest(before: ClosedThrough | null, token: SendToken | null): SendToken | null {
  if (before === null) return token;
  if (before.through === null || token === null) return null;
  return compareSendTokens(before.through, token) > 0 ? before.through : token;
}

export interface FenceRequest {
  readonly principal: string;
  readonly scope: string;
  /** Issued by the owner of the scope, never by the receiver (B1). */
  readonly epoch: number;
}

/** Waits for every effect under the fence that has begun; none of an older epoch comes after. */
export async function fence(site: Site, request: FenceRequest): Promise<Fencing> {
  const { principal, scope, epoch } = request;
  if (!isName(principal) || !isName(scope) || !Number.isSafeInteger(epoch) || epoch < 1)
    return { kind: 'invalid', detail: 'a fence needs principal, scope and a positive epoch' };
  const where = { principal, scope, domain: site.domain };
  const fenced = await site.store.transaction(async (tx): Promise<Fencing> => {
    const held = await lockFence(tx, where);
    if (held !== null && held > epoch) return { kind: 'stale', epoch: held };
    await raiseFence(tx, where, epoch);
    return { kind: 'fenced', epoch };
  });
  return fenced.kind === 'committed' ? fenced.value : unavailable(site, storeProblem(fenced));
}

function unavailable(site: Site, detail: string | null) {
  return {
    kind: 'unavailable',
    detail: detail ?? 'the store is down',
    retryAfterMs: site.retryAfterMs,
  } as const;
}
