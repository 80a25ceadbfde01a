// Rules as they are seen over HTTP, over either store.
// Catches: an answer over the wire that differs from the receiver's, or a path without the token.

import { expect, onTestFinished, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import type { ForeignOperation, Operations, ReceiverSettings } from '../../receiver/index.ts';
import {
  encodeHeaderText,
  encodeKeyHeader,
  headerNames,
  receiverHandler,
  serve,
  withFaults,
} from '../../receiver/index.ts';
import { type Call, close, inquire, type Reply, send } from '../support/receiver-call.ts';
import type { Open } from './stage.ts';

async function serveOn(open: Open, options: Partial<ReceiverSettings> = {}) {
  const opened = await open(options);
  const faults = withFaults({ handler: receiverHandler(opened.receiver) });
  const served = await serve(faults.listener, 0);
  onTestFinished(async () => {
    faults.abandon();
    await served.stop();
  });
  return { ...opened, url: served.url };
}

const ticket: Call = { operation: 'open_ticket', key: 'a17', input: { subject: 'Printer' } };

/** What a replay must repeat: everything but the marks of the replay and of the connection. */
function fidelity({ status, headers, text }: Reply) {
  const passing = ['date', 'connection', 'keep-alive', 'idempotency-status', 'idempotent-replayed'];
  return { status, text, headers: [...headers].filter(([name]) => !passing.includes(name)) };
}

const big = 'é'.repeat(1_500_000);
const answering: Operations = {
  none: { version: '1', apply: () => ({ externalId: 'n-1', objectVersion: '7' }) },
  null: { version: '1', apply: () => ({ externalId: 'n-2', result: null }) },
  big: { version: '1', apply: () => ({ externalId: 'b-ü', result: big }) },
  no: { version: '1', apply: () => ({ rejected: { code: 'no', message: 'not today' } }) },
};

/** One call as it goes over the wire, with a token of epoch 1 in scope `run`. */
const stale = {
  [headerNames.principal]: 'u1',
  [headerNames.version]: '1',
  [headerNames.sendToken]: '1.1',
  [headerNames.fenceScope]: encodeHeaderText('run'),
};

async function call(url: string, method: string, path: string, body?: unknown, more: object = {}) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...stale, ...more },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export function wireRules(open: Open): void {
  test('R-028 A4 50 requests with one key at once have one effect and 49 replays', async () => {
    const { url, receiver } = await serveOn(open);
    const replies = await Promise.all(Array.from({ length: 50 }, () => send(url, ticket)));
    const states = replies.map(({ headers }) => headers.get(headerNames.status));
    expect(states.filter((state) => state === 'executed')).toHaveLength(1);
    expect(states.filter((state) => state === 'replayed')).toHaveLength(49);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await receiver.effects()).toHaveLength(1);
    expect(await receiver.observe('open_ticket')).toEqual({ tickets: 1, notifications: 1 });
  });

  test.each([
    ['none', 204],
    ['null', 200],
    ['big', 200],
    ['no', 409],
  ])('A9 the replay of "%s" is the same status, headers and bytes', async (operation, status) => {
    const { url } = await serveOn(open, { operations: answering });
    const first = await send(url, { operation, key: 'k' });
    expect(first.status).toBe(status);
    expect(first.headers.get(headerNames.replayed)).toBeNull();
    const again = await send(url, { operation, key: 'k' });
    expect(fidelity(again)).toEqual(fidelity(first));
    expect(again.headers.get(headerNames.replayed)).toBe('true');
    if (operation === 'big') expect(first.body).toMatchObject({ result: big });
    if (operation === 'null') expect(first.body).toMatchObject({ result: null });
  });

  test('A13 inquiry and closing over HTTP tell all their answers apart', async () => {
    const { url } = await serveOn(open);
    const sendToken = { epoch: 1, number: 1 };
    expect(await inquire(url, ticket)).toMatchObject({
      status: 200,
      body: { operation_state: 'no_record', safe_new_key: false },
    });
    expect(await close(url, { ...ticket, sendToken })).toMatchObject({
      status: 200,
      body: {
        operation_state: 'not_executed',
        closed: true,
        through: sendToken,
        safe_new_key: false,
      },
    });
    expect(await send(url, { ...ticket, sendToken })).toMatchObject({ status: 410 });
    await send(url, { ...ticket, sendToken: { epoch: 1, number: 2 } });
    const told = { operation_state: 'executed', external_id: 'ticket-1' };
    expect(await inquire(url, ticket)).toMatchObject({ status: 200, body: told });
    expect(await close(url, ticket)).toMatchObject({ status: 200, body: told });
    const burnt = await close(url, { ...ticket, key: 'b' });
    expect(burnt.body).toMatchObject({ operation_state: 'not_executed', safe_new_key: true });
  });

  const key = { [headerNames.key]: encodeKeyHeader('a17') };
  test.each([
    ['execute', 'POST', '/operations/open_ticket', ticket.input, key],
    [
      'close by token',
      'POST',
      '/operations/open_ticket/keys/a17/close',
      { sendToken: { epoch: 1, number: 1 } },
      {},
    ],
    ['close the key', 'POST', '/operations/open_ticket/keys/a17/close', {}, {}],
    ['inquire', 'GET', '/operations/open_ticket/keys/a17', undefined, {}],
    ['fence', 'POST', '/fences/run', { epoch: 1 }, {}],
  ])(
    'B7: %s with a stale token is refused and changes nothing',
    async (_name, method, path, body, more) => {
      const { url, receiver, place } = await serveOn(open);
      expect((await call(url, 'POST', '/fences/run', { epoch: 2 })).status).toBe(200);
      expect(await call(url, method, path, body, more)).toMatchObject({
        status: 409,
        body: { type: 'urn:holdfast:problem:fenced_by_newer_epoch', epoch: 2, safe_new_key: false },
      });
      expect(await place.rows('SELECT * FROM operation')).toEqual([]);
      expect(await receiver.effects()).toEqual([]);
      const current = { ...ticket, sendToken: { epoch: 2, number: 1 }, fenceScope: 'run' };
      expect((await send(url, current)).headers.get(headerNames.status)).toBe('executed');
    },
  );

  test('B7: a question that names a scope without a token is not understood', async () => {
    const { url } = await serveOn(open);
    const { [headerNames.sendToken]: _, ...headers } = stale;
    const response = await fetch(`${url}/operations/open_ticket/keys/a17`, { headers });
    expect(response.status).toBe(400);
  });

  test('B6: a request held in front of the receiver is checked on arrival', async () => {
    const { url, receiver } = await serveOn(open);
    await call(url, 'POST', '/faults', { fault: 'hold' });
    const late = send(url, { ...ticket, sendToken: { epoch: 1, number: 1 }, fenceScope: 'run' });
    const held = async () => ((await call(url, 'GET', '/faults')).body['held'] as unknown[]).length;
    await expect.poll(held, { timeout: 60_000, interval: 10 }).toBe(1);
    await call(url, 'POST', '/fences/run', { epoch: 2 });
    await call(url, 'POST', '/faults/release', {});
    expect(await late).toMatchObject({ status: 409, body: { operation_state: 'fenced' } });
    expect(await receiver.effects()).toEqual([]);
  });

  test('B8: a lost claim and a newer epoch have each its own problem', async () => {
    const calls: { readonly lost: () => void; readonly done: () => void }[] = [];
    const charge: ForeignOperation = {
      version: '1',
      downstream: 'keyed',
      perform: () =>
        new Promise((done, lose) => {
          const lost = () => lose(new Error('reset'));
          calls.push({ lost, done: () => done({ externalId: 'c' }) });
        }),
    };
    const options = { operations: { charge }, claimLeaseMs: 1_000 };
    const { url, time } = await serveOn(open, options);
    const request: Call = { operation: 'charge', key: 'k' };
    const count = () => calls.length;
    const first = send(url, request);
    await expect.poll(count, { timeout: 60_000, interval: 10 }).toBe(1);
    time.now += 1_000;
    const second = send(url, request);
    await expect.poll(count, { timeout: 60_000, interval: 10 }).toBe(2);
    calls[0]?.lost();
    const lost = await first;
    expect(lost).toMatchObject({
      status: 409,
      body: {
        type: 'urn:holdfast:problem:claim_lease_expired',
        operation_state: 'lease_expired',
        safe_new_key: false,
      },
    });
    expect(lost.headers.get('retry-after')).toBe('1');
    calls[1]?.done();
    expect((await second).headers.get(headerNames.status)).toBe('executed');
  });

  test('A3: whoever asks is told which payload the key belongs to', async () => {
    const { url } = await serveOn(open);
    const digests = { input_digest: digestOf(ticket.input) };
    await send(url, ticket);
    expect((await inquire(url, ticket)).body).toMatchObject(digests);
    expect((await close(url, ticket)).body).toMatchObject(digests);
    const payload_digest = digestOf('the payload as its caller knows it');
    const named = {
      ...key,
      [headerNames.key]: encodeKeyHeader('b'),
      [headerNames.fenceScope]: 'x',
    };
    const more = { ...named, [headerNames.payloadDigest]: payload_digest };
    await call(url, 'POST', '/operations/open_ticket', ticket.input, more);
    const other = await inquire(url, { ...ticket, key: 'b' });
    expect(other.body).toMatchObject({ ...digests, payload_digest });
    const bad = { ...more, [headerNames.payloadDigest]: 'md5:0' };
    expect(await call(url, 'POST', '/operations/open_ticket', ticket.input, bad)).toMatchObject({
      status: 400,
    });
  });
}
