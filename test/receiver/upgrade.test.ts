// Catches: a record or a closing of schema 1 that is not heeded any more after the upgrade.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { openForTest, tempFolder } from './open.ts';

const IDENTITY = `principal TEXT NOT NULL, domain TEXT NOT NULL, operation TEXT NOT NULL,
  version TEXT NOT NULL, key TEXT NOT NULL`;
const TOKEN = 'token_epoch INTEGER, token_number INTEGER';

/** As it was made before there was Postgres. */
const SCHEMA_1 = `
CREATE TABLE operation (${IDENTITY}, digest TEXT NOT NULL, state TEXT NOT NULL
    CHECK (state IN ('processing', 'unknown', 'not_executed', 'executed', 'rejected')),
  result TEXT, external_id TEXT, object_version TEXT, rejected_code TEXT, rejected_message TEXT,
  ${TOKEN}, claim_token TEXT, changed_at INTEGER NOT NULL,
  PRIMARY KEY (principal, domain, operation, version, key)) STRICT;
CREATE INDEX operation_by_change ON operation (changed_at);
CREATE TABLE closing (${IDENTITY}, ${TOKEN}, closed_at INTEGER NOT NULL,
  PRIMARY KEY (principal, domain, operation, version, key)) STRICT;
CREATE TABLE fence (principal TEXT NOT NULL, domain TEXT NOT NULL, scope TEXT NOT NULL,
  epoch INTEGER NOT NULL, PRIMARY KEY (principal, domain, scope)) STRICT;
CREATE TABLE effect (seq INTEGER PRIMARY KEY AUTOINCREMENT, ${IDENTITY}, digest TEXT NOT NULL,
  ${TOKEN}, external_id TEXT NOT NULL, object_version TEXT, at INTEGER NOT NULL) STRICT;
CREATE TABLE arrival (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, ${IDENTITY},
  digest TEXT, ${TOKEN}, first_sent_at INTEGER, at INTEGER NOT NULL, answer TEXT) STRICT;
PRAGMA user_version = 1;`;

const identity = { principal: 'u1', operation: 'open_ticket', version: '1' };
const input = { subject: 'Printer' };
const digest = digestOf({ operation: 'open_ticket', version: '1', input });

test('A13 A14 records, closings and fences of schema 1 hold after the upgrade', async () => {
  const path = join(tempFolder(), 'store');
  const db = new Database(path);
  db.exec(SCHEMA_1);
  const at = "'u1', 'local', 'open_ticket', '1'";
  db.exec(`INSERT INTO operation VALUES
      (${at}, 'done', '${digest}', 'executed', '{"n":1}', 'x-1', 'v1', NULL, NULL, 1, 1, NULL, 5),
      (${at}, 'both', '${digest}', 'not_executed', NULL, NULL, NULL, NULL, NULL, 1, 1, 'c', 6);
    INSERT INTO closing VALUES (${at}, 'both', 1, 2, 7), (${at}, 'alone', NULL, NULL, 8);
    INSERT INTO fence VALUES ('u1', 'local', 'run', 4)`);
  db.close();
  const { receiver } = await openForTest({ path, retentionMs: 2_000_000_000_000 });
  const send = (key: string, more: object = {}) =>
    receiver.execute({ ...identity, key, input, ...more });
  const done = { kind: 'executed', result: { n: 1 }, externalId: 'x-1', objectVersion: 'v1' };
  expect(await send('done')).toMatchObject({ ...done, replayed: true });
  // It did not keep the digest of the input alone, and says nothing about it.
  expect(await receiver.inquire({ ...identity, key: 'done' })).toEqual(done);
  expect(await send('done', { input: { subject: 'x' } })).toEqual({ kind: 'key_reused' });
  const through = { epoch: 1, number: 2 };
  expect(await send('both', { sendToken: through })).toEqual({ kind: 'closed', through });
  expect(await send('both', { input: { subject: 'x' } })).toEqual({ kind: 'key_reused' });
  expect(await send('alone', { sendToken: { epoch: 9, number: 9 } })).toEqual({
    ...{ kind: 'closed', through: null },
  });
  const stale = { sendToken: { epoch: 3, number: 1 }, fenceScope: 'run' };
  expect(await send('new', stale)).toEqual({ kind: 'fenced', epoch: 4 });
  expect(await receiver.effects()).toEqual([]);
});
