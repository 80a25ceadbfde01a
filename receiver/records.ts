// Reads and writes of the receiver's rows. No decisions; always inside the caller's transaction.

import type { Digest, Json } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Executed, Rejected } from './answer.ts';
import { receiverLimits } from './limits.ts';
import type { Applied, EffectTx, Rejection, SqlRow, SqlValue } from './operation.ts';
import type { CheckedRequest, FullIdentity } from './request.ts';
import { number, type Tx, text } from './store.ts';
import type { ClosedThrough, RecordState } from './verdict.ts';

const BY_IDENTITY = 'principal = ? AND domain = ? AND operation = ? AND version = ? AND key = ?';
const IDENTITY = 'principal, domain, operation, version, key';

export interface OperationRecord {
  /** Of operation, version and input: what a repetition has to match. */
  readonly digest: Digest;
  /** Of the input alone; null in a record of schema 1. */
  readonly inputDigest: Digest | null;
  /** The caller's own, where it sent one. */
  readonly payloadDigest: Digest | null;
  readonly state: RecordState;
  readonly changedAt: number;
  readonly claimToken: string | null;
  readonly outcome: Executed | Rejected | null;
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

/** What is on record under one identity. */
export interface Standing {
  readonly record: OperationRecord | null;
  readonly closed: ClosedThrough | null;
}

const NOTHING: Standing = { record: null, closed: null };

export async function readStanding(tx: EffectTx, of: FullIdentity): Promise<Standing> {
  const row = await tx.get(`SELECT * FROM operation WHERE ${BY_IDENTITY}`, ...identityValues(of));
  return row === undefined ? NOTHING : standingOf(row);
}

/**
 * The row of the identity, held until this transaction ends: the unique key lets one in, and its
 * twin waits here. What is read afterwards is what the one before has left.
 */
export async function lockStanding(tx: Tx, of: FullIdentity, at: number): Promise<Standing> {
  const select = `SELECT * FROM operation WHERE ${BY_IDENTITY}${tx.locks.operation}`;
  for (let tries = 0; tries < receiverLimits.sweptTriesMax; tries++) {
    await tx.run(
      `INSERT INTO operation (${IDENTITY}, state, changed_at) VALUES (?, ?, ?, ?, ?, 'open', ?)
       ON CONFLICT DO NOTHING`,
      ...identityValues(of),
      at,
    );
    const row = await tx.get(select, ...identityValues(of));
    // None: swept between the two statements (A15).
    if (row !== undefined) return standingOf(row);
  }
  throw new Error(`the row of key ${of.key} was swept ${receiverLimits.sweptTriesMax} times`);
}

/** After a request that left nothing: its row goes with it. */
export async function dropEmpty(tx: Tx, of: FullIdentity): Promise<void> {
  await tx.run(
    `DELETE FROM operation WHERE ${BY_IDENTITY} AND state = 'open' AND closed_at IS NULL`,
    ...identityValues(of),
  );
}

function standingOf(row: SqlRow): Standing {
  const closed = text(row, 'closed_at') === null ? null : { through: closedThrough(row) };
  if (text(row, 'state') === 'open') return { record: null, closed };
  const record = {
    digest: text(row, 'digest') as Digest,
    inputDigest: text(row, 'input_digest') as Digest | null,
    payloadDigest: text(row, 'payload_digest') as Digest | null,
    state: text(row, 'state') as RecordState,
    changedAt: Number(text(row, 'changed_at')),
    claimToken: text(row, 'claim_token'),
    outcome: outcomeOf(row),
  };
  return { record, closed };
}

function closedThrough(row: SqlRow): SendToken | null {
  const epoch = number(row, 'closed_epoch');
  const attempt = number(row, 'closed_number');
  return epoch === null || attempt === null ? null : { epoch, number: attempt };
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
export async function writeClaim(
  tx: Tx,
  of: CheckedRequest,
  claim: string,
  at: number,
): Promise<void> {
  await tx.run(
    `UPDATE operation SET state = 'processing', digest = ?, input_digest = ?, payload_digest = ?,
       token_epoch = ?, token_number = ?, claim_token = ?, changed_at = ? WHERE ${BY_IDENTITY}`,
    ...digestValues(of),
    ...tokenValues(of.sendToken),
    claim,
    at,
    ...identityValues(of),
  );
}

/** False: the claim is no longer ours, nothing was changed (A7). */
export async function leaveClaim(
  tx: EffectTx,
  of: FullIdentity,
  change: {
    readonly claim: string;
    readonly state: RecordState;
    readonly outcome: Applied | Rejection | null;
    readonly at: number;
  },
): Promise<boolean> {
  const row = await tx.get(
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

export async function writeOutcome(
  tx: Tx,
  of: CheckedRequest,
  outcome: Applied | Rejection,
  at: number,
): Promise<void> {
  await tx.run(
    `UPDATE operation SET state = ?, digest = ?, input_digest = ?, payload_digest = ?, result = ?,
       external_id = ?, object_version = ?, rejected_code = ?, rejected_message = ?,
       token_epoch = ?, token_number = ?, changed_at = ? WHERE ${BY_IDENTITY}`,
    'rejected' in outcome ? 'rejected' : 'executed',
    ...digestValues(of),
    ...outcomeValues(outcome),
    ...tokenValues(of.sendToken),
    at,
    ...identityValues(of),
  );
}

function digestValues(of: CheckedRequest): readonly SqlValue[] {
  return [of.digest, of.inputDigest, of.payloadDigest ?? null];
}

function outcomeValues(outcome: Applied | Rejection | null): readonly SqlValue[] {
  if (outcome === null) return [null, null, null, null, null];
  if ('rejected' in outcome)
    return [null, null, null, outcome.rejected.code, outcome.rejected.message];
  const result = outcome.result === undefined ? null : JSON.stringify(outcome.result);
  return [result, outcome.externalId, outcome.objectVersion ?? null, null, null];
}

export async function writeClosing(
  tx: Tx,
  of: FullIdentity,
  through: SendToken | null,
  at: number,
): Promise<void> {
  await tx.run(
    `UPDATE operation SET closed_epoch = ?, closed_number = ?, closed_at = ? WHERE ${BY_IDENTITY}`,
    ...tokenValues(through),
    at,
    ...identityValues(of),
  );
}

/** How many records went. What is not final stays (A10), a closing as long as a record (A14). */
export async function sweepRecords(tx: Tx, before: number): Promise<number> {
  const gone = await tx.all(
    `DELETE FROM operation WHERE state IN ('open', 'executed', 'rejected', 'not_executed')
       AND changed_at <= ? AND (closed_at IS NULL OR closed_at <= ?) RETURNING state`,
    before,
    before,
  );
  return gone.filter((row) => text(row, 'state') !== 'open').length;
}
