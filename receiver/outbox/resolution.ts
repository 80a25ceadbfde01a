// A person's word on an intent that nobody knows the end of.

import type { EffectTx } from '../operation.ts';
import type { IntentRecord, IntentState } from './intent.ts';
import { change, read } from './rows.ts';

export interface Decision {
  /** `send_again`: knowing that it may then have its effect twice. */
  readonly outcome: 'executed' | 'not_executed' | 'send_again';
  readonly actor: string;
  readonly reason: string;
  /** Of the record that was looked at. */
  readonly version: number;
}

export type Resolved =
  | { readonly kind: 'resolved'; readonly record: IntentRecord }
  | { readonly kind: 'refused'; readonly why: string };

const states = {
  executed: 'executed',
  not_executed: 'not_executed',
  send_again: 'queued',
} as const satisfies Record<Decision['outcome'], IntentState>;

export async function decide(
  tx: EffectTx,
  { key, decision, at }: { readonly key: string; readonly decision: Decision; readonly at: number },
): Promise<Resolved> {
  const record = await read(tx, key);
  const why = problemOf(record, decision);
  if (record === null || why !== null) return { kind: 'refused', why: why ?? 'no such intent' };
  const { outcome, actor, reason } = decision;
  const to = { state: states[outcome], reason: `${actor}: ${reason}`, dueAt: at };
  const isChanged = await change(tx, record, { claim: null, at, to });
  if (!isChanged) return { kind: 'refused', why: 'it has changed meanwhile; look again' };
  return { kind: 'resolved', record: { ...record, ...to, version: record.version + 1 } };
}

function problemOf(record: IntentRecord | null, decision: Decision): string | null {
  if (record === null) return 'no such intent';
  const { actor, reason, outcome, version } = decision;
  if (actor === '' || reason === '') return 'an answer names who gives it, and why';
  if (version !== record.version) return `it is at version ${record.version}; look again`;
  if (record.state === 'unknown') return null;
  if (record.state === 'disputed' && outcome !== 'send_again') return null;
  return `it is ${record.state}; there is nothing to decide`;
}
