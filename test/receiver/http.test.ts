import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { ReceiverSettings } from '../../receiver/index.ts';
import {
  decodeKeyHeader,
  encodeKeyHeader,
  exampleOperations,
  headerNames,
  listenerOf,
  parseSendToken,
  receiverHandler,
  serve,
} from '../../receiver/index.ts';
import { type Call, inquire, send } from '../support/receiver-call.ts';
import { openForTest } from './open.ts';
import { openOnSqlite } from './sqlite-place.ts';
import { wireRules } from './wire.testsuite.ts';

// Catches: an answer over the wire that differs from the receiver's, or a replay from the first.

async function serveForTest(options: Partial<ReceiverSettings> = {}) {
  const opened = await openForTest(options);
  const served = await serve(listenerOf(receiverHandler(opened.receiver)), 0);
  onTestFinished(() => served.stop());
  return { ...opened, url: served.url };
}

const ticket: Call = { operation: 'open_ticket', key: 'a17', input: { subject: 'Printer' } };

wireRules(openOnSqlite);

test('A3 A12 each refusal says its state, its kind and whether a new key is safe', async () => {
  const { url, receiver, time } = await serveForTest();
  await send(url, ticket);
  const poor: Call = { operation: 'credit', key: 'p', input: { account: 'a', amount: -101 } };
  await receiver.close({ principal: 'u1', operation: 'open_ticket', version: '1', key: 'gone' });
  await receiver.fence({ principal: 'u1', scope: 'run', epoch: 2 });
  const old = time.now - 365 * 24 * 3_600_000;
  const stale = { sendToken: { epoch: 1, number: 1 }, fenceScope: 'run' };
  const calls: readonly Call[] = [
    { ...ticket, input: { subject: 'Other' } },
    poor,
    { ...ticket, key: 'gone' },
    { ...ticket, key: 'fenced', ...stale },
    { ...ticket, key: 'old', firstSentAt: old },
    { ...ticket, key: 'bad', input: {} },
  ];
  const seen = [];
  for (const call of calls) {
    const { status, headers, body } = await send(url, call);
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
    const mark = headers.get(headerNames.status);
    seen.push([status, body?.['type'], body?.['operation_state'], body?.['safe_new_key'], mark]);
  }
  expect(seen).toMatchInlineSnapshot(`
    [
      [
        422,
        "urn:holdfast:problem:idempotency_key_reused",
        "key_reused",
        false,
        "rejected",
      ],
      [
        409,
        "urn:holdfast:problem:operation_rejected",
        "rejected",
        true,
        "rejected",
      ],
      [
        410,
        "urn:holdfast:problem:operation_closed",
        "closed",
        true,
        "rejected",
      ],
      [
        409,
        "urn:holdfast:problem:fenced_by_newer_epoch",
        "fenced",
        false,
        "rejected",
      ],
      [
        412,
        "urn:holdfast:problem:outside_window",
        "outside_window",
        false,
        "rejected",
      ],
      [
        400,
        "urn:holdfast:problem:invalid_request",
        "invalid",
        false,
        "rejected",
      ],
    ]
  `);
});

test('A16 with the store gone the answer is 503 with Retry-After, and nothing hangs', async () => {
  const { url, receiver } = await serveForTest();
  await receiver.shutdown();
  const reply = await send(url, ticket);
  expect(reply).toMatchObject({ status: 503, body: { operation_state: 'not_taken' } });
  expect(reply.headers.get('retry-after')).toBe('1');
  expect(await inquire(url, ticket)).toMatchObject({ status: 503 });
});

test('keys and principals with slashes, quotes and non-ASCII work end to end', async () => {
  const { url, receiver } = await serveForTest();
  const strange = { key: 'inst/ns/rechnung-ß%2F"\\42.t3.c1:€', principal: 'büro/日本' };
  const first = await send(url, { ...ticket, ...strange });
  expect(first.status).toBe(200);
  expect(await inquire(url, { ...ticket, ...strange })).toMatchObject({
    body: { operation_state: 'executed' },
  });
  expect(await receiver.effects()).toMatchObject([strange]);
});

