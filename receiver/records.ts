// Reads and writes of the receiver's rows. No decisions; always inside the caller's transaction.

import type { Digest, Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Executed, Rejected } from './answer.ts';
import type { Applied, EffectTx, Rejection, SqlRow, SqlValue } from './operation.ts';
import type { CheckedRequest, FullIdentity } from './request.ts';
import { number, text } from './store.ts';
import type { ClosedThrough, RecordState } from './verdict.ts';

const BY_IDENTITY = 'principal = ? AND domain = ? AND operation = ? AND version = ? AND key = ?';
const IDENTITY = 'principal, domain, operation, version, key';

export interface OperationRecord {
  readonly digest: Digest;
  readonly state: RecordState;
  readonly changedAt: number;
  readonly claimToken: string | null;
  readonly outcome: Executed | Rejected | null;
}

export interface Effect extends FullIdentity {
  readonly seq: number;
  readonly digest: Digest;
  readonly sendToken: SendToken | null;
  readonly externalId: string;
  readonly objectVersion: string | null;
  readonly at: number;
}

export function identityValues(of: FullIdentity): readonly SqlValue[] {
  return [of.principal, of.domain, of.operation, of.version, of.key];
}

export function tokenValues(token: SendToken | null | undefined): readonly SqlValue[] {
  return [token?.epoch ?? null, token?.number ?? null];
}

export function identityOf(row: SqlRow): FullIdentity {
  const of = (column: string) => text(row, column) ?? '';
  return {
    principal: of('principal'),
    domain: of('domain'),
    operation: of('operation'),
    version: of('version'),
    key: of('key'),
  };
}

export function tokenOf(row: SqlRow): SendToken | null {
  const epoch = number(row, 'token_epoch');
  const attempt = number(row, 'token_number');
  return epoch === null || attempt === null ? null : { epoch, number: attempt };
}

export function readRecord(tx: EffectTx, of: FullIdentity): OperationRecord | null {
  const row = tx.get(`SELECT * FROM operation WHERE ${BY_IDENTITY}`, ...identityValues(of));
  if (row === undefined) return null;
  return {
    digest: text(row, 'digest') as Digest,
    state: text(row, 'state') as RecordState,
    changedAt: Number(text(row, 'changed_at')),
    claimToken: text(row, 'claim_token'),
    outcome: outcomeOf(row),
  };
}

function outcomeOf(row: SqlRow): Executed | Rejected | null {
  if (text(row, 'state') === 'executed') {
    const result = text(row, 'result');
    return {
      kind: 'executed',
      externalId: text(row, 'external_id') ?? '',
      objectVersion: text(row, 'object_version') ?? undefined,
      ...(result === null ? {} : { result: JSON.parse(result) as Json }),
    };
  }
  if (text(row, 'state') !== 'rejected') return null;
  const code = text(row, 'rejected_code') ?? '';
  return { kind: 'rejected', code, message: text(row, 'rejected_message') ?? '' };
}

/** The claim of a foreign effect: new, or taken over from one that is lost or not executed. */
export function writeClaim(tx: EffectTx, of: CheckedRequest, claim: string, at: number): void {
  const values = [...tokenValues(of.sendToken), claim, at];
  tx.run(
    `INSERT INTO operation (${IDENTITY}, digest, state, token_epoch, token_number, claim_token,
       changed_at) VALUES (?, ?, ?, ?, ?, ?, 'processing', ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET state = 'processing', token_epoch = excluded.token_epoch,
       token_number = excluded.token_number, claim_token = excluded.claim_token,
       changed_at = excluded.changed_at`,
    ...identityValues(of),
    of.digest,
    ...values,
  );
}

