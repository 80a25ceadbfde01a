// What every reply carries: the authority and the ledger's head as they stand after the
// transaction.

import type { AuthorityHead, LedgerPin } from '../core/activity-calls.ts';
import { authorityOf } from '../core/authority.ts';
import type { Digest, Json } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Committed, Ledger } from '../ledger/port.ts';

export function headOf({ run, ledger, head }: Omit<Committed<unknown>, 'reply' | 'at'>): {
  authority: AuthorityHead;
  pin: LedgerPin;
} {
  return { authority: authorityOf(run), pin: { ...ledger, head } };
}

/** The stored value. Throws naming the digest where it is gone. */
export async function readPayload(ledger: Ledger, digest: Digest): Promise<Json> {
  const bytes = await ledger.payload(digest);
  if (bytes === null)
    throw new Error(`payload ${digest} is not in the ledger; it was erased or never stored here`);
  return jsonOf(bytes);
}

export function jsonOf(bytes: Uint8Array): Json {
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}

/** The result's value where it is wanted and small enough to pass history. */
export async function smallValueOf(
  ledger: Ledger,
  { outcome, wantsValue }: { outcome: Outcome | null; wantsValue: boolean },
): Promise<{ value?: Json }> {
  if (!wantsValue || outcome?.kind !== 'executed') return {};
  if (outcome.result.bytes > limits.actInputBytesMax) return {};
  const bytes = await ledger.payload(outcome.result.digest);
  return bytes === null ? {} : { value: jsonOf(bytes) };
}
