// Would catch: a second try under another key, with other bytes, too early, too late, or at another
// place; and a refusal that a second try asks for again. What went over the wire and what the
// receiver wrote down is compared; what the run says of itself comes second.

import { expect, test } from 'vitest';
import { asked, until } from '../support/fault-stage.ts';
import { promiseStage, type Step, WITHIN_MS } from '../support/promise-stage.ts';
import { send } from '../support/receiver-call.ts';
import { startReceiver } from '../support/receiver-process.ts';
import type { Wire } from '../support/wire-tap.ts';

const at = promiseStage();
const pay = (account: string, amount = 10, tool = 'pay'): Step => ({
  tool,
  input: { account, amount },
});
const completed = { end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 };

/** What makes it the same request; the send token names the attempt. */
function sameIn({ path, body, headers }: Wire) {
  const { 'idempotency-key': key, 'holdfast-first-sent-at': first } = headers;
  return { path, body, key, first, principal: headers['holdfast-principal'] };
}

const tokensOf = (wires: readonly Wire[]) =>
  wires.map(({ headers }) => headers['holdfast-send-token']);

/** One worker, killed with two actions at their points, and its successor. */
test('A2 R-025 killed before the send and before the reply: the same bytes again', async () => {
  const { stage, start, sends, effects, bodies, keyOf, worker, tap } = at();
  const [unsent, unheard] = ['keyed-unsent', 'keyed-unheard'].map((id) => `${id}.t1.c1`) as [
    string,
    string,
  ];
  stage.arm({ point: 'after_gate', actionId: unsent });
  await stage.receiver.arm({ fault: 'hold', keyIncludes: unheard });
  const runs = [
    await start('keyed-unsent', pay('a2-unsent', 10, 'credit')),
    await start('keyed-unheard', pay('a2-unheard', 10, 'credit')),
  ];
  const first = await stage.worker();
  await first.line(`REACHED after_gate ${unsent}`, WITHIN_MS);
  await until('the held request', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === 1;
  });
  // Before the first byte left, the key was on record.
  expect(sends(unsent)).toEqual([]);
  const [entry] = await bodies('keyed-unsent', 'attempt_entered');
  expect(entry).toMatchObject({ receiverKey: keyOf(unsent) });
  await first.kill();
  await stage.receiver.release();
  await worker();
  for (const run of runs) expect(await run.result()).toMatchObject(completed);

  expect(sends(unsent).map(({ headers }) => headers['idempotency-key'])).toEqual([
    `"${keyOf(unsent)}"`,
  ]);
  const [one, two, ...more] = sends(unheard);
  expect(more).toEqual([]);
  expect(one).toBeDefined();
  expect(sameIn(two as Wire)).toEqual(sameIn(one as Wire));
  expect(tokensOf(tap.wires(unheard))).toEqual(['1.1', '1.2']);
  const entered = await bodies('keyed-unheard', 'attempt_entered');
  expect(new Set(entered.map(({ attemptId }) => attemptId)).size).toBe(2);
  for (const actionId of [unsent, unheard]) expect(await effects(actionId)).toHaveLength(1);
});

test('K-025 401, 429, 503, then 200: none refuses, and all four calls carry one key', async () => {
  const { tap, start, sends, effects, bodies } = at();
  const actionId = 'keyed-busy.t1.c1';
  tap.next('execute', actionId, { answer: 401 });
  tap.next('execute', actionId, { answer: 429, headers: { 'Retry-After': '1' } });
  const headers = { 'Idempotency-Status': 'rejected' };
  tap.next('execute', actionId, { answer: 503, headers, body: { operation_state: 'not_taken' } });
  const run = await start('keyed-busy', pay('k25'));
  expect(await run.result()).toMatchObject(completed);
  const calls = sends(actionId).map(sameIn);
  expect(calls).toHaveLength(4);
  expect(new Set(calls.map((call) => JSON.stringify(call))).size).toBe(1);
  expect((await bodies('keyed-busy', 'attempt_settled')).map(({ outcome }) => outcome)).toEqual([
    ...['not_taken', 'not_taken', 'not_taken'],
    'executed',
  ]);
  expect(await effects(actionId)).toHaveLength(1);
});

