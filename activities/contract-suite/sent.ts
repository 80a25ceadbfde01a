// What came of one call of the adapter, in the words that probes compare.

import { canonicalJson, type Json } from '../../core/digest.ts';
import type { InquiryAnswer, Settlement } from '../tool.ts';

export type Done = Extract<Settlement<Json>, { kind: 'executed' | 'partial' | 'accepted' }>;
export type Declined = Extract<Settlement<Json>, { kind: 'refused' | 'not_taken' }>;

export type Sent =
  /** The receiver has it: executed, in part, or as a job of its own. */
  | { readonly kind: 'done'; readonly settlement: Done }
  /** It says that it did not. */
  | { readonly kind: 'declined'; readonly settlement: Declined }
  /** The adapter threw, or gave no answer in time. */
  | { readonly kind: 'ambiguous'; readonly why: string };

export function sentOf(settlement: Settlement<Json>): Sent {
  const { kind } = settlement;
  if (kind === 'refused' || kind === 'not_taken') return { kind: 'declined', settlement };
  return { kind: 'done', settlement };
}

export function sentText(sent: Sent): string {
  if (sent.kind === 'ambiguous') return `no settlement (${sent.why})`;
  const { settlement } = sent;
  if (sent.kind === 'declined') return `${settlement.kind} (${sent.settlement.code})`;
  const id = sent.settlement.externalId;
  return id === undefined ? settlement.kind : `${settlement.kind} ${id}`;
}

export function answerText(answer: InquiryAnswer<Json>): string {
  if (answer.verdict === 'not_executed') return `not_executed (${answer.proof})`;
  const id = 'externalId' in answer ? answer.externalId : undefined;
  return id === undefined ? answer.verdict : `${answer.verdict} ${id}`;
}

/** By the receiver's name for it where both have one, else by what came out of it. */
export function isSameOutcome(a: Sent, b: Sent): boolean {
  if (a.kind !== 'done' || b.kind !== 'done') return false;
  const [idA, idB] = [a.settlement.externalId, b.settlement.externalId];
  if (idA !== undefined && idB !== undefined) return idA === idB;
  return yieldOf(a.settlement) === yieldOf(b.settlement);
}

/** Whether an answer shows that outcome: every part that both have is the same. */
export function shows(answer: InquiryAnswer<Json>, sent: Sent): boolean {
  if (sent.kind !== 'done' || !('externalId' in answer || 'result' in answer)) return true;
  const { settlement } = sent;
  const ids = 'externalId' in answer ? answer.externalId : undefined;
  if (ids !== undefined && settlement.externalId !== undefined && ids !== settlement.externalId)
    return false;
  const result = 'result' in answer ? answer.result : undefined;
  if (result === undefined || settlement.kind !== 'executed') return true;
  return canonicalJson(result) === canonicalJson(settlement.result);
}

function yieldOf(done: Done): string {
  if (done.kind === 'executed') return canonicalJson(done.result);
  return done.kind === 'partial' ? canonicalJson(done.parts) : done.externalId;
}
