import { describe, expect, onTestFinished, test } from 'vitest';
import { type Attempt, type Inquiry, KeyRefusedError } from '../../activities/tool.ts';
import { answerTable, type HttpReply, settlementOf } from '../../activities/tools/http-answers.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { problemTable } from '../../receiver/problem.ts';
import { startReceiver } from '../support/receiver-process.ts';

const reply = (
  status: number,
  idempotencyStatus: string | null,
  body: Record<string, Json> = {},
  retryAfter: string | null = null,
): HttpReply => ({
  ...{ status, idempotencyStatus, body, retryAfter },
  externalId: null,
  objectVersion: null,
});
const state = (operation_state: string, more: Record<string, Json> = {}) => ({
  operation_state,
  ...more,
});

describe('what an answer settles', () => {
  test.each<[string, HttpReply, unknown]>([
    [
      'executed',
      reply(200, 'executed', state('executed', { result: { n: 1 }, external_id: 'x' })),
      { kind: 'executed', result: { n: 1 }, externalId: 'x' },
    ],
    [
      'replayed',
      reply(200, 'replayed', state('executed', { result: null, object_version: 'v1' })),
      { kind: 'executed', result: null, objectVersion: 'v1' },
    ],
    ['executed without a result', reply(204, 'executed'), { kind: 'executed', result: null }],
    [
      'refused',
      reply(409, 'rejected', state('rejected', { code: 'limit', detail: 'too much' })),
      { kind: 'refused', code: 'limit', message: 'too much' },
    ],
    [
      'not understood',
      reply(400, 'rejected', state('invalid', { detail: 'no amount' })),
      { kind: 'refused', code: 'invalid', message: 'no amount' },
    ],
    [
      'closed up to our token',
      reply(410, 'rejected', state('closed', { through: { epoch: 1, number: 1 } })),
      { kind: 'not_taken', code: 'closed', message: 'status 410' },
    ],
    [
      'the whole key closed',
      reply(410, 'rejected', state('closed', { through: null })),
      { kind: 'refused', code: 'closed', message: 'status 410' },
    ],
    [
      'fenced',
      reply(409, 'rejected', state('fenced')),
      { kind: 'not_taken', code: 'fenced', message: 'status 409' },
    ],
    [
      'not taken',
      reply(503, 'rejected', state('not_taken', { detail: 'busy' }), '7'),
      { kind: 'not_taken', code: 'not_taken', message: 'busy', retryAfterMs: 7_000 },
    ],
    ['401', reply(401, null), { kind: 'not_taken', code: '401', message: 'status 401' }],
    [
      'R-041 429 with a time',
      reply(429, null, {}, '7'),
      { kind: 'not_taken', code: '429', message: 'status 429', retryAfterMs: 7_000 },
    ],
    ['in progress', reply(409, 'in_progress', state('in_progress')), null],
    ['uncertain', reply(500, 'rejected', state('unknown')), null],
    ['outside the window', reply(412, 'rejected', state('outside_window')), null],
    ['the key used for something else', reply(422, 'rejected', state('key_reused')), null],
    ['A12 200 without the header', reply(200, null, state('executed')), null],
    ['A12 a receiver that ignores keys', reply(200, 'ignored', state('executed')), null],
    ['503 of a proxy', reply(503, null), null],
    ['502', reply(502, null), null],
    ['a redirect', reply(302, null), null],
  ])('R-007 %s', (_name, answer, settlement) => {
    expect(settlementOf(answer)).toEqual(settlement);
  });

  test('each row of the table is met above by its own words', () => {
    const seen = answerTable.map(({ status, said, state: of }) => `${status} ${said} ${of}`);
    expect(new Set(seen).size).toBe(answerTable.length);
    // Statuses that the receiver documents as "not executed for certain" are all listed.
    for (const kind of ['rejected', 'closed', 'fenced', 'invalid', 'not_taken'] as const)
      expect(seen).toContain(`${problemTable[kind].status} rejected ${kind}`);
  });
});

