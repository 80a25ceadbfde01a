// The outbox's two tables: what is known of each intent, and what happened to it, line by line.
// No decisions; always inside the caller's transaction.

import { digestOfBytes, type Json } from '../../core/digest.ts';
import type { EffectTx, SqlRow } from '../operation.ts';
import { postgresWords, sqliteWords } from '../schema.ts';
import { number, text } from '../store.ts';
import type { Intent, IntentEvent, IntentRecord, IntentState } from './intent.ts';

/** Any number: in Postgres two who make the same table at once would fail. */
const OPENING_LOCK = 7_204_118_066;

export async function makeTables(tx: EffectTx): Promise<void> {
  if (tx.dialect === 'postgres') await tx.get('SELECT pg_advisory_xact_lock(?)', OPENING_LOCK);
  const words = tx.dialect === 'sqlite' ? sqliteWords : postgresWords;
  const { serial, integer, strict } = words;
  await tx.run(`CREATE TABLE IF NOT EXISTS outbox_intent (seq ${serial}, key TEXT NOT NULL UNIQUE,
    receiver TEXT NOT NULL, principal TEXT NOT NULL, payload TEXT NOT NULL, digest TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'executed', 'not_executed',
      'not_sent', 'unknown', 'disputed')), reason TEXT, sends ${integer} NOT NULL,
    open_sends ${integer} NOT NULL,
    first_sent_at ${integer}, due_at ${integer} NOT NULL, claim TEXT, external_id TEXT,
    result TEXT, version ${integer} NOT NULL) ${strict}`);
  await tx.run(
    `CREATE INDEX IF NOT EXISTS outbox_due ON outbox_intent (due_at)
       WHERE state IN ('queued', 'sending')`,
  );
  await tx.run(`CREATE TABLE IF NOT EXISTS outbox_event (seq ${serial}, key TEXT NOT NULL,
    at ${integer} NOT NULL, event TEXT NOT NULL, detail TEXT NOT NULL) ${strict}`);
}

const digestOf = (payload: string) => digestOfBytes(Buffer.from(payload, 'utf8'));

/** False: this very intent is there already. Throws where the key stands for another one. */
export async function insert(tx: EffectTx, intent: Intent, now: number): Promise<boolean> {
  const { key, receiver, principal, payload } = intent;
  const { changes } = await tx.run(
    `INSERT INTO outbox_intent (key, receiver, principal, payload, digest, state, sends,
       open_sends, due_at, version) VALUES (?, ?, ?, ?, ?, 'queued', 0, 0, ?, 1)
     ON CONFLICT DO NOTHING`,
    ...[key, receiver, principal, payload, digestOf(payload), now],
  );
  if (changes === 1) {
    await note(tx, { key, at: now, event: 'queued', detail: '' });
    return true;
  }
  const there = await read(tx, key);
  const isSame =
    there?.payload === payload && there.receiver === receiver && there.principal === principal;
  if (!isSame) throw new Error(`outbox: key "${key}" stands for another intent; give it its own`);
  return false;
}

const RECORD = `key, receiver, principal, payload, digest, state, reason, sends, open_sends,
  first_sent_at, external_id, result, version`;

export async function read(tx: EffectTx, key: string): Promise<IntentRecord | null> {
  const row = await tx.get(`SELECT ${RECORD} FROM outbox_intent WHERE key = ?`, key);
  return row === undefined ? null : recordOf(row);
}

export async function readAll(
  tx: EffectTx,
  { state, rowsMax }: { readonly state: IntentState; readonly rowsMax: number },
): Promise<readonly IntentRecord[]> {
  const rows = await tx.all(
    `SELECT ${RECORD} FROM outbox_intent WHERE state = ? ORDER BY seq LIMIT ?`,
    ...[state, rowsMax],
  );
  return rows.map(recordOf);
}

