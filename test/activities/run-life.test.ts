import { expect, test } from 'vitest';
import type { Scheduled } from '../../core/activity-calls.ts';
import { genesisBase } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { activityRig, failureOfRun, type Rig, RUN, wanted } from '../support/activity-rig.ts';

const ACTION = `${RUN}.t1.c1`;
const command = { id: 'c1', actor: 'ada', reason: 'no more' };

const opening = (over: object = {}) => ({
  runId: RUN,
  goal: { kind: 'plan', steps: [] },
  principal: { user: 'ada', workspace: 'w1' },
  tools: null,
  firstExecutionRunId: 'exec-1',
  ticket: null,
  pin: null,
  after: null,
  ...over,
});
const openWith = (rig: Rig, over: object = {}) =>
  rig.deliver('open', () => rig.activities().openRun(opening(over)));

test('opening stores goal and catalog, pins the bindings and hands out the policies', async () => {
  const rig = await activityRig();
  const reply = await openWith(rig);
  expect(reply).toMatchObject({
    kind: 'open',
    authority: { epoch: 1, revisions: { goal: 1, auth: 1 }, revoked: false },
    catalog: [{ binding: { tool: 'charge_card' }, replay: 'never', level: 'L1' }],
    model: null,
    walk: [],
    walkNext: null,
    base: genesisBase(RUN),
  });
  const { opened } = await rig.ledger.read(RUN);
  expect(opened?.scope).toEqual({ installation: 'shop', namespace: 'default' });
  const goal = await rig.ledger.payload(opened!.goal.digest);
  expect(Buffer.from(goal ?? []).toString()).toBe('{"kind":"plan","steps":[]}');
});

test('opening again attaches and returns the recorded walk', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  await rig.perform(rig.call(opened));
  const again = await rig.open();
  expect(again.walk).toMatchObject([
    { actionId: ACTION, position: 't1.c1', outcome: { kind: 'executed' }, attemptsEntered: 1 },
  ]);
  expect(again.pin.head.count).toBe(3);
});

test.each([
  ['another goal', { goal: { kind: 'plan', steps: [1] } }, 'other_goal', /another goal/],
  ['another first execution', { firstExecutionRunId: 'exec-2' }, 'needs_resume', /resume/],
  ['an unknown tool', { tools: ['fly'] }, 'unknown_tool', /"fly".*charge_card/],
  ['a goal that is no JSON', { goal: { at: Number.NaN } }, 'invalid', /goal/],
  ['half a budget', { budget: { requests: 1.5 } }, 'invalid', /budget/],
  ['a grant that is none', { grants: ['effect', 'everything'] }, 'invalid', /grants/],
  ['nobody whose run it is', { principal: { user: '', workspace: 'w1' } }, 'invalid', /user/],
  ['a goal that is too large', { goal: 'x'.repeat(limits.runInputBytesMax) }, 'invalid', /bytes/],
])('opening with %s is refused readably', async (_name, over, reason, message) => {
  const rig = await activityRig();
  await openWith(rig);
  const reply = await openWith(rig, over);
  expect(reply).toMatchObject({ kind: 'refused', reason });
  expect(reply.kind === 'refused' && reply.message).toMatch(message);
});

test('a pin of another ledger is refused', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const reply = await rig.deliver('open', () =>
    rig.activities().openRun(
      opening({
        goal: { kind: 'plan', steps: [{ tool: 'charge_card', input: { amount: 10 } }] },
        pin: { ...opened.pin, id: 'another' },
      }),
    ),
  );
  expect(reply).toMatchObject({ kind: 'refused', reason: 'ledger_mismatch' });
});

test.each([
  ['is not wanted any more', { ...wanted, running: false }],
  ['cannot be told', { kind: 'no_answer', why: 'down' } as const],
])('opening when it %s fails, and nothing is opened', async (_name, answer) => {
  const rig = await activityRig({ barrier: () => answer });
  const failure = await failureOfRun(openWith(rig));
  expect(failure).toMatchObject({ type: 'BarrierUnavailable', nonRetryable: true });
  expect((await rig.ledger.read(RUN)).opened).toBeNull();
});

test('R-059 the end is in the ledger before it is returned; opening returns it', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const done = await rig.perform(rig.call(opened));
  const reply = await rig.deliver('end', () =>
    rig.activities().endRun({
      runId: RUN,
      end: { kind: 'completed' },
      epoch: 1,
      pin: done.pin,
      consumes: { base: genesisBase(RUN), pairs: [] },
      answer: { kind: 'inline', value: { charged: 10 } },
    }),
  );
  expect(reply).toMatchObject({
    kind: 'ended',
    result: { end: { kind: 'completed' }, effectsCount: 1, undone: false },
  });
  const { ended } = await rig.ledger.read(RUN);
  const answer = await rig.ledger.payload(ended!.answer!.digest);
  expect(Buffer.from(answer ?? []).toString()).toBe('{"charged":10}');
  const goal = { kind: 'plan', steps: [{ tool: 'charge_card', input: { amount: 10 } }] };
  expect(await openWith(rig, { goal })).toMatchObject({ kind: 'ended' });
});

