import { expect, onTestFinished, test, vi } from 'vitest';
import type { InquiryAnswer } from '../../activities/tool.ts';
import type { InquireCall, PerformCall } from '../../core/activity-calls.ts';
import { type ContractInput, contractSchema } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import type { ToolPolicy } from '../../core/tool-policy.ts';
import {
  activityRig,
  chargeCard,
  failureOfRun,
  type Receiver,
  type Rig,
  RUN,
} from '../support/activity-rig.ts';
import { say } from '../support/rig-people.ts';

const ACTION = `${RUN}.t1.c1`;
const strong = { consistency: 'strong', settleMs: 0 } as const;
const at = (scope: ContractInput['scope']) => contractSchema.parse({ scope, inquiry: strong });

async function inDoubt(): Promise<{ rig: Rig; call: PerformCall }> {
  const rig = await activityRig();
  rig.receiver.execute = async () => {
    throw new Error('the line broke');
  };
  const call = rig.call(await rig.open());
  await failureOfRun(rig.perform(call));
  return { rig, call };
}

const inquire = (rig: Rig, over: Partial<InquireCall> = {}) =>
  rig.activities().inquire({
    ...{ runId: RUN, pin: null, actionId: ACTION, mode: 'ask', attemptIds: [], wantsValue: true },
    ...over,
  });

test('R-006 an attempt without a gate row is closed: it was not submitted', async () => {
  const rig = await activityRig();
  const call = rig.call(await rig.open());
  const reply = await inquire(rig, { attemptIds: [call.attemptId] });
  expect(reply).toMatchObject({
    outcome: { kind: 'not_executed', reason: 'closed_by_inquiry' },
    openAttempts: [],
    canAsk: false,
    verdict: null,
  });
  expect(await rig.perform(call)).toMatchObject({ verdict: 'attempt_closed' });
});

test('R-006 an attempt that entered is not closed by looking', async () => {
  const { rig, call } = await inDoubt();
  const reply = await inquire(rig, { mode: 'look', attemptIds: [call.attemptId] });
  expect(reply).toMatchObject({
    outcome: null,
    openAttempts: [call.attemptId],
    canAsk: true,
    verdict: null,
    question: { action: { actionId: ACTION } },
  });
});

test.each([
  ['revoked', 'revoke', {}, 0],
  ['revoked, and may still ask', 'revoke', { keep: ['query'] }, 1],
  ['amended, and may not ask any more', 'amend', { grants: ['effect', 'accept'] }, 0],
] as const)(
  'R-115 a receiver is asked only while query is granted: %s',
  async (_n, verb, more, times) => {
    const { rig } = await inDoubt();
    let asked = 0;
    rig.receiver.inquire = async () => {
      asked++;
      return { verdict: 'no_record' };
    };
    await say(rig, verb, more as never);
    expect(await inquire(rig)).toMatchObject({ canAsk: times > 0 });
    expect(asked).toBe(times);
  },
);

