// Catches: a second effect under one key, and any answer that differs from the first. The rules are
// in the suites; here is what SQLite has to itself.

import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { LocalOperation, Receiver } from '../../receiver/index.ts';
import { openForTest } from './open.ts';
import { requestRules } from './requests.testsuite.ts';
import { retentionRules } from './retention.testsuite.ts';
import { openOnSqlite } from './sqlite-place.ts';

requestRules(openOnSqlite);
retentionRules(openOnSqlite);

test('A15 K-029: a sweep cannot come between verdict and effect', async () => {
  const hour = 3_600_000;
  const settings = { retentionMs: hour, clockSkewMs: 60_000 };
  const second: { receiver?: Receiver } = {};
  const swept: number[] = [];
  const act: LocalOperation = {
    version: '1',
    async apply() {
      swept.push((await second.receiver?.sweep()) ?? -1);
      return { externalId: 'x' };
    },
  };
  const { receiver, path, time } = await openForTest({ ...settings, operations: { act } });
  const old = { principal: 'u', operation: 'act', version: '1', key: 'old', input: null };
  await receiver.execute(old);
  time.now += hour;
  const clock = () => time.now;
  second.receiver = (await openForTest({ ...settings, path, clock, busyTimeoutMs: 1 })).receiver;
  await receiver.execute({ ...old, key: 'new' });
  expect(swept).toEqual([-1, 0]);
  expect(await second.receiver?.sweep()).toBe(1);
});

test('a store of a newer schema is refused, naming both versions', async () => {
  const { path } = await openForTest();
  const db = new Database(path);
  db.pragma('user_version = 99');
  db.close();
  await expect(openForTest({ path })).rejects.toThrow(/schema 99 is newer than 2/);
});
