// The request log: every arrival, also those that were refused, replayed or never answered.
// An arrival is committed before it is considered: one that died halfway shows, with answer null.

import type { Digest } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import { tokenOf } from './effects.ts';
import type { EffectTx } from './operation.ts';
import { identityOf, identityValues, tokenValues } from './records.ts';
import type { FullIdentity } from './request.ts';
import { number, type Tx, text } from './store.ts';

export type ArrivalKind = 'execute' | 'inquire' | 'close';

export interface Arrival extends FullIdentity {
  readonly seq: number;
  readonly kind: ArrivalKind;
  readonly digest: Digest | null;
  readonly sendToken: SendToken | null;
  readonly firstSentAt: number | null;
  readonly at: number;
  /** Kind of the answer, `replayed` for a replay; null: it was never answered. */
  readonly answer: string | null;
}

export interface ArrivalNote {
  readonly kind: ArrivalKind;
  readonly digest?: Digest;
  readonly sendToken?: SendToken | undefined;
  readonly firstSentAt?: number | undefined;
  readonly at: number;
}

export async function writeArrival(tx: Tx, of: FullIdentity, note: ArrivalNote): Promise<number> {
  const row = await tx.get(
    `INSERT INTO arrival (kind, principal, domain, operation, version, key, digest, token_epoch,
       token_number, first_sent_at, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    note.kind,
    ...identityValues(of),
    note.digest ?? null,
    ...tokenValues(note.sendToken),
    note.firstSentAt ?? null,
    note.at,
  );
  return Number(row?.['seq']);
}

export async function writeArrivalAnswer(tx: Tx, seq: number, answer: string): Promise<void> {
  await tx.run('UPDATE arrival SET answer = ? WHERE seq = ?', answer, seq);
}

export async function sweepArrivals(tx: Tx, before: number): Promise<void> {
  await tx.run('DELETE FROM arrival WHERE at <= ?', before);
}

export async function readArrivals(tx: EffectTx): Promise<readonly Arrival[]> {
  const rows = await tx.all('SELECT * FROM arrival ORDER BY seq');
  return rows.map((row) => ({
    ...identityOf(row),
    seq: Number(text(row, 'seq')),
    kind: text(row, 'kind') as ArrivalKind,
    digest: text(row, 'digest') as Digest | null,
    sendToken: tokenOf(row),
    firstSentAt: number(row, 'first_sent_at'),
    at: Number(text(row, 'at')),
    answer: text(row, 'answer'),
  }));
}