test('R-035 the question carries the original principal, key, token and stored input', async () => {
  const { rig, call } = await inDoubt();
  let asked: unknown;
  rig.receiver.inquire = async (inquiry) => {
    asked = inquiry;
    return { verdict: 'no_record' };
  };
  await inquire(rig);
  const attempt = (await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts[0];
  expect(asked).toMatchObject({
    actionId: call.actionId,
    receiverKey: `shop/default/${ACTION}`,
    sendToken: { epoch: 1, number: 1 },
    principal: { user: 'ada', workspace: 'w1' },
    input: { amount: 10 },
    payloadDigest: attempt?.entry.payload.digest,
    lastSentAt: attempt?.enteredAt,
  });
});

const home = { receiver: 'bank', account: 'acme', workspace: 'w1', region: 'eu' };
const unbound: readonly [string, Partial<ToolPolicy>][] = [
  ...Object.keys(home).map((part): [string, Partial<ToolPolicy>] => [
    `another ${part}`,
    { contract: at({ ...home, [part]: 'other' }) },
  ]),
  ['no scope', { contract: at('none') }],
];

test.each(unbound)('R-035 configured for %s: the question is not asked there', async (_n, over) => {
  const receiver: Receiver = {
    execute: () => Promise.reject(new Error('the line broke')),
    inquire: async () => ({ verdict: 'no_record' }),
  };
  const charge = chargeCard(receiver);
  const tool = { ...charge, receiver: { ...charge.receiver, scope: home } };
  const rig = await activityRig({ tools: { charge_card: tool } });
  await failureOfRun(rig.perform(rig.call(await rig.open())));
  let asked = 0;
  receiver.inquire = async () => {
    asked++;
    return { verdict: 'no_record' };
  };
  expect(await inquire(rig)).toMatchObject({ canAsk: true, verdict: 'no_record' });
  const registered = rig.deps.registry.tools.get('charge_card')!;
  const policy = { ...registered.policy, ...over };
  const tools = new Map([['charge_card', { ...registered, policy }]]);
  Object.assign(rig.deps, { registry: { tools } });
  expect(await inquire(rig)).toMatchObject({ canAsk: false, verdict: null, outcome: null });
  expect(asked).toBe(1);
});

test('an answer that proves the effect settles it, with its result', async () => {
  const { rig } = await inDoubt();
  rig.receiver.inquire = async () => ({
    verdict: 'executed',
    result: { ticket: 'T-1' },
    externalId: 'ext-1',
  });
  expect(await inquire(rig)).toMatchObject({
    verdict: 'executed',
    outcome: { kind: 'executed', externalId: 'ext-1' },
    value: { ticket: 'T-1' },
    openAttempts: [],
  });
});

test('K-092 an answer without a result settles the effect, the result missing', async () => {
  const { rig } = await inDoubt();
  rig.receiver.inquire = async () => ({ verdict: 'executed', objectVersion: 'v1' });
  expect(await inquire(rig)).toMatchObject({
    verdict: 'executed',
    outcome: { kind: 'executed_result_missing' },
    openAttempts: [],
  });
});

test.each<[string, InquiryAnswer<Json>]>([
  ['R-037 no_record', { verdict: 'no_record' }],
  ['R-036 processing', { verdict: 'processing', detail: 'at work' }],
  ['a claim the contract does not cover', { verdict: 'not_executed', proof: 'closed_key' }],
  ['conflict', { verdict: 'conflict' }],
  ['forbidden', { verdict: 'forbidden' }],
])('%s proves nothing: the action stays unknown', async (_name, answer) => {
  const { rig, call } = await inDoubt();
  rig.receiver.inquire = async () => answer;
  expect(await inquire(rig)).toMatchObject({
    verdict: answer.verdict,
    outcome: null,
    openAttempts: [call.attemptId],
  });
});

test.each<[string, () => Promise<InquiryAnswer<Json>>]>([
  ['fails', () => Promise.reject(new Error('refused'))],
  ['answers with something else', async () => ({ verdict: 'maybe' }) as never],
  ['names what no fact holds', async () => ({ verdict: 'executed', externalId: 'ext-\ud800' })],
  ['names without end', async () => ({ verdict: 'executed', externalId: 'x'.repeat(1_001) })],
  [
    'has parts no fact holds',
    async () => ({ verdict: 'partial', parts: [{ name: '\ud800', state: 'confirmed' }] }),
  ],
  ['explains in half a pair', async () => ({ verdict: 'unavailable', detail: '\ud800' })],
])('R-036 a question that %s is unavailable, and sends nothing again', async (_name, answer) => {
  const { rig } = await inDoubt();
  let sends = 0;
  rig.receiver.execute = async () => {
    sends++;
    return { kind: 'executed', result: null };
  };
  rig.receiver.inquire = answer;
  expect(await inquire(rig)).toMatchObject({ verdict: 'unavailable', outcome: null });
  expect(sends).toBe(0);
});

test('R-036 a question that is never answered ends all the same, as unavailable', async () => {
  const { rig, call } = await inDoubt();
  rig.receiver.inquire = () => new Promise(() => undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = inquire(rig);
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
  vi.advanceTimersByTime(limits.inquiryTimeoutMs);
  expect(await asked).toMatchObject({
    verdict: 'unavailable',
    openAttempts: [call.attemptId],
    canAsk: true,
  });
});

test('a tool that is gone, or another version of it, cannot ask', async () => {
  const { rig } = await inDoubt();
  const tool = rig.deps.registry.tools.get('charge_card')!;
  const binding = { ...tool.policy.binding, version: '2' };
  const tools = new Map([['charge_card', { ...tool, policy: { ...tool.policy, binding } }]]);
  Object.assign(rig.deps, { registry: { tools } });
  expect(await inquire(rig)).toMatchObject({ canAsk: false, verdict: null, outcome: null });
  Object.assign(rig.deps, { registry: { tools: new Map() } });
  expect(await inquire(rig)).toMatchObject({
    canAsk: false,
    question: { evidence: { level: 'L0' } },
  });
});

test('a settled action is not asked about again', async () => {
  const rig = await activityRig();
  await rig.perform(rig.call(await rig.open()));
  expect(await inquire(rig)).toMatchObject({
    canAsk: false,
    verdict: null,
    question: null,
    outcome: { kind: 'executed' },
  });
});

test('an action nobody has heard of has no outcome', async () => {
  const rig = await activityRig();
  await rig.open();
  expect(await inquire(rig)).toMatchObject({ outcome: null, recordVersion: 0, question: null });
});
