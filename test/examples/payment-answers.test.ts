// What the payment example makes of each answer. Would catch: an answer that settles more than the
// documentation says, above all one that nobody documented.

import { expect, onTestFinished, test } from 'vitest';
import { type Attempt, KeyRefusedError } from '../../activities/index.ts';
import { paymentTools } from '../../examples/payments/tools.ts';
import { json } from '../../receiver/problem.ts';
import { listenerOf, serve } from '../../receiver/transport.ts';

const attempt: Pick<Attempt, 'receiverKey' | 'signal' | 'beforeSend'> = {
  receiverKey: 'shop/default/run.order',
  signal: new AbortController().signal,
  beforeSend: () => undefined,
};

async function settled(status: number, body: unknown, headers: Record<string, string> = {}) {
  const served = await serve(
    listenerOf(async () => json(status, body, headers)),
    0,
  );
  onTestFinished(() => served.stop());
  const { charge_card } = paymentTools({ url: served.url, timeoutMs: 10_000 });
  return charge_card.execute({ card: 'tok_visa', cents: 700 }, attempt as Attempt);
}

const refusal = { code: 'card_declined', message: 'by its bank' };

test.each([
  [200, { id: 'ch_1' }, { kind: 'executed', externalId: 'ch_1', result: { charge: 'ch_1' } }],
  [400, refusal, { kind: 'refused', ...refusal }],
  [402, refusal, { kind: 'refused', ...refusal }],
  [401, {}, { kind: 'not_taken', code: '401' }],
  [409, {}, { kind: 'not_taken', code: '409' }],
  [429, {}, { kind: 'not_taken', code: '429' }],
  [503, '<html>', { kind: 'not_taken', code: '503' }],
])('D1 %i settles as the documentation says', async (status, body, wanted) => {
  expect(await settled(status, body)).toMatchObject(wanted);
});

test.each([
  [200, {}],
  [201, { id: 'ch_1' }],
  [202, { id: 'ch_1' }],
  [402, '<html>'],
  [403, refusal],
  [404, refusal],
  [408, {}],
  [418, {}],
  [500, refusal],
  [502, {}],
  [504, {}],
])('D1 %i with %o is in no table and settles nothing', async (status, body) => {
  const told = settled(status, body);
  await expect(told).rejects.toThrow();
  await expect(told).rejects.not.toBeInstanceOf(KeyRefusedError);
});

test('A6 409 and its Retry-After: not before then', async () => {
  expect(await settled(409, {}, { 'Retry-After': '7' })).toMatchObject({ retryAfterMs: 7_000 });
});

test('A3 422 is no answer about the charge: the key is not used again', async () => {
  await expect(settled(422, {})).rejects.toBeInstanceOf(KeyRefusedError);
});