describe('against the reference receiver, over the wire', () => {
  const scope = { receiver: 'desk', account: 'acme', workspace: 'w1', region: 'eu' };
  const principal = { user: 'ada', workspace: 'büro "1" 100%' };
  const attempt = (over: Partial<Attempt> = {}): Attempt => ({
    runId: 'r1',
    actionId: 'r1.t1.c1',
    attemptId: 'r1.t1.c1~1',
    number: 1,
    receiverKey: 'shop/default/r1.t1.c1 “§” 50%',
    sendToken: { epoch: 1, number: 1 },
    firstSentAt: Date.now(),
    payloadDigest: `sha256:${'0'.repeat(64)}`,
    principal,
    signal: new AbortController().signal,
    prepare: async () => undefined,
    beforeSend: () => undefined,
    ...over,
  });
  const raising = { runId: 'r1', principal, open: [] };
  const inquiry: Inquiry = {
    actionId: 'r1.t1.c1',
    receiverKey: attempt().receiverKey,
    sendToken: { epoch: 1, number: 1 },
    externalId: null,
    payloadDigest: attempt().payloadDigest,
    principal,
    input: { subject: 'printer' },
    lastSentAt: 0,
    now: 0,
    open: [],
  };

  async function desk(
    closing: 'none' | 'by_token' | 'by_key' = 'by_token',
    fencing: 'none' | 'honoured' = 'none',
  ) {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.stop());
    const tool = httpReceiver<{ subject: string }, Json>({
      baseUrl: receiver.url,
      operation: 'open_ticket',
      operationVersion: '1',
      contract: { scope, retentionMs: 86_400_000, closing, fencing },
    });
    return { receiver, tool };
  }

  test('R-017 R-019 sent twice with one key it is executed once, and replayed', async () => {
    const { receiver, tool } = await desk();
    const first = await tool.execute({ subject: 'printer' }, attempt());
    expect(first).toMatchObject({ kind: 'executed', externalId: expect.any(String) });
    const token = { epoch: 1, number: 2 };
    expect(await tool.execute({ subject: 'printer' }, attempt({ sendToken: token }))).toEqual(
      first,
    );
    expect(await receiver.effects()).toHaveLength(1);
    expect(await tool.inquire(inquiry)).toMatchObject({ verdict: 'executed' });
  });

  test('A3 another payload under the same key: the key is refused, nothing settled', async () => {
    const { tool } = await desk();
    await tool.execute({ subject: 'printer' }, attempt());
    await expect(tool.execute({ subject: 'scanner' }, attempt())).rejects.toThrow(KeyRefusedError);
  });

  test('A10 a key older than the receiver keeps any is refused, nothing settled', async () => {
    const { receiver, tool } = await desk();
    const firstSentAt = Date.now() - 10 * limits.receiverRetentionMs;
    const sending = tool.execute({ subject: 'printer' }, attempt({ firstSentAt }));
    await expect(sending).rejects.toThrow(KeyRefusedError);
    expect(await receiver.effects()).toEqual([]);
  });

  test.each(['none', 'by_token', 'by_key'] as const)(
    'A3 K-032 closing %s, asked about a key with another payload: a conflict, not its effect',
    async (closing) => {
      const { tool } = await desk(closing);
      await tool.execute({ subject: 'printer' }, attempt());
      const other = `sha256:${'1'.repeat(64)}` as const;
      expect(await tool.inquire({ ...inquiry, payloadDigest: other })).toMatchObject({
        verdict: 'conflict',
      });
      expect(await tool.inquire(inquiry)).toMatchObject({ verdict: 'executed' });
    },
  );

  test('B7 asked for a claim that has been replaced, it closes and tells nothing', async () => {
    const { receiver, tool } = await desk('by_token', 'honoured');
    await tool.fence?.({ ...raising, sendToken: { epoch: 2, number: 1 } });
    const stale = { ...inquiry, asker: { runId: 'r1', epoch: 1 } };
    expect(await tool.inquire(stale)).toMatchObject({ verdict: 'unavailable' });
    const current = { ...inquiry, asker: { runId: 'r1', epoch: 2 } };
    expect(await tool.inquire(current)).toMatchObject({ verdict: 'not_executed' });
    const late = await tool.execute({ subject: 'printer' }, attempt());
    expect(late).toMatchObject({ kind: 'not_taken' });
    expect(await receiver.effects()).toEqual([]);
  });

  test('B8 a fence under a newer one is not raised, and says so', async () => {
    const { tool } = await desk('by_token', 'honoured');
    await tool.fence?.({ ...raising, sendToken: { epoch: 3, number: 1 } });
    await expect(tool.fence?.({ ...raising, sendToken: { epoch: 2, number: 1 } })).rejects.toThrow(
      'not raised: 409',
    );
  });

  test('R-038 a closing inquiry closes up to our token; a later attempt may come', async () => {
    const { receiver, tool } = await desk();
    expect(await tool.inquire(inquiry)).toEqual({ verdict: 'not_executed', proof: 'closed_token' });
    expect(await tool.execute({ subject: 'printer' }, attempt())).toMatchObject({
      kind: 'not_taken',
      code: 'closed',
    });
    const later = attempt({ sendToken: { epoch: 1, number: 2 } });
    expect(await tool.execute({ subject: 'printer' }, later)).toMatchObject({ kind: 'executed' });
    expect(await receiver.effects()).toHaveLength(1);
  });

  test('a receiver that closes whole keys ends the action', async () => {
    const { tool } = await desk('by_key');
    expect(await tool.inquire(inquiry)).toEqual({ verdict: 'not_executed', proof: 'closed_key' });
    expect(await tool.execute({ subject: 'printer' }, attempt())).toMatchObject({
      kind: 'refused',
    });
  });

  test('R-037 a plain inquiry that finds nothing says no more than that', async () => {
    const { tool } = await desk('none');
    expect(await tool.inquire(inquiry)).toMatchObject({ verdict: 'no_record' });
  });

  test('a receiver that is gone settles nothing; its first byte was announced before', async () => {
    const { receiver, tool } = await desk();
    await receiver.kill();
    let announced = false;
    const running = tool.execute(
      { subject: 'printer' },
      attempt({
        beforeSend: () => {
          announced = true;
        },
      }),
    );
    await expect(running).rejects.toThrow();
    expect(announced).toBe(true);
  });

  test('R-007 an answer without end is read no further than it could be stored', async () => {
    let sent = 0;
    let wasCanceled = false;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1_000_000;
        controller.enqueue(new Uint8Array(1_000_000));
      },
      cancel() {
        wasCanceled = true;
      },
    });
    const { execute } = httpReceiver<Json, Json>({
      ...{ baseUrl: 'http://receiver', operation: 'open_ticket', operationVersion: '1' },
      contract: { scope, retentionMs: 1_000 },
      fetch: async () => new Response(endless, { headers: { 'Idempotency-Status': 'executed' } }),
    });
    await expect(execute({}, attempt())).rejects.toThrow('more than');
    expect(wasCanceled).toBe(true);
    expect(sent).toBeLessThan(2 * limits.receiverAnswerBytesMax);
  });
});
