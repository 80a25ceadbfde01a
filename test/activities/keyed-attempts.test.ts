// Would catch: a second attempt that is let through on the strength of the first one's checks or
// under another key; a key window that nobody stated and that is counted on; and a question that
// goes to another place than the request did.

import { expect, test } from 'vitest';
import * as z from 'zod';
import { createRegistry, defineTool } from '../../activities/index.ts';
import type { Attempt, Settlement } from '../../activities/tool.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import {
  activityRig,
  defaults,
  failureOfRun,
  type Rig,
  RUN,
  wanted,
} from '../support/activity-rig.ts';

const ACTION = `${RUN}.t1.c1`;
const MINUTE = 60_000;
const scope = { receiver: 'bank', account: 'a1', workspace: 'w1', region: 'a' };
const identity = { travelsAs: 'header Idempotency-Key' };
const keyed = { scope, identity, retentionMs: 60 * MINUTE, retentionMarginMs: 10 * MINUTE };
const input = z.object({ amount: z.number(), idempotency_key: z.string().optional() });

interface Sent extends Pick<Attempt, 'receiverKey' | 'firstSentAt' | 'sendToken' | 'attemptId'> {
  readonly input: z.infer<typeof input>;
}

/** Its receiver never says what became of a request. */
function payTool(sent: Sent[], replay: 'keyed' | 'never', receiver: ContractInput) {
  return defineTool<z.infer<typeof input>, Json>({
    ...{ name: 'pay', version: '1', description: 'Pays.', input, replay, receiver },
    implementation: 'pay/1',
    async execute(value, attempt): Promise<Settlement<Json>> {
      const { receiverKey, firstSentAt, sendToken, attemptId } = attempt;
      attempt.beforeSend();
      sent.push({ input: value, receiverKey, firstSentAt, sendToken, attemptId });
      throw new Error('the line broke');
    },
  });
}

async function paying(replay: 'keyed' | 'never', receiver: ContractInput) {
  const sent: Sent[] = [];
  const now = { ms: Date.now() };
  let barriers = 0;
  const rig = await activityRig({
    tools: { pay: payTool(sent, replay, receiver) },
    ledgerClock: () => now.ms,
    barrier: () => {
      barriers++;
      return wanted;
    },
  });
  const opened = await rig.open({ goal: { kind: 'plan', steps: [] } });
  const call = (over: Parameters<Rig['call']>[1] = {}) => rig.call(opened, over);
  await failureOfRun(rig.perform(call()));
  return { rig, sent, now, call, barriers: () => barriers };
}

test('A2 R-027 a keyed attempt again: a fresh barrier, the same key and first send', async () => {
  const { rig, sent, call, barriers } = await paying('keyed', keyed);
  const before = barriers();
  await failureOfRun(rig.perform(call()));
  expect(barriers()).toBeGreaterThan(before);
  const [one, two] = sent;
  expect(two).toMatchObject({
    ...{ input: one?.input, receiverKey: one?.receiverKey, firstSentAt: one?.firstSentAt },
    sendToken: { epoch: 1, number: 2 },
  });
  expect(two?.attemptId).not.toBe(one?.attemptId);
});

test.each([
  [49, 'entered'],
  [51, 'retention_expired'],
  [61, 'retention_expired'],
])('A10 R-027 %i minutes after the first gate, of 60 less 10: %s', async (minutes, verdict) => {
  const { rig, sent, now, call } = await paying('keyed', keyed);
  now.ms += minutes * MINUTE;
  const again = rig.perform(call());
  if (verdict === 'entered') await failureOfRun(again);
  else expect(await again).toMatchObject({ verdict });
  expect(sent).toHaveLength(verdict === 'entered' ? 2 : 1);
});

test.each([
  ['a minute', MINUTE],
  ['two days', 48 * 60 * MINUTE],
])('K-031 R-029 no key window is stated: %s later nothing is sent again', async (_n, later) => {
  const { rig, sent, now, call } = await paying('never', { scope, identity });
  now.ms += later;
  expect(await rig.perform(call())).toMatchObject({ verdict: 'action_in_doubt' });
  expect(sent).toHaveLength(1);
});

test('K-031 R-026 a tool cannot be keyed without saying how long its keys are kept', () => {
  const pay = payTool([], 'keyed', { scope, identity });
  expect(() => createRegistry({ pay }, defaults)).toThrow('retentionMs');
});

test('K-025 K-032 R-020 the same action with another amount is refused unsent', async () => {
  const { rig, sent, call } = await paying('keyed', keyed);
  const other = { kind: 'inline', value: { amount: 500 } } as const;
  expect(await rig.perform(call({ input: other }))).toMatchObject({ verdict: 'payload_conflict' });
  expect(sent).toHaveLength(1);
});

test('K-026 a model’s own key makes no second payment: a twin, never sent', async () => {
  const changeable = ['idempotency_key'];
  const { rig, sent, call } = await paying('keyed', { ...keyed, changeable });
  const doubt = { actionId: ACTION, attemptId: sent[0]?.attemptId ?? '', why: 'no reply' };
  const of = { kind: 'doubt', runId: RUN, pin: null, externalId: null } as const;
  await rig.activities().recordFacts({ ...of, ...doubt });
  const fresh = { kind: 'inline', value: { amount: 10, idempotency_key: 'uuid-2' } } as const;
  const again = { position: 't2.c1', input: fresh, onUnknown: 'continue' } as const;
  expect(await rig.perform(call(again))).toMatchObject({
    verdict: 'twin_unknown',
    detail: expect.stringContaining(ACTION),
  });
  expect(sent.map(({ receiverKey }) => receiverKey)).toEqual([`shop/default/${ACTION}`]);
  // With another amount it is another wish, under the key of its own action.
  const other = { kind: 'inline', value: { amount: 11, idempotency_key: 'uuid-2' } } as const;
  await failureOfRun(rig.perform(call({ ...again, input: other })));
  expect(sent.at(-1)?.receiverKey).toBe(`shop/default/${RUN}.t2.c1`);
});

test('A17 R-035 the tool serves another region now: refused, not asked there', async () => {
  const { rig, sent, call } = await paying('keyed', keyed);
  let asked = 0;
  const inquiry = { consistency: 'strong', settleMs: 0 } as const;
  const elsewhere = { ...keyed, scope: { ...scope, region: 'b' }, inquiry };
  const pay = {
    ...payTool(sent, 'keyed', elsewhere),
    async inquire() {
      asked++;
      return { verdict: 'no_record' } as const;
    },
  };
  const deps = { ...rig.deps, registry: createRegistry({ pay }, defaults) };
  const moved = await activityRig({ deps });
  expect(await moved.perform(call())).toMatchObject({ verdict: 'binding_changed' });
  const ask = { runId: RUN, pin: null, actionId: ACTION, mode: 'ask' } as const;
  const looked = await moved.activities().inquire({ ...ask, attemptIds: [], wantsValue: false });
  expect(looked).toMatchObject({ canAsk: false, verdict: null, outcome: null });
  expect([asked, sent.length]).toEqual([0, 1]);
});
