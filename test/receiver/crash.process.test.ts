// Catches: an effect without its record, or a record without its effect, after a death anywhere.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Call, send } from '../support/receiver-call.ts';
import { startReceiver } from '../support/receiver-process.ts';
import { crashRules, wholeKeys } from './crashes.testsuite.ts';
import { tempFolder } from './open.ts';
import { openOnSqlite, sqlitePlace } from './sqlite-place.ts';

// Arrival, COMMIT; row, ticket, notification, record, effect, arrival's answer, COMMIT.
crashRules(openOnSqlite, 9);

const ticket = (key: string): Call => ({
  operation: 'open_ticket',
  key,
  input: { subject: 'Printer' },
});

test('R-028 A4 killed under load, effects are whole and each answer given is kept', async () => {
  const store = join(tempFolder(), 'store');
  const answered = new Set<string>();
  for (let round = 0; round < 2; round++) {
    const receiver = await startReceiver({ store });
    // The kill comes with the answers, at no set time: half of the round is still on its way.
    const keys = Array.from({ length: 12 }, (_, i) => `r${round}.${String(i).padStart(2, '0')}`);
    let arrived = 0;
    const calls = keys.map(async (key) => {
      const reply = await send(receiver.url, ticket(key));
      answered.add(key);
      expect(reply.status).toBe(200);
      arrived += 1;
      if (arrived === 3 + 2 * round) await receiver.kill();
    });
    await Promise.allSettled(calls);
    const executed = new Set(await wholeKeys(sqlitePlace(store)));
    expect([...answered].filter((key) => !executed.has(key))).toEqual([]);
  }
  const again = await startReceiver({ store });
  for (const key of answered)
    expect((await send(again.url, ticket(key))).headers.get('idempotency-status')).toBe('replayed');
  await again.stop();
  const executed = await wholeKeys(sqlitePlace(store));
  expect(new Set(executed).size).toBe(executed.length);
}, 120_000);

test('R-028 A4 50 requests with one key at two processes have one effect', async () => {
  const store = join(tempFolder(), 'store');
  const receivers = [await startReceiver({ store }), await startReceiver({ store })];
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) => send(receivers[i % 2]?.url ?? '', ticket('k'))),
  );
  const states = replies.map(({ headers }) => headers.get('idempotency-status'));
  expect(states.filter((state) => state === 'executed')).toHaveLength(1);
  expect(await receivers[0]?.effects()).toHaveLength(1);
  expect(await receivers[0]?.objects('open_ticket')).toEqual({ tickets: 1, notifications: 1 });
  for (const receiver of receivers) await receiver.stop();
}, 60_000);

test('a receiver process armed over HTTP drops a reply, and its log is readable', async () => {
  const receiver = await startReceiver({ faults: true, flags: ['--counter-initial', '10'] });
  await receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'op7' });
  const op7: Call = { operation: 'add', key: 'op7', input: { counter: 'c', delta: 1 } };
  await expect(send(receiver.url, op7)).rejects.toThrow();
  expect(await receiver.objects('add')).toMatchObject({ counters: [{ value: 11 }] });
  expect(await receiver.requests()).toMatchObject([{ key: 'op7', answer: 'executed' }]);
  expect(await receiver.faults()).toMatchObject({ armed: [{ hits: 1 }] });
  expect(await receiver.release()).toEqual({ released: 0, statuses: [] });
  await receiver.stop();
});

test('a dumb receiver process keeps its log over SIGKILL and has no objects', async () => {
  const store = join(tempFolder(), 'mail.jsonl');
  const receiver = await startReceiver({ kind: 'dumb', store });
  const body = JSON.stringify({ to: 'a@example.com', subject: 's', body: 'b' });
  await fetch(`${receiver.url}/send`, { method: 'POST', body });
  await receiver.kill();
  const again = await startReceiver({ kind: 'dumb', store });
  expect(await again.log()).toMatchObject([{ seq: 1, mail: { to: 'a@example.com' } }]);
  await expect(again.objects('send')).rejects.toThrow(/404/);
  await again.stop();
});

test('a receiver process without a store says what is missing', async () => {
  await expect(startReceiver({ flags: ['--kind', 'oracle'] })).rejects.toThrow(/--kind "oracle"/);
});
