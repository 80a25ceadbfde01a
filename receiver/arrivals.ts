// The request log: every arrival, also those that were refused, replayed or never answered.
// An arrival is committed before it is considered: one that died halfway shows, with answer null.

import type { Digest } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { EffectTx } from './operation.ts';
import { identityOf, identityValues, tokenOf, tokenValues } from './records.ts';
import type { FullIdentity } from './request.ts';
import { number, text } from './store.ts';

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

export function writeArrival(tx: EffectTx, of: FullIdentity, note: ArrivalNote): number {
  const { lastId } = tx.run(
    `INSERT INTO arrival (kind, principal, domain, operation, version, key, digest, token_epoch,
       token_number, first_sent_at, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    note.kind,
    ...identityValues(of),
    note.digest ?? null,
    ...tokenValues(note.sendToken),
    note.firstSentAt ?? null,
    note.at,
  );
  return lastId;
}

export function writeArrivalAnswer(tx: EffectTx, seq: number, answer: string): void {
  tx.run('UPDATE arrival SET answer = ? WHERE seq = ?', answer, seq);
}

export function readArrivals(tx: EffectTx): readonly Arrival[] {
  return tx.all('SELECT * FROM arrival ORDER BY seq').map((row) => ({
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
