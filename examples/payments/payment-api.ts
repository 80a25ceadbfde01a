// A payment API as card processors offer it: it de-duplicates by the caller's key, and can be
// neither asked by that key nor closed.
//
//   POST /v1/charges   Authorization: Bearer <account>   Idempotency-Key: <key>   {card, cents}
//     200, 400, 402    decided: kept with the key for 24 hours, and answered again as it was
//     409 Retry-After  the first request with this key is at work
//     422              the key was used with another body; nothing is done
//     401, 429, 503    not considered: nothing is kept, nothing is done
//   GET /charges, GET /requests   its own log
//   POST /bank/wake, POST /bank/sleep   whether the bank of `tok_bank_asleep` answers
//
// INV-1 A key is claimed by a unique constraint, before anything is decided under it.
// INV-2 The charge and the answer that is kept for its key are one transaction.

import Database from 'better-sqlite3';
import * as z from 'zod';
import { digestOfBytes } from '../../core/digest.ts';
import type { Aim } from '../../receiver/fault.ts';
import { readBody } from '../../receiver/http.ts';
import { type HttpAnswer, json } from '../../receiver/problem.ts';
import type { HttpCall } from '../../receiver/transport.ts';
import { runService, type Service } from '../stories/service.ts';
import type { Requested } from './payment-log.ts';

/** Older keys are forgotten, and a request with one of them is a new charge. */
const KEPT_MS = 24 * 3_600_000;
const CENTS_MIN = 50;
const TABLES = `
CREATE TABLE IF NOT EXISTS answer (account TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL,
  at INTEGER NOT NULL, status INTEGER, said TEXT, PRIMARY KEY (account, key)) STRICT;
CREATE TABLE IF NOT EXISTS charge (id INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL,
  key TEXT NOT NULL, card TEXT NOT NULL, cents INTEGER NOT NULL) STRICT;`;

const chargeSchema = z.strictObject({ card: z.string().min(1), cents: z.int().positive() });
type Charge = z.infer<typeof chargeSchema>;

interface Api {
  readonly db: Database.Database;
  readonly requests: Requested[];
  readonly bank: Bank;
}

interface Bank {
  /** Resolves when it is awake. */
  awake(): Promise<void>;
  wake(): void;
  sleep(): void;
}

/** Keys are scoped by account: the same key of another account is another one. */
interface Keyed {
  readonly account: string;
  readonly key: string;
  /** Digest of the bytes that came. */
  readonly body: string;
}

function openPaymentApi(store: string): Service {
  const db = new Database(store);
  db.exec(TABLES);
  const api: Api = { db, requests: [], bank: sleepyBank() };
  return { aimOf, close: () => db.close(), handler: (call) => answered(api, call) };
}

async function answered(api: Api, call: HttpCall): Promise<HttpAnswer> {
  const { db, requests, bank } = api;
  switch (`${call.method} /${call.path.join('/')}`) {
    case 'POST /v1/charges': {
      const body = call.body.toString('utf8');
      const logged: Requested = { key: keyIn(call), body, status: null };
      requests.push(logged);
      const answer = await charge(api, call);
      logged.status = answer.status;
      return answer;
    }
    case 'GET /requests':
      return json(200, { requests });
    case 'GET /charges':
      return json(200, { charges: db.prepare('SELECT * FROM charge').all() });
    case 'POST /bank/wake':
      bank.wake();
      return json(200, {});
    case 'POST /bank/sleep':
      bank.sleep();
      return json(200, {});
    default:
      return json(404, {});
  }
}

async function charge({ db, bank }: Api, call: HttpCall): Promise<HttpAnswer> {
  const account = headerOf(call, 'authorization').replace(/^Bearer /, '');
  if (account === '') return json(401, { code: 'no_account' });
  const body = readBody(call.body, chargeSchema);
  if (body.kind === 'invalid') return json(400, { code: 'invalid', message: body.detail });
  const key = keyIn(call);
  if (key === '') return json(400, { code: 'no_key', message: 'send an Idempotency-Key' });
  const keyed: Keyed = { account, key, body: digestOfBytes(call.body) };
  const known = keptFor(db, keyed);
  if (known !== null) return known;
  if (body.value.card === 'tok_bank_asleep') await bank.awake();
  return decided(db, keyed, body.value);
}

interface Kept {
  readonly body: string;
  readonly status: number | null;
  readonly said: string | null;
}

/** Null: the key was free, and is claimed for this request. */
function keptFor(db: Database.Database, { account, key, body }: Keyed): HttpAnswer | null {
  const now = Date.now();
  db.prepare('DELETE FROM answer WHERE status IS NOT NULL AND at < ?').run(now - KEPT_MS);
  const claim = 'INSERT INTO answer (account, key, body, at) VALUES (?, ?, ?, ?)';
  const { changes } = db.prepare(`${claim} ON CONFLICT DO NOTHING`).run(account, key, body, now);
  if (changes === 1) return null;
  const select = 'SELECT body, status, said FROM answer WHERE account = ? AND key = ?';
  const kept = db.prepare(select).get(account, key) as Kept;
  if (kept.body !== body) return json(422, { code: 'idempotency_key_reused' });
  if (kept.status === null) return json(409, { code: 'in_progress' }, { 'Retry-After': '1' });
  return json(kept.status, JSON.parse(kept.said ?? 'null'), { 'Idempotent-Replayed': 'true' });
}

function decided(db: Database.Database, { account, key }: Keyed, wanted: Charge): HttpAnswer {
  const once = db.transaction(() => {
    const answer = refusalOf(wanted) ?? charged();
    const update = 'UPDATE answer SET status = ?, said = ? WHERE account = ? AND key = ?';
    db.prepare(update).run(answer.status, answer.body, account, key);
    return answer;
  });
  const charged = () => {
    const insert = 'INSERT INTO charge (account, key, card, cents) VALUES (?, ?, ?, ?)';
    const row = db.prepare(insert).run(account, key, wanted.card, wanted.cents);
    return json(200, { id: `ch_${row.lastInsertRowid}`, status: 'succeeded' });
  };
  return once();
}

/** What is refused under a key stays refused for it, whatever changes later. */
function refusalOf({ card, cents }: Charge): HttpAnswer | null {
  if (cents < CENTS_MIN)
    return json(400, { code: 'amount_too_small', message: `at least ${CENTS_MIN} cents` });
  if (card === 'tok_declined') return json(402, { code: 'card_declined', message: 'by its bank' });
  return null;
}

function sleepyBank(): Bank {
  let isAsleep = true;
  const waiting: (() => void)[] = [];
  return {
    awake: () => new Promise((resolve) => (isAsleep ? waiting.push(resolve) : resolve())),
    sleep() {
      isAsleep = true;
    },
    wake() {
      isAsleep = false;
      for (const go of waiting.splice(0)) go();
    },
  };
}

function keyIn(call: HttpCall): string {
  return headerOf(call, 'idempotency-key');
}

function headerOf({ headers }: HttpCall, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function aimOf(call: HttpCall): Aim | null {
  if (call.method !== 'POST' || call.path.join('/') !== 'v1/charges') return null;
  return { kind: 'execute', operation: 'charge', key: keyIn(call) };
}

await runService(openPaymentApi);
