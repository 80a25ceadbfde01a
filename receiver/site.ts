// What every part of one open receiver shares.

import type { ArrivalNote } from './arrivals.ts';
import { writeArrival, writeArrivalAnswer } from './arrivals.ts';
import type { Operation, Operations } from './operation.ts';
import type { FullIdentity } from './request.ts';
import type { Committed, Store } from './store.ts';

export interface Site {
  readonly store: Store;
  readonly operations: Operations;
  readonly domain: string;
  readonly clock: () => number;
  readonly newClaim: () => string;
  readonly retentionMs: number;
  readonly clockSkewMs: number;
  readonly claimLeaseMs: number;
  readonly retryAfterMs: number;
}

export function operationOf(site: Site, name: string): Operation | null {
  return Object.hasOwn(site.operations, name) ? (site.operations[name] ?? null) : null;
}

export function logArrival(
  site: Site,
  of: FullIdentity,
  note: Omit<ArrivalNote, 'at'>,
): Promise<Committed<number>> {
  return site.store.transaction((tx) => writeArrival(tx, of, { ...note, at: site.clock() }));
}

/** For answers that have no transaction of their own left. The log is not evidence: best effort. */
export async function logAnswer(site: Site, seq: number, answer: string): Promise<void> {
  await site.store.transaction((tx) => writeArrivalAnswer(tx, seq, answer));
}

/** Text of a transaction that did not commit; null when it did. */
export function storeProblem<T>(committed: Committed<T>): string | null {
  if (committed.kind === 'committed') return null;
  if (committed.kind === 'busy') return 'the store is busy with another process; ask again';
  return `the store failed: ${errorText(committed.error)}`;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
