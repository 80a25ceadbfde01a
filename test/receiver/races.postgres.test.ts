// What only shows where several write at once. Catches: a fence that is only read, a closing that
// does not wait, a row taken for there because it was there.

import { describe, expect, test } from 'vitest';
import type { LocalOperation, Receiver, ReceiverSettings } from '../../receiver/index.ts';
import { receiverLimits } from '../../receiver/limits.ts';
import { openStore } from '../../receiver/place.ts';
import { receiverOn } from '../../receiver/receiver.ts';
import type { Store } from '../../receiver/store.ts';
import { openOnPostgres, type PostgresTestPlace } from './postgres-place.ts';
import { deferred } from './stage.ts';

const identity = { principal: 'u1', operation: 'act', version: '1', key: 'k' };
const act = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: null, ...more });
const POLL = { timeout: 60_000, interval: 10 };

async function open(options: Parameters<typeof openOnPostgres>[0] = {}) {
  const opened = await openOnPostgres(options);
  return { ...opened, place: opened.place as PostgresTestPlace };
}

/** Effects begin, and end when the test says so. */
function held() {
  const gate = deferred<void>();
  const seen = { begun: 0, fail: false };
  const operation: LocalOperation = {
    version: '1',
    async apply() {
      seen.begun += 1;
      await gate.promise;
      if (seen.fail) throw new Error('no');
      return { externalId: 'x' };
    },
  };
  return { gate, seen, operations: { act: operation } };
}

/** How many of this schema's receivers wait for a lock. */
async function waiting(place: PostgresTestPlace): Promise<number> {
  const sql = `SELECT count(DISTINCT pid) AS n FROM pg_locks WHERE NOT granted AND pid IN (
    SELECT pid FROM pg_locks WHERE relation IN (
      SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace))`;
  const [row] = await place.rows(sql);
  return Number(row?.['n']);
}

describe('A13: a closing while the request is in flight', () => {
  test.each([
    ['commits', false, 'executed'],
    ['rolls back', true, 'not_executed'],
  ])('A13: waits, and tells what is left when it %s', async (_what, fail, kind) => {
    const { gate, seen, operations } = held();
    const { receiver, place } = await open({ operations });
    const { receiver: other } = await open({ place, operations });
    seen.fail = fail;
    const first = act(receiver);
    await expect.poll(() => seen.begun, POLL).toBe(1);
    const closing = other.close(identity);
    await expect.poll(() => waiting(place), POLL).toBe(1);
    // What a plain look sees meanwhile proves nothing.
    expect(await other.inquire(identity)).toEqual({ kind: 'no_record' });
    gate.resolve();
    expect(await closing).toMatchObject({ kind });
    expect(await first).toMatchObject({ kind: fail ? 'not_taken' : 'executed' });
    seen.fail = false;
    const late = await act(other);
    expect(late).toMatchObject(fail ? { kind: 'closed' } : { kind: 'executed', replayed: true });
    expect(await other.effects()).toHaveLength(fail ? 0 : 1);
  });

  test('A13: a statement that the server cut off is in flight, not unanswered', async () => {
    const { gate, seen, operations } = held();
    const { receiver, place } = await open({ operations });
    const first = act(receiver);
    await expect.poll(() => seen.begun, POLL).toBe(1);
    const closing = receiver.close(identity);
    await expect.poll(() => waiting(place), POLL).toBe(1);
    // The same SQLSTATE as a statement_timeout.
    await place.rows(`SELECT pg_cancel_backend(l.pid) FROM pg_locks l WHERE NOT l.granted
      AND l.pid IN (SELECT pid FROM pg_locks WHERE relation = 'operation'::regclass)`);
    expect(await closing).toMatchObject({ kind: 'in_flight' });
    gate.resolve();
    expect(await first).toMatchObject({ kind: 'executed' });
  });

  test('A6: a twin that cannot wait any longer is told that its key is at work', async () => {
    const { gate, seen, operations } = held();
    const { receiver, place } = await open({ operations });
    const { receiver: hasty } = await open({ place, operations, busyTimeoutMs: 20 });
    const first = act(receiver);
    await expect.poll(() => seen.begun, POLL).toBe(1);
    expect(await act(hasty)).toMatchObject({ kind: 'in_progress' });
    expect(await act(hasty, { input: 'other' })).toMatchObject({ kind: 'in_progress' });
    gate.resolve();
    expect(await first).toMatchObject({ kind: 'executed' });
    expect(seen.begun).toBe(1);
  });
});