test.each([
  ['no key', { [headerNames.key]: null }, 'Idempotency-Key'],
  ['an unquoted key', { [headerNames.key]: 'k' }, 'quoted'],
  ['no principal', { [headerNames.principal]: null }, 'Holdfast-Principal'],
  ['no version', { [headerNames.version]: null }, 'Holdfast-Operation-Version'],
  ['a bad token', { [headerNames.sendToken]: '1' }, 'epoch.number'],
  ['a bad time', { [headerNames.firstSentAt]: 'yesterday' }, 'UTC'],
])('a request with %s is refused with 400 and has no effect', async (_what, change, word) => {
  const { url, receiver } = await serveForTest();
  const all = { [headerNames.key]: '"k"', [headerNames.principal]: 'u', ...versionOne, ...change };
  const headers = Object.entries(all).filter(([, value]) => value !== null) as [string, string][];
  const body = JSON.stringify(ticket.input);
  const response = await fetch(`${url}/operations/open_ticket`, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: expect.stringContaining(word) });
  expect(await receiver.effects()).toEqual([]);
});

const versionOne = { [headerNames.version]: '1' };

test.each([
  ['not JSON', Buffer.from('{"subject":')],
  ['not UTF-8', Buffer.from('{"subject":"caf\xe9"}', 'latin1')],
])('a body that is %s is refused with 400 and has no effect', async (_what, body) => {
  const { url, receiver } = await serveForTest();
  const headers = { [headerNames.key]: '"k"', [headerNames.principal]: 'u', ...versionOne };
  const response = await fetch(`${url}/operations/open_ticket`, { method: 'POST', headers, body });
  expect(response.status).toBe(400);
  expect(await receiver.effects()).toEqual([]);
});

test('R-102 B8 a fence set over HTTP holds, and a stale owner is told so', async () => {
  const { url, receiver } = await serveForTest();
  const fence = (epoch: number) => {
    const headers = { [headerNames.principal]: 'u1' };
    const body = JSON.stringify({ epoch });
    return fetch(`${url}/fences/run`, { method: 'POST', headers, body });
  };
  expect((await fence(2)).status).toBe(200);
  const stale = await fence(1);
  expect(stale.status).toBe(409);
  expect(await stale.json()).toMatchObject({ type: 'urn:holdfast:problem:fenced_by_newer_epoch' });
  expect((await fence(0)).status).toBe(400);
  const old = { ...ticket, sendToken: { epoch: 1, number: 1 }, fenceScope: 'run' };
  expect((await send(url, old)).body).toMatchObject({ operation_state: 'fenced', epoch: 2 });
  expect(await receiver.effects()).toEqual([]);
});

test('an unknown path is 404 with a problem, which no inquiry ever answers', async () => {
  const { url } = await serveForTest();
  const response = await fetch(`${url}/operations/open_ticket/keys`);
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
});

test('A12 capabilities publish lifetime, closing, fencing and the versions served', async () => {
  const { url } = await serveForTest({ retentionMs: 3_600_000 });
  expect(await (await fetch(`${url}/capabilities`)).json()).toEqual({
    domain: 'local',
    operations: Object.fromEntries(
      Object.keys(exampleOperations()).map((name) => [name, { version: '1' }]),
    ),
    idempotency_key_lifetime: 'PT3600S',
    inquiry: 'read_your_writes',
    closing: 'by_token',
    fencing: 'by_scope',
    first_sent_at: 'checked',
  });
});

test.each([
  ['key', headerNames.key, '"schl\u00c3\u00bcssel"'],
  ['principal', headerNames.principal, 'u\u00c3\u00bc'],
])(
  'A13 a %s in bytes beyond ASCII is refused: no closing would find it',
  async (_what, name, raw) => {
    const { url, receiver } = await serveForTest();
    const sent = { [headerNames.key]: '"k"', [headerNames.principal]: 'u1' };
    const headers = { ...sent, [headerNames.version]: '1', [name]: raw };
    // Not by fetch, which encodes differently from what most clients put on the wire.
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        `${url}/operations/open_ticket`,
        { method: 'POST', headers },
        (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        },
      );
      asked.once('error', reject);
      asked.end(JSON.stringify(ticket.input));
    });
    expect(status).toBe(400);
    expect(await receiver.effects()).toEqual([]);
  },
);

test.each(['plain', 'with "quotes" and \\', 'ü%€/日本', '%41', ' '])(
  'the key header of %j reads back as itself',
  (key) => {
    expect(encodeKeyHeader(key)).toMatch(/^"[\x20-\x7e]*"$/);
    expect(decodeKeyHeader(encodeKeyHeader(key))).toBe(key);
  },
);

test.each(['', '1', '0.1', '1.0', '1.2.3', '-1.2', '1e3.2', '01.2', '9999999999999999.1'])(
  'the send token %j is refused',
  (text) => expect(parseSendToken(text)).toBeNull(),
);
