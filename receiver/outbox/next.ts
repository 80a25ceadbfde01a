// What is done with an intent: before a send, and after one. Pure; two ordered lists.

import { type Contract, keyGaps } from '../../core/contract.ts';
import type { IntentRecord, IntentState } from './intent.ts';

export type Due =
  | { readonly kind: 'send' }
  /** The same key and bytes; the service de-duplicates. */
  | { readonly kind: 'resend' }
  | { readonly kind: 'unknown'; readonly reason: string };

export interface DueAt {
  readonly record: Pick<IntentRecord, 'state' | 'sends' | 'openSends' | 'firstSentAt'>;
  readonly contract: Contract;
  readonly now: number;
  readonly sendsMax: number;
}

/** What nobody knows the end of is sent again only where the service knows the key. */
export function dueOf({ record, contract, now, sendsMax }: DueAt): Due {
  if (record.state === 'queued') return { kind: 'send' };
  const [gap] = keyGaps(contract);
  if (gap !== undefined) return { kind: 'unknown', reason: `not keyed: no ${gap}` };
  if (!isKept(contract, record.firstSentAt, now))
    return { kind: 'unknown', reason: 'the service may have forgotten the key' };
  if (record.sends >= sendsMax) return { kind: 'unknown', reason: `sent ${record.sends} times` };
  return { kind: 'resend' };
}

/** A clock that was set back cannot tell how old the key is. */
function isKept(contract: Contract, firstSentAt: number | null, now: number): boolean {
  const { retentionMs, retentionMarginMs } = contract;
  if (retentionMs === 'none' || firstSentAt === null || now < firstSentAt) return false;
  return now - firstSentAt < retentionMs - retentionMarginMs;
}

/** What is written when it may not be sent any more. */
export function refusedState({ openSends }: Pick<IntentRecord, 'openSends'>): IntentState {
  return openSends === 0 ? 'not_sent' : 'unknown';
}

/**
 * `openSends`: those that nobody knows the end of, after this one. That this one was refused proves
 * nothing of them. What is left `sending` is for `dueOf` to decide.
 */
export function endedBy(
  outcome: 'executed' | 'not_executed' | 'again' | 'open' | 'late',
  { openSends, sends, sendsMax }: { openSends: number; sends: number; sendsMax: number },
): 'executed' | 'sending' | 'queued' | 'not_executed' {
  if (outcome === 'executed') return 'executed';
  if (outcome === 'open' || openSends > 0) return 'sending';
  if (outcome === 'late') return 'queued';
  return outcome === 'again' && sends < sendsMax ? 'queued' : 'not_executed';
}