/** The one that has waited longest; nobody else gets it until `until`, unless it is given back. */
export async function takeDue(
  tx: EffectTx,
  { claim, now, until }: { readonly claim: string; readonly now: number; readonly until: number },
): Promise<IntentRecord | null> {
  const lock = tx.dialect === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : '';
  const row = await tx.get(
    `UPDATE outbox_intent SET claim = ?, due_at = ? WHERE seq = (SELECT seq FROM outbox_intent
       WHERE state IN ('queued', 'sending') AND due_at <= ? ORDER BY due_at, seq LIMIT 1 ${lock})
     RETURNING ${RECORD}`,
    ...[claim, until, now],
  );
  return row === undefined ? null : recordOf(row);
}

/** Nothing happened, so there is no event of it. */
export async function postpone(
  tx: EffectTx,
  key: string,
  to: { readonly claim: string; readonly dueAt: number; readonly reason: string },
): Promise<void> {
  await tx.run(
    'UPDATE outbox_intent SET due_at = ?, reason = ? WHERE key = ? AND claim = ?',
    ...[to.dueAt, to.reason, key, to.claim],
  );
}

export interface Change {
  readonly state: IntentState;
  readonly reason?: string | null;
  readonly sends?: number;
  readonly openSends?: number;
  readonly firstSentAt?: number | null;
  readonly externalId?: string | null;
  readonly result?: Json;
  readonly dueAt?: number;
}

/** `claim`: false where the row is no longer its holder's; then nothing was changed. */
export async function change(
  tx: EffectTx,
  record: IntentRecord,
  { claim, to, at }: { readonly claim: string | null; readonly to: Change; readonly at: number },
): Promise<boolean> {
  const next = { ...record, ...to };
  const mine = claim === null ? '' : 'AND claim = ?';
  const { changes } = await tx.run(
    `UPDATE outbox_intent SET state = ?, reason = ?, sends = ?, open_sends = ?, first_sent_at = ?,
       external_id = ?, result = ?, due_at = COALESCE(?, due_at), version = version + 1
     WHERE key = ? AND version = ? ${mine}`,
    ...[next.state, next.reason, next.sends, next.openSends, next.firstSentAt, next.externalId],
    ...[JSON.stringify(next.result), to.dueAt ?? null, record.key, record.version],
    ...(claim === null ? [] : [claim]),
  );
  if (changes === 0) return false;
  await note(tx, { key: record.key, at, event: next.state, detail: next.reason ?? '' });
  return true;
}

export async function note(
  tx: EffectTx,
  { key, at, event, detail }: IntentEvent & { readonly key: string },
): Promise<void> {
  await tx.run(
    'INSERT INTO outbox_event (key, at, event, detail) VALUES (?, ?, ?, ?)',
    ...[key, at, event, detail],
  );
}

export async function readEvents(tx: EffectTx, key: string): Promise<readonly IntentEvent[]> {
  const rows = await tx.all(
    'SELECT at, event, detail FROM outbox_event WHERE key = ? ORDER BY seq',
    key,
  );
  return rows.map((row) => ({
    at: Number(text(row, 'at')),
    event: text(row, 'event') ?? '',
    detail: text(row, 'detail') ?? '',
  }));
}

function recordOf(row: SqlRow): IntentRecord {
  const of = (column: string) => text(row, column) ?? '';
  const payload = of('payload');
  if (digestOf(payload) !== of('digest'))
    throw new Error(`outbox: the payload of "${of('key')}" is not what was enqueued`);
  return {
    ...{ key: of('key'), receiver: of('receiver'), principal: of('principal'), payload },
    state: of('state') as IntentState,
    reason: text(row, 'reason'),
    sends: Number(of('sends')),
    openSends: Number(of('open_sends')),
    firstSentAt: number(row, 'first_sent_at'),
    externalId: text(row, 'external_id'),
    result: JSON.parse(text(row, 'result') ?? 'null') as Json,
    version: Number(of('version')),
  };
}
