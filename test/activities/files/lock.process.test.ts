// The kernel's lock between processes that die and that stand still. Would catch a lock that
// outlives its holder, and one that is taken from a holder who only has not moved for long.

import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../support/process-life.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { LOCK, startHolder, WITHIN_MS, waitForLock } from './lock-holder.ts';

const HOUR_MS = 3_600_000;
const TRIES = 40;

test('C10 K-119 a holder that is killed has no lock any more, whatever its file says', async () => {
  const root = tempDir();
  const holder = await startHolder(root);
  await holder.line('HELD', WITHIN_MS);
  writeFileSync(join(root, LOCK), '{"pi');
  expect(await waitForLock(root, { waitMs: 0 })).toMatchObject({ code: 'locked' });
  const waiter = waitForLock(root);
  await holder.kill();
  expect(await waiter).toEqual({ kind: 'got' });
  expect(readFileSync(join(root, LOCK), 'utf8')).toBe('{"pi');
});

test('C10 a stopped holder keeps its lock, however old its file and often asked for', async () => {
  const root = tempDir();
  const holder = await startHolder(root);
  await holder.line('HELD', WITHIN_MS);
  holder.freeze();
  const old = new Date(Date.now() - HOUR_MS);
  utimesSync(join(root, LOCK), old, old);
  const enough = new AbortController();
  let tries = 0;
  const onTry = () => {
    tries += 1;
    if (tries === TRIES) enough.abort();
  };
  const waiters = [1, 2, 3].map(() => waitForLock(root, { signal: enough.signal, onTry }));
  for (const waiter of await Promise.all(waiters))
    expect(waiter).toMatchObject({ kind: 'not_taken', code: 'canceled' });
  expect(tries).toBeGreaterThanOrEqual(TRIES);
  expect(await waitForLock(root, { waitMs: 0 })).toMatchObject({ code: 'locked' });
  holder.thaw();
  holder.tell('go on');
  expect(await holder.line('OUTCOME ', WITHIN_MS)).toBe('{"kind":"held"}');
  expect(await waitForLock(root)).toEqual({ kind: 'got' });
});

test('C10 K-118 a lock with the process id of a stranger is taken over by one of two', async () => {
  const root = tempDir();
  writeFileSync(join(root, LOCK), `${process.pid}\n`);
  const first = await startHolder(root);
  await first.line('HELD', WITHIN_MS);
  const waiters = await Promise.all([startHolder(root, WITHIN_MS), startHolder(root, WITHIN_MS)]);
  await first.kill();
  const lines = waiters.map((waiter) => waiter.line('HELD', WITHIN_MS));
  const next = await Promise.race(lines.map((line, index) => line.then(() => index)));
  expect(await waitForLock(root, { waitMs: 200 })).toMatchObject({ code: 'locked' });
  waiters[next]?.tell('go on');
  await lines[1 - next];
  expect(await waitForLock(root, { waitMs: 0 })).toMatchObject({ code: 'locked' });
  expect(isAlive(process.pid)).toBe(true);
});