test('an end that the barrier does not let through is refused', async () => {
  let now = wanted;
  const rig = await activityRig({ barrier: () => now });
  const opened = await rig.open();
  now = { ...wanted, currentRunId: 'another' };
  const reply = await rig.deliver('end', () =>
    rig.activities().endRun({
      runId: RUN,
      end: { kind: 'completed' },
      epoch: 1,
      pin: opened.pin,
      consumes: { base: genesisBase(RUN), pairs: [] },
      answer: { kind: 'none' },
    }),
  );
  expect(reply).toMatchObject({ kind: 'refused', verdict: 'attempt_not_current' });
  expect((await rig.ledger.read(RUN)).ended).toBeNull();
});

test('R-109 a revoke is a fact once, and nothing enters after it', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const record = () =>
    rig
      .activities()
      .recordFacts({ kind: 'revoke', runId: RUN, pin: null, command, position: 't1.c1' });
  expect(await record()).toMatchObject({
    kind: 'applied',
    what: 'applied',
    authority: { revoked: true, revisions: { auth: 2 } },
  });
  expect(await record()).toMatchObject({ what: 'duplicate' });
  expect(await rig.perform(rig.call(opened))).toMatchObject({ verdict: 'revoked' });
});

test('R-134 a rejected command is kept as a fact, whatever its words', async () => {
  const rig = await activityRig();
  const reply = await rig.activities().recordFacts({
    kind: 'rejected',
    runId: RUN,
    pin: null,
    commandId: null,
    name: 'resolve',
    why: '',
  });
  expect(reply).toMatchObject({ kind: 'applied', what: 'rejected' });
  expect((await rig.ledger.read(RUN)).rejectedCount).toBe(1);
});

test('a doubt closes what never entered, and says what is settled', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const doubt = (attemptId: string) =>
    rig.activities().recordFacts({
      ...{ kind: 'doubt', runId: RUN, pin: null, actionId: ACTION, attemptId },
      ...{ why: 'silent', externalId: null },
    });
  const [lost, done] = [rig.call(opened), rig.call(opened)];
  expect(await doubt(lost.attemptId)).toMatchObject({ state: 'closed', question: null });
  await rig.perform(done);
  expect(await doubt(done.attemptId)).toMatchObject({
    state: 'settled',
    outcome: { kind: 'executed' },
  });
});

test('R-034 what never entered is kept as it was wanted, where that can be read', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const closedWith = async (input: Scheduled['input']) => {
    const { attemptId, position, revisions } = rig.call(opened);
    await rig.activities().recordFacts({
      ...{ kind: 'doubt', runId: RUN, pin: null, actionId: ACTION, attemptId },
      ...{ why: 'canceled', externalId: null },
      scheduled: { position, revisions, tool: 'charge', input },
    });
    return (await rig.ledger.read(RUN)).actions.get(ACTION)?.refusals.at(-1);
  };
  const goal = (await rig.ledger.read(RUN)).opened?.goal;
  expect(goal).toBeDefined();
  const closed = { verdict: 'closed_by_inquiry', position: 't1.c1', tool: 'charge' };
  expect(await closedWith({ kind: 'stored', payload: goal! })).toMatchObject({
    ...closed,
    payload: goal,
  });
  const gone = { digest: digestOf('gone'), bytes: 6 };
  for (const input of [null, { kind: 'stored', payload: gone }] as const)
    expect(await closedWith(input)).toMatchObject({ ...closed, payload: null });
  const beyond = { kind: 'plan_step', index: 99 } as const;
  expect(await closedWith(beyond)).toMatchObject({ ...closed, payload: null });
});

test('R-012 a doubt about an open attempt returns the question', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async () => {
    throw new Error('the line broke');
  };
  const call = rig.call(await rig.open());
  await failureOfRun(rig.perform(call));
  const reply = await rig.activities().recordFacts({
    ...{ kind: 'doubt', runId: RUN, pin: null, actionId: ACTION, attemptId: call.attemptId },
    ...{ why: 'heartbeat timeout', externalId: 'ext-7' },
  });
  expect(reply).toMatchObject({
    state: 'in_doubt',
    outcome: null,
    question: { signal: 'resolve', evidence: { level: 'L1', attempts: [call.attemptId] } },
  });
  const resolved = await rig.activities().recordFacts({
    kind: 'resolve',
    runId: RUN,
    pin: null,
    command: {
      ...{ id: 'x', actor: 'ada', reason: 'looked', actionId: ACTION, recordVersion: 3 },
      verb: 'confirm_executed',
      evidence: { kind: 'receiver_query', source: 'the bank’s list' },
      result: { charged: 10 },
    },
  });
  expect(resolved).toMatchObject({ kind: 'applied', what: 'applied' });
  expect((await rig.ledger.read(RUN)).actions.get(ACTION)?.final?.kind).toBe('executed');
});