test('K-026 the model puts a key into the input: the key is the action’s', async () => {
  const { stage, start, sends, effects, keyOf } = at();
  const actionId = 'keyed-by-model.t1.c1';
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: actionId, times: 2 });
  await stage.receiver.arm({ fault: 'wrong_account', keyIncludes: actionId, times: 9 });
  const input = { account: 'k26', amount: 10, idempotency_key: '0b9d1c1e-fresh-for-each-call' };
  const run = await start('keyed-by-model', { tool: 'pay', input });
  expect(await run.result()).toMatchObject(completed);
  const calls = sends(actionId);
  expect(calls.length).toBeGreaterThan(1);
  expect(new Set(calls.map(({ headers }) => headers['idempotency-key']))).toEqual(
    new Set([`"${keyOf(actionId)}"`]),
  );
  expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
  expect(await effects(actionId)).toHaveLength(1);
});

test('A6 R-036 while it says in progress, or 503, the key is not sent again', async () => {
  const { tap, start, sends, effects, answered, scheduled } = at();
  const actionId = 'keyed-at-work.t1.c1';
  const headers = { 'Idempotency-Status': 'in_progress', 'Retry-After': '1' };
  const body = { operation_state: 'in_progress' };
  tap.next('execute', actionId, { keep: 409, headers, body });
  tap.next('inquire', actionId, { answer: 202, body: { operation_state: 'processing' } }, 2);
  tap.next('inquire', actionId, { answer: 503 });
  const run = await start('keyed-at-work', pay('a6'));
  await answered('keyed-at-work', 'processing');
  expect(await effects(actionId)).toEqual([]);
  expect(await tap.release(actionId)).toEqual([200]);
  expect(await run.result()).toMatchObject(completed);
  expect(sends(actionId)).toHaveLength(1);
  expect(await scheduled(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toHaveLength(1);
});

test.each([
  ['422: its key is another payload’s', 'keyed-reused', 422, 'key_reused'],
  ['412: its key is too old to be known', 'keyed-too-old', 412, 'outside_window'],
] as const)(
  'A3 A10 R-027 K-034 %s: never sent again, a person is asked',
  async (_n, runId, status, state) => {
    const { tap, stage, start, sends, effects, scheduled } = at();
    const actionId = `${runId}.t1.c1`;
    const headers = { 'Idempotency-Status': 'rejected' };
    tap.next('execute', actionId, { answer: status, headers, body: { operation_state: state } }, 9);
    const run = await start(runId, pay(runId));
    const question = await asked(stage.client, actionId);
    expect(question.evidence).toMatchObject({ lastAnswer: expect.stringContaining('no_record') });
    expect(sends(actionId)).toHaveLength(1);
    expect(await scheduled(actionId)).toHaveLength(1);
    expect(await effects(actionId)).toEqual([]);
    const abandon = question.more.find(({ verb }) => verb === 'abandon');
    await stage.client.resolve(runId, { ...abandon, actor: 'ann', reason: 'too late' } as never);
    expect(await run.result()).toMatchObject({ effectsCount: 0, unknownsCount: 1 });
    // Started anew: what nobody knows is not begun again.
    expect((await start(runId, pay(runId))).how).toBe('ended');
    expect(sends(actionId)).toHaveLength(1);
  },
);

test('A3 K-032 the key holds another payload: it is not adopted as its own', async () => {
  const { stage, start, sends, keyOf, balance, effects } = at();
  const actionId = 'keyed-strange.t1.c1';
  const call = { operation: 'credit', key: keyOf(actionId), principal: 'w1/ada' };
  await send(stage.receiver.url, { ...call, input: { account: 'k32', amount: 200 } });
  const run = await start('keyed-strange', pay('k32', 500));
  const question = await asked(stage.client, actionId);
  expect(question.evidence).toMatchObject({ lastAnswer: expect.stringContaining('conflict') });
  expect(sends(actionId)).toHaveLength(1);
  const abandon = question.more.find(({ verb }) => verb === 'abandon');
  const reason = 'the key is taken';
  await stage.client.resolve('keyed-strange', { ...abandon, actor: 'ann', reason } as never);
  expect(await run.result()).toMatchObject({ effectsCount: 0, unknownsCount: 1 });
  expect(await balance('k32')).toBe(300);
  expect(await effects(actionId)).toHaveLength(1);
});

test('A11 K-037 declined, unheard, then funds come: the action stays declined', async () => {
  const { tap, stage, start, sends, effects, balance, answered } = at();
  const actionId = 'keyed-declined.t1.c1';
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: actionId });
  tap.next('inquire', actionId, { answer: 503 });
  const run = await start('keyed-declined', pay('k37', -1_000));
  await answered('keyed-declined', 'unavailable');
  const topUp = { operation: 'credit', key: 'k37-funds', principal: 'w1/ada' };
  await send(stage.receiver.url, { ...topUp, input: { account: 'k37', amount: 5_000 } });
  const end = { kind: 'stopped', reason: 'blocked' };
  expect(await run.result()).toMatchObject({ end, effectsCount: 0, unknownsCount: 0 });
  expect(await effects(actionId)).toEqual([]);
  expect(
    new Set(
      sends(actionId)
        .map(sameIn)
        .map((each) => each.key),
    ).size,
  ).toBe(1);
  // The user changes the card: another decision, another action, another key.
  const other = await start('keyed-declined-2', pay('k37', -500));
  expect(await other.result()).toMatchObject(completed);
  expect(await balance('k37')).toBe(4_600);
});

