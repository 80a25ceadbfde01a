// Questions: the plain one, the one that closes the door, and the fence.
//
// INV-1  A closing answers `not_executed` only in the transaction that wrote the closing (A13).
// INV-2  A closing never shrinks: a later, older one leaves it as it is (A14).

import { compareSendTokens, type SendToken, sendTokenSchema } from '../core/ids.ts';
import type { Closing, Fencing, Inquiry } from './answer.ts';
import { writeArrivalAnswer } from './arrivals.ts';
import {
  type OperationRecord,
  raiseFence,
  readClosing,
  readFence,
  readRecord,
  writeClosing,
} from './records.ts';
import { checkIdentity, type FullIdentity, type Identity } from './request.ts';
import { logArrival, type Site, storeProblem } from './site.ts';
import type { ClosedThrough } from './verdict.ts';

export function inquire(site: Site, identity: Identity): Inquiry {
  const checked = checkIdentity(identity, site.domain);
  if (checked.kind === 'invalid') return checked;
  const arrival = logArrival(site, checked.value, { kind: 'inquire' });
  if (arrival.kind !== 'committed') return unavailable(site, storeProblem(arrival));
  const seen = site.store.immediate((): Inquiry => {
    const answer = inquiryOf(site, readRecord(site.store, checked.value));
    writeArrivalAnswer(site.store, arrival.value, answer.kind);
    return answer;
  });
  return seen.kind === 'committed' ? seen.value : unavailable(site, storeProblem(seen));
}

function inquiryOf(site: Site, record: OperationRecord | null): Inquiry {
  if (record === null) return { kind: 'no_record' };
  if (record.outcome !== null) return record.outcome;
  // Not executed, but a new claim may still come: a plain look must not sound like a promise.
  if (record.state === 'not_executed') return { kind: 'no_record' };
  const lost = site.clock() - record.changedAt >= site.claimLeaseMs;
  if (record.state === 'processing' && !lost)
    return { kind: 'processing', retryAfterMs: site.retryAfterMs };
  return { kind: 'unknown', detail: 'the effect behind this receiver did not report' };
}

export function close(site: Site, identity: Identity, token: SendToken | undefined): Closing {
  const checked = checkIdentity(identity, site.domain);
  if (checked.kind === 'invalid') return checked;
  if (token !== undefined && !sendTokenSchema.safeParse(token).success)
    return { kind: 'invalid', detail: 'a send token is two positive integers: epoch, number' };
  const arrival = logArrival(site, checked.value, { kind: 'close', sendToken: token });
  if (arrival.kind === 'busy') return { kind: 'in_flight', retryAfterMs: site.retryAfterMs };
  if (arrival.kind !== 'committed') return unavailable(site, storeProblem(arrival));
  const closed = site.store.immediate((): Closing => {
    const answer = closingOf(site, checked.value, token ?? null);
    writeArrivalAnswer(site.store, arrival.value, answer.kind);
    return answer;
  });
  if (closed.kind === 'committed') return closed.value;
  // Whoever holds the store may be the very request that is being closed.
  if (closed.kind === 'busy') return { kind: 'in_flight', retryAfterMs: site.retryAfterMs };
  return unavailable(site, storeProblem(closed));
}

function closingOf(site: Site, of: FullIdentity, token: SendToken | null): Closing {
  const record = readRecord(site.store, of);
  if (record?.outcome) return record.outcome;
  if (record !== null && record.state !== 'not_executed')
    return { kind: 'in_flight', retryAfterMs: site.retryAfterMs };
  const before = readClosing(site.store, of);
  const through = widest(before, token);
  writeClosing(site.store, of, through, site.clock());
  return { kind: 'not_executed', closed: true, through };
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

export function fence(site: Site, request: FenceRequest): Fencing {
  const { principal, scope, epoch } = request;
  if (principal === '' || scope === '' || !Number.isSafeInteger(epoch) || epoch < 1)
    return { kind: 'invalid', detail: 'a fence needs principal, scope and a positive epoch' };
  const where = { principal, scope, domain: site.domain };
  const fenced = site.store.immediate((): Fencing => {
    const held = readFence(site.store, where);
    if (held !== null && held > epoch) return { kind: 'stale', epoch: held };
    raiseFence(site.store, where, epoch);
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
