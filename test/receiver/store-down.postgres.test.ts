// Without its store a receiver takes nothing. Catches: an effect without a claim, "not taken" said
// of what was committed, a failure told where nobody can know, a request that hangs.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import {
  exampleOperations,
  openReceiver,
  type Receiver,
  type ReceiverSettings,
} from '../../receiver/index.ts';
import { startPostgres } from '../support/postgres-cluster.ts';
import { type PostgresTestPlace, postgresPlace } from './postgres-place.ts';

const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'k' };
const ticket = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: { subject: 'Printer' }, ...more });

async function openAt(url: string, place: PostgresTestPlace, more: Partial<ReceiverSettings> = {}) {
  const at = { ...place.at, postgres: url };
  const receiver = await openReceiver({ ...at, operations: exampleOperations(), ...more });
  onTestFinished(() => receiver.shutdown());
  return receiver;
}

/** Between receiver and server. Muted: what the server says is lost, what it is told is not. */
async function startWire() {
  const server = new URL(inject('postgres'));
  const open = new Set<Socket>();
  let muted = false;
  const proxy = createServer((near) => {
    const far = connect(Number(server.port), server.hostname);
    near.pipe(far);
    far.on('data', (bytes: Buffer) => {
      if (muted) near.destroy();
      else near.write(bytes);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  const url = new URL(server);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    mute(on: boolean) {
      muted = on;
    },
  };
}

test('A16: the server gone before the claim: refused; kept when it is back', async () => {
  const cluster = await startPostgres();
  onTestFinished(() => cluster.stop());
  const place = postgresPlace(cluster.url);
  const receiver = await openAt(cluster.url, place);
  expect(await ticket(receiver)).toMatchObject({ kind: 'executed', replayed: false });
  await cluster.crash();
  const down = { kind: 'unavailable', retryAfterMs: 1_000 };
  expect(await ticket(receiver, { key: 'other' })).toMatchObject({ kind: 'not_taken' });
  expect(await ticket(receiver)).toMatchObject({ kind: 'not_taken' });
  expect(await receiver.inquire(identity)).toMatchObject(down);
  expect(await receiver.close(identity)).toMatchObject(down);
  expect(await receiver.fence({ principal: 'u1', scope: 's', epoch: 1 })).toMatchObject(down);
  expect(await receiver.sweep()).toBe(0);
  await expect(receiver.effects()).rejects.toThrow();
  await cluster.start();
  expect(await ticket(receiver)).toMatchObject({ kind: 'executed', replayed: true });
  expect(await receiver.close({ ...identity, key: 'other' })).toMatchObject({
    kind: 'not_executed',
  });
  expect(await receiver.effects()).toHaveLength(1);
});

describe('A16: the connection is ended before a statement', () => {
  // BEGIN, arrival, COMMIT; BEGIN, row, its lock, SAVEPOINT, ticket, notification, RELEASE, record,
  // effect, what it is now, arrival's answer; the last COMMIT is in the test after this one.
  const WITHOUT_LAST_COMMIT = 14;

  test('A16: any before the last COMMIT: not taken, and the retry has one effect', async () => {
    const place = postgresPlace();
    const url = `${inject('postgres')}?application_name=${place.at.schema}`;
    const own = await (async () => {
      const first = await openAt(url, place);
      await first.shutdown();
      return await place.connect();
    })();
    let statements = 0;
    let endBefore = 0;
    const receiver = await openAt(url, place, {
      async trace() {
        statements += 1;
        if (statements !== endBefore) return;
        const sql = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
          WHERE application_name = $1`;
        await own.query(sql, [place.at.schema]);
      },
    });
    for (let n = 1; n <= WITHOUT_LAST_COMMIT; n++) {
      endBefore = statements + n;
      const key = `k${n}`;
      expect(await ticket(receiver, { key })).toMatchObject({ kind: 'not_taken' });
      expect(await receiver.effects()).toHaveLength(n - 1);
      expect(await ticket(receiver, { key })).toMatchObject({ kind: 'executed', replayed: false });
    }
    expect(await place.rows('SELECT key FROM ticket')).toHaveLength(WITHOUT_LAST_COMMIT);
  });

  test.each([
    ['before it was sent', false, 'no_record'],
    ['after it was done', true, 'executed'],
  ])(
    'A16: the last COMMIT, %s: unknown to the caller, and told to whoever asks',
    async (_when, sent, kind) => {
      const place = postgresPlace();
      const wire = await startWire();
      const own = await openAt(inject('postgres'), place);
      let commits = 0;
      const receiver = await openAt(wire.url, place, {
        async trace(sql) {
          if (sql !== 'COMMIT') return;
          commits += 1;
          // The first is that of the arrival.
          if (commits !== 2) return;
          wire.mute(true);
          if (sent) return;
          const at = await place.connect();
          await at.query(`SELECT pg_terminate_backend(pid, 10000) FROM pg_locks
          WHERE relation = 'ticket'::regclass`);
        },
      });
      commits = 0;
      const answer = await ticket(receiver);
      expect(answer).toMatchObject({ kind: 'unknown', detail: expect.stringMatching(/commit/) });
      await expect
        .poll(async () => (await own.close(identity)).kind, { timeout: 60_000 })
        .toBe(sent ? 'executed' : 'not_executed');
      expect((await own.inquire(identity)).kind).toBe(kind);
      wire.mute(false);
      const again = await ticket(receiver);
      expect(again).toMatchObject(sent ? { kind: 'executed', replayed: true } : { kind: 'closed' });
      expect(await own.effects()).toHaveLength(sent ? 1 : 0);
    },
  );
});