test('K-022 K-023 no reply, submitted again: one action, settled by the late reply', async () => {
  const { stage, start, sends, effects } = at();
  const actionId = 'keyed-again.t1.c1';
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  const first = await start('keyed-again', pay('k23'));
  await until('the first request', WITHIN_MS, async () => sends(actionId).length === 1);
  const again = await start('keyed-again', pay('k23'));
  expect(again.how).toBe('attached');
  await expect(start('keyed-again', pay('k23', 99))).rejects.toMatchObject({ code: 'other_goal' });
  const { recorded } = await stage.client.state('keyed-again');
  expect(JSON.stringify(recorded)).not.toMatch(/fail/i);
  await stage.receiver.release(actionId);
  for (const run of [first, again]) expect(await run.result()).toMatchObject(completed);
  expect(sends(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toHaveLength(1);
  // A definite end, and another amount: another purchase.
  const other = await start('keyed-again-2', pay('k23', 99));
  expect(await other.result()).toMatchObject(completed);
});

test('A17 R-024 moved to region B while open: nothing is sent or asked there', async () => {
  const { stage, start, sends, effects, worker } = at();
  const actionId = 'keyed-region.t1.c1';
  const elsewhere = await startReceiver({ faults: true });
  try {
    await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
    const run = await start('keyed-region', pay('a17'));
    await until('the held request', WITHIN_MS, async () => sends(actionId).length === 1);
    await (await stage.worker()).kill();
    const moved = await worker({ receiverUrl: elsewhere.url, region: 'b' });
    const end = { kind: 'stopped', reason: 'binding_changed' };
    expect(await run.result()).toMatchObject({ end, effectsCount: 0, unknownsCount: 1 });
    await asked(stage.client, actionId);
    // What had been on its way comes to its end where it was sent.
    await stage.receiver.release(actionId);
    expect(await elsewhere.requests()).toEqual([]);
    await moved.kill();
  } finally {
    await elsewhere.stop();
  }
  expect(sends(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toHaveLength(1);
});
