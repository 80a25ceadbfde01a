// The receiver's own log of what it did; each row names its key and token (B12).

import type { Digest } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Applied, EffectTx, SqlRow } from './operation.ts';
import { identityOf, identityValues, tokenValues } from './records.ts';
import type { CheckedRequest, FullIdentity } from './request.ts';
import { number, type Tx, text } from './store.ts';

export interface Effect extends FullIdentity {
  readonly seq: number;
  readonly digest: Digest;
  readonly sendToken: SendToken | null;
  readonly externalId: string;
  readonly objectVersion: string | null;
  readonly at: number;
}

export async function writeEffect(
  tx: Tx,
  of: CheckedRequest,
  applied: Applied,
  at: number,
): Promise<void> {
  await tx.run(
    `INSERT INTO effect (principal, domain, operation, version, key, digest, token_epoch,
       token_number, external_id, object_version, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...identityValues(of),
    of.digest,
    ...tokenValues(of.sendToken),
    applied.externalId,
    applied.objectVersion ?? null,
    at,
  );
}

export async function readEffects(tx: EffectTx): Promise<readonly Effect[]> {
  const rows = await tx.all('SELECT * FROM effect ORDER BY seq');
  return rows.map((row) => ({
    ...identityOf(row),
    seq: Number(text(row, 'seq')),
    digest: text(row, 'digest') as Digest,
    sendToken: tokenOf(row),
    externalId: text(row, 'external_id') ?? '',
    objectVersion: text(row, 'object_version'),
    at: Number(text(row, 'at')),
  }));
}

/** The token of a row of either log. */
export function tokenOf(row: SqlRow): SendToken | null {
  const epoch = number(row, 'token_epoch');
  const attempt = number(row, 'token_number');
  return epoch === null || attempt === null ? null : { epoch, number: attempt };
}