/** False: the claim is no longer ours, nothing was changed (A7). */
export function leaveClaim(
  tx: EffectTx,
  of: FullIdentity,
  change: {
    readonly claim: string;
    readonly state: RecordState;
    readonly outcome: Applied | Rejection | null;
    readonly at: number;
  },
): boolean {
  const row = tx.get(
    `UPDATE operation SET state = ?, result = ?, external_id = ?, object_version = ?,
       rejected_code = ?, rejected_message = ?, changed_at = ?
     WHERE ${BY_IDENTITY} AND claim_token = ? AND state = 'processing' RETURNING 1 AS mine`,
    change.state,
    ...outcomeValues(change.outcome),
    change.at,
    ...identityValues(of),
    change.claim,
  );
  return row !== undefined;
}

export function writeOutcome(
  tx: EffectTx,
  of: CheckedRequest,
  outcome: Applied | Rejection,
  at: number,
): void {
  // No ON CONFLICT: the verdict saw no row, and the primary key is the second lock on that.
  tx.run(
    `INSERT INTO operation (${IDENTITY}, digest, state, result, external_id, object_version,
       rejected_code, rejected_message, token_epoch, token_number, changed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...identityValues(of),
    of.digest,
    'rejected' in outcome ? 'rejected' : 'executed',
    ...outcomeValues(outcome),
    ...tokenValues(of.sendToken),
    at,
  );
}

function outcomeValues(outcome: Applied | Rejection | null): readonly SqlValue[] {
  if (outcome === null) return [null, null, null, null, null];
  if ('rejected' in outcome)
    return [null, null, null, outcome.rejected.code, outcome.rejected.message];
  const result = outcome.result === undefined ? null : JSON.stringify(outcome.result);
  return [result, outcome.externalId, outcome.objectVersion ?? null, null, null];
}

/** The receiver's own log of what it did; each row names its key and token (B12). */
export function writeEffect(tx: EffectTx, of: CheckedRequest, applied: Applied, at: number): void {
  tx.run(
    `INSERT INTO effect (${IDENTITY}, digest, token_epoch, token_number, external_id,
       object_version, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...identityValues(of),
    of.digest,
    ...tokenValues(of.sendToken),
    applied.externalId,
    applied.objectVersion ?? null,
    at,
  );
}

export function readEffects(tx: EffectTx): readonly Effect[] {
  return tx.all('SELECT * FROM effect ORDER BY seq').map((row) => ({
    ...identityOf(row),
    seq: Number(text(row, 'seq')),
    digest: text(row, 'digest') as Digest,
    sendToken: tokenOf(row),
    externalId: text(row, 'external_id') ?? '',
    objectVersion: text(row, 'object_version'),
    at: Number(text(row, 'at')),
  }));
}

export function readClosing(tx: EffectTx, of: FullIdentity): ClosedThrough | null {
  const row = tx.get(`SELECT * FROM closing WHERE ${BY_IDENTITY}`, ...identityValues(of));
  return row === undefined ? null : { through: tokenOf(row) };
}

export function writeClosing(
  tx: EffectTx,
  of: FullIdentity,
  through: SendToken | null,
  at: number,
): void {
  tx.run(
    `INSERT OR REPLACE INTO closing (${IDENTITY}, token_epoch, token_number, closed_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...identityValues(of),
    ...tokenValues(through),
    at,
  );
}

export interface FenceScope {
  readonly principal: string;
  readonly domain: string;
  readonly scope: string;
}

export function readFence(tx: EffectTx, of: FenceScope): number | null {
  const row = tx.get(
    'SELECT epoch FROM fence WHERE principal = ? AND domain = ? AND scope = ?',
    of.principal,
    of.domain,
    of.scope,
  );
  return row === undefined ? null : number(row, 'epoch');
}

/** Raises, never lowers. */
export function raiseFence(tx: EffectTx, of: FenceScope, epoch: number): void {
  tx.run(
    `INSERT INTO fence (principal, domain, scope, epoch) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET epoch = max(epoch, excluded.epoch)`,
    of.principal,
    of.domain,
    of.scope,
    epoch,
  );
}
