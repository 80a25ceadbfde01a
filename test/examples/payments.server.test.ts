// The payment example with real processes. Would catch: a second charge after a lost reply or a
// dead worker, a resend with another key or other bytes, a 409 taken for an answer about the first
// request, and a refusal that is tried again. Charges are the payment API's own count.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createClient } from '../../client/client.ts';
import { clientConfigFrom } from '../../core/config.ts';
import { chargesFor, type Requested, requestsFor } from '../../examples/payments/payment-log.ts';
import { paymentStory } from '../../examples/payments/story.ts';
import { openStoryStage, type StoryStage } from '../../examples/stories/stage.ts';
import { type Counted, principal } from '../../examples/stories/story.ts';
import { builtProgram } from '../support/built-program.ts';

let stage: StoryStage;
let counted: readonly Counted[];
beforeAll(async () => {
  stage = await openStoryStage(paymentStory.cast, {
    existing: inject('temporal').address,
    program: builtProgram,
    settings: { PAYMENT_TIMEOUT_MS: '1500' },
    say: () => undefined,
  });
});
beforeAll(async () => {
  counted = await paymentStory.play(stage);
});
afterAll(() => stage.stop());

const idOf = (name: string) => `${stage.runId}-${name}`;
const order = (cents: number, card = 'tok_visa') => ({
  goal: {
    kind: 'plan' as const,
    steps: [{ name: 'order', tool: 'charge_card', input: { card, cents } }],
  },
  principal,
});
const requestsOf = (run: string) => requestsFor(stage.receiver, `${idOf(run)}.order`);
const chargesOf = (run: string) => chargesFor(stage.receiver, `${idOf(run)}.order`);

/** Different values of one member, in their order. */
function distinct(requests: readonly Requested[], member: 'key' | 'body'): readonly string[] {
  return [...new Set(requests.map((request) => request[member]))];
}

test('R-028 A2 A6 three orders that nobody heard of are three charges', async () => {
  expect(counted.map(({ effects }) => effects)).toEqual([1, 1, 1]);
  const statuses = { 'order-1': [200, 200], 'order-2': [200, 200], 'order-3': [200, 409, 200] };
  for (const [name, wanted] of Object.entries(statuses)) {
    const requests = await requestsFor(stage.receiver, `${stage.runId}.${name}`);
    expect(requests.map(({ status }) => status)).toEqual(wanted);
    expect(distinct(requests, 'key')).toHaveLength(1);
    expect(distinct(requests, 'body')).toHaveLength(1);
  }
});

test('K-025 429, then 503, then 200: one key and one body; another body has its own', async () => {
  const { client, receiver } = stage;
  const keyIncludes = idOf('upset');
  await receiver.arm({ fault: 'rate_limited', on: 'execute', keyIncludes });
  await receiver.arm({ fault: 'unavailable', on: 'execute', keyIncludes });
  await (await client.start(idOf('upset'), order(700))).result();
  const { armed } = await receiver.get<{ armed: { keyIncludes?: string; keys: string[] }[] }>(
    '/faults',
  );
  const turnedAway = armed.filter((fault) => fault.keyIncludes === keyIncludes);
  const [request, ...more] = await requestsOf('upset');
  expect(more).toEqual([]);
  expect(turnedAway.map(({ keys }) => keys)).toEqual([[request?.key], [request?.key]]);
  expect(await chargesOf('upset')).toHaveLength(1);

  await expect(client.start(idOf('upset'), order(800))).rejects.toMatchObject({
    code: 'other_goal',
  });
  await (await client.start(idOf('upset-anew'), order(800))).result();
  const [anew] = await requestsOf('upset-anew');
  expect(anew?.key).not.toBe(request?.key);
});

test('K-022 over the time limit it is unknown, and the retry is the same action', async () => {
  const { client, receiver, until } = stage;
  await receiver.post('/bank/sleep');
  const slow = order(900, 'tok_bank_asleep');
  const pressed = await client.start(idOf('slow'), slow);
  await until('a word about it', async () => {
    const { recorded } = await client.state(idOf('slow'));
    return recorded?.actions[0]?.word === 'unknown';
  });
  const again = await client.start(idOf('slow'), slow);
  await until('409 for it', async () =>
    (await requestsOf('slow')).some(({ status }) => status === 409),
  );
  await receiver.post('/bank/wake');
  expect(await pressed.result()).toEqual(await again.result());
  expect(await pressed.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await chargesOf('slow')).toHaveLength(1);
});

test('K-023 a client anew keeps the key while nobody knows; no other amount', async () => {
  const { client, receiver, ledger, settings, until } = stage;
  await receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: idOf('cart') });
  await client.start(idOf('cart'), order(1_500));
  await until('the lost reply', async () => (await requestsOf('cart')).length > 0);
  const reloaded = await createClient({ config: clientConfigFrom(settings), ledger });
  const run = await reloaded.start(idOf('cart'), order(1_500));
  await expect(reloaded.start(idOf('cart'), order(1_600))).rejects.toMatchObject({
    code: 'other_goal',
  });
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  await reloaded.close();
  expect(distinct(await requestsOf('cart'), 'key')).toHaveLength(1);
  expect(await chargesOf('cart')).toMatchObject([{ cents: 1_500 }]);
});

test('A3 A11 a card declined under a key stays so, and the key takes no other body', async () => {
  const { client, receiver } = stage;
  const result = await (await client.start(idOf('declined'), order(700, 'tok_declined'))).result();
  expect(result).toMatchObject({ effectsCount: 0, unknownsCount: 0 });
  const [request, ...more] = await requestsOf('declined');
  expect(more).toEqual([]);
  const send = (body: unknown) =>
    fetch(`${receiver.url}/v1/charges`, {
      method: 'POST',
      headers: { Authorization: 'Bearer shop', 'Idempotency-Key': request?.key ?? '' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  expect((await send(request?.body)).status).toBe(402);
  expect((await send({ card: 'tok_visa', cents: 700 })).status).toBe(422);
  expect(await chargesOf('declined')).toEqual([]);
});