describe('A15: the row is swept between the insert that lost and the look', () => {
  const hour = 3_600_000;
  const options = { retentionMs: hour, clockSkewMs: 60_000 };

  test.each([
    ['of now', 'executed', 2],
    ['of then', 'outside_window', 1],
  ])('A15 K-029: a request %s is judged by what is there: %s', async (which, kind, effects) => {
    const tickets = { ...identity, operation: 'open_ticket', input: { subject: 's' } };
    const { receiver, place, time } = await open(options);
    const then = time.now;
    await receiver.execute({ ...tickets, firstSentAt: then });
    time.now += hour;
    const swept: number[] = [];
    let inserts = 0;
    const trace: ReceiverSettings['trace'] = async (sql) => {
      if (sql.startsWith('INSERT INTO operation')) inserts += 1;
      if (!sql.includes('FOR UPDATE') || swept.length > 0) return;
      swept.push(await receiver.sweep());
    };
    const clock = () => time.now;
    const { receiver: racing } = await open({ ...options, place, clock, trace });
    const firstSentAt = which === 'of now' ? time.now : then;
    const answer = await racing.execute({ ...tickets, firstSentAt });
    expect(answer).toMatchObject({ kind });
    expect([swept, inserts]).toEqual([[1], 2]);
    expect(await receiver.effects()).toHaveLength(effects);
  });
});

describe('B3: eight effects under way when the fence is raised', () => {
  const fenceScope = 'run';
  const scope = { principal: 'u1', scope: fenceScope };
  const WORKERS = 8;

  /** As it would be with a plain SELECT of the epoch before the effect. */
  const unlocked = (store: Store): Store => ({
    ...store,
    transaction: (body) =>
      store.transaction((tx) => body({ ...tx, locks: { ...tx.locks, fence: '' } })),
  });

  /** Effects of the old epoch that are seen when `fence` has returned, and in the end. */
  async function fenceAmong(check: (store: Store) => Store) {
    const { gate, seen, operations } = held();
    const { place } = await open({ operations });
    const { busyTimeoutMs, transactionMs } = receiverLimits;
    const settings = { busyTimeoutMs, transactionMs, tables: () => [] };
    const connectionsMax = WORKERS + 2;
    const store = check(await openStore({ ...place.at, connectionsMax }, settings));
    const receiver = receiverOn(store, { operations });
    await receiver.fence({ ...scope, epoch: 1 });
    const old = { sendToken: { epoch: 1, number: 1 }, fenceScope };
    const work = Array.from({ length: WORKERS }, (_, i) => act(receiver, { ...old, key: `k${i}` }));
    const underWay = async () => seen.begun + (await waiting(place));
    await expect.poll(underWay, POLL).toBe(WORKERS);
    let returned = false;
    const fencing = receiver.fence({ ...scope, epoch: 2 }).finally(() => {
      returned = true;
    });
    const waits = async () => returned || (await waiting(place)) === WORKERS;
    await expect.poll(waits, POLL).toBe(true);
    if (!returned) gate.resolve();
    expect(await fencing).toEqual({ kind: 'fenced', epoch: 2 });
    const atReturn = (await receiver.effects()).length;
    gate.resolve();
    await Promise.all(work);
    const inTheEnd = (await receiver.effects()).length;
    await receiver.shutdown();
    return { atReturn, inTheEnd };
  }

  test('B3: no effect of the old epoch appears after fence() has returned', async () => {
    const { atReturn, inTheEnd } = await fenceAmong((store) => store);
    expect(inTheEnd).toBe(atReturn);
  });

  test('B3 negative control: with a plain SELECT all eight appear afterwards', async () => {
    expect(await fenceAmong(unlocked)).toEqual({ atReturn: 0, inTheEnd: WORKERS });
  });
});
