import { expect, test } from 'vitest';
import { createRegistry } from '../../activities/index.ts';
import { type Ledger, LedgerError } from '../../ledger/port.ts';
import {
  activityRig,
  chargeCard,
  defaults,
  failureOfRun,
  portOf,
  RUN,
  wanted,
} from '../support/activity-rig.ts';

/** Notes each transaction that wrote, by the kinds of its facts. */
function noting(ledger: Ledger, order: string[]): Ledger {
  return {
    ...portOf(ledger),
    async transact(look, decide) {
      const before = (await ledger.read(look.runId)).head.count;
      const committed = await ledger.transact(look, decide);
      for (const { body } of await ledger.facts(look.runId, { after: before, limit: 9 }))
        order.push(body.kind);
      return committed;
    },
  };
}

const down = (nothingWritten: boolean) =>
  new LedgerError('unavailable', 'the disk is gone; put it back', { nothingWritten });

test('R-050 R-023 intent before the call, result after it, at its allocated id', async () => {
  const rig = await activityRig({ decorateLedger: noting });
  rig.receiver.execute = async (_input, attempt) => {
    attempt.beforeSend();
    rig.order.push('RECEIVER CALLED');
    return { kind: 'executed', result: { ticket: 'T-1' }, externalId: 'ext-1' };
  };
  const opened = await rig.open();
  const call = rig.call(opened);
  const reply = await rig.perform(call);
  expect(rig.order).toEqual([
    'run_opened',
    'attempt_entered',
    'RECEIVER CALLED',
    'attempt_settled',
  ]);
  expect(reply).toMatchObject({
    verdict: 'entered',
    settled: 'executed',
    outcome: { kind: 'executed', externalId: 'ext-1' },
    value: { ticket: 'T-1' },
  });
  const attempt = (await rig.ledger.read(RUN)).actions.get(call.actionId)?.attempts[0];
  expect(attempt?.settled?.resultId).toBe(attempt?.entry.resultId);
});

test('R-021 the stored bytes are the input as given; defaults are for the tool alone', async () => {
  const rig = await activityRig();
  let seen: unknown;
  rig.receiver.execute = async (input) => {
    seen = input;
    return { kind: 'executed', result: null };
  };
  const opened = await rig.open();
  await rig.perform(rig.call(opened, { input: { kind: 'inline', value: { amount: 10, x: 1 } } }));
  const entry = (await rig.ledger.read(RUN)).actions.get(`${RUN}.t1.c1`)?.attempts[0]?.entry;
  const bytes = await rig.ledger.payload(entry?.payload.digest ?? 'sha256:');
  expect(Buffer.from(bytes ?? []).toString()).toBe('{"amount":10,"x":1}');
  expect(seen).toEqual({ amount: 10, note: 'none' });
});

test.each([
  ['says nothing was written', true],
  ['does not say', false],
])('R-060 a ledger that fails before the effect and %s: no call', async (_name, nothingWritten) => {
  const rig = await activityRig({
    decorateLedger: (ledger) => ({
      ...portOf(ledger),
      transact: (look, decide) =>
        look.intentDigest === undefined
          ? ledger.transact(look, decide)
          : Promise.reject(down(nothingWritten)),
    }),
  });
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    return { kind: 'executed', result: null };
  };
  const call = rig.call(await rig.open());
  expect(await failureOfRun(rig.perform(call))).toMatchObject({
    type: 'AttemptNotEntered',
    nonRetryable: true,
    details: { phase: 'gate', attemptId: call.attemptId },
  });
  expect(calls).toBe(0);
});

test('R-007 R-060 a result that cannot be stored: unknown, the receipt is handed on', async () => {
  const rig = await activityRig({
    decorateLedger: (ledger) => ({
      ...portOf(ledger),
      transact: async (look, decide) => {
        const entered = (await ledger.read(look.runId)).actions.get(`${RUN}.t1.c1`);
        return entered === undefined ? ledger.transact(look, decide) : Promise.reject(down(true));
      },
    }),
  });
  const call = rig.call(await rig.open());
  const failure = await failureOfRun(rig.perform(call, { startToCloseTimeoutMs: 3_200 }));
  expect(failure).toMatchObject({
    type: 'ResultNotStored',
    details: {
      phase: 'result',
      externalId: 'ext-1',
      receiptDigest: expect.stringMatching(/^sha256:/),
    },
  });
  const action = (await rig.ledger.read(RUN)).actions.get(call.actionId);
  expect(action?.final).toBeNull();
  expect(action?.attempts[0]?.settled).toBeNull();
});

test('R-007 a ledger that comes back in time takes the result', async () => {
  let failures = 3;
  const rig = await activityRig({
    decorateLedger: (ledger) => ({
      ...portOf(ledger),
      transact: async (look, decide) => {
        const entered = (await ledger.read(look.runId)).actions.get(`${RUN}.t1.c1`);
        if (entered !== undefined && failures-- > 0) throw down(failures % 2 === 0);
        return ledger.transact(look, decide);
      },
    }),
  });
  const reply = await rig.perform(rig.call(await rig.open()));
  expect(reply).toMatchObject({ settled: 'executed', outcome: { kind: 'executed' } });
});

test('R-010 R-006 arguments that fail the schema: closed, nobody is called', async () => {
  const rig = await activityRig();
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    return { kind: 'executed', result: null };
  };
  const opened = await rig.open();
  const call = rig.call(opened, { input: { kind: 'inline', value: { amount: 'ten' } } });
  const reply = await rig.perform(call);
  expect(reply).toMatchObject({
    verdict: 'invalid_input',
    settled: null,
    outcome: { kind: 'not_executed', reason: 'invalid_input' },
  });
  expect(reply.detail).toMatch(/^at amount: .*number.*; correct the input in a new action$/);
  expect(reply.outcome).toMatchObject({ actionId: call.actionId });
  expect(calls).toBe(0);
  expect(await rig.perform(call)).toMatchObject({ verdict: 'attempt_closed' });
});

test.each([
  ['has no JSON form', { kind: 'inline', value: { amount: Number.NaN } } as const, /at \$\.amount/],
  [
    'is too large',
    { kind: 'inline', value: { amount: 1, note: 'x'.repeat(70_000) } } as const,
    /has 700\d\d bytes, more than 65536; pass a reference/,
  ],
  [
    'names a plan step that is not there',
    { kind: 'plan_step', index: 4 } as const,
    /no plan step 4/,
  ],
  [
    'names a payload that is not there',
    { kind: 'stored', payload: { digest: `sha256:${'0'.repeat(64)}`, bytes: 2 } } as const,
    /payload sha256:0+ is not in the ledger; store it first/,
  ],
])('R-010 an input that %s is closed as invalid, and nobody is called', async (_, input, words) => {
  const rig = await activityRig();
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    return { kind: 'executed', result: null };
  };
  const reply = await rig.perform(rig.call(await rig.open(), { input }));
  expect(reply.verdict).toBe('invalid_input');
  expect(reply.detail).toMatch(words);
  expect(calls).toBe(0);
});

test('a plan step is read from the stored goal', async () => {
  const rig = await activityRig();
  let seen: unknown;
  rig.receiver.execute = async (input) => {
    seen = input;
    return { kind: 'executed', result: null };
  };
  await rig.perform(rig.call(await rig.open(), { input: { kind: 'plan_step', index: 0 } }));
  expect(seen).toMatchObject({ amount: 10 });
});

test('R-046 a second delivery of an attempt is refused: one call', async () => {
  const rig = await activityRig();
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    throw new Error('the line broke');
  };
  const call = rig.call(await rig.open());
  const failure = await failureOfRun(rig.perform(call));
  expect(failure).toMatchObject({ type: 'AttemptAmbiguous', nonRetryable: true });
  expect(await rig.perform(call)).toMatchObject({ verdict: 'attempt_reused', outcome: null });
  expect(calls).toBe(1);
});

test('R-046 a new attempt of a `never` action in doubt is refused: one call', async () => {
  const rig = await activityRig();
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    throw new Error('the line broke');
  };
  const opened = await rig.open();
  await failureOfRun(rig.perform(rig.call(opened)));
  expect(await rig.perform(rig.call(opened))).toMatchObject({ verdict: 'action_in_doubt' });
  expect(calls).toBe(1);
});

test('R-097 a tool that is not the one decided on is refused and closes the attempt', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const newer = { ...chargeCard(rig.receiver), implementation: 'charge-card/2' };
  Object.assign(rig.deps, { registry: createRegistry({ charge_card: newer }, defaults) });
  const reply = await rig.perform(rig.call(opened));
  expect(reply).toMatchObject({ verdict: 'binding_changed', outcome: { kind: 'not_executed' } });
  Object.assign(rig.deps, { registry: createRegistry({}, defaults) });
  expect(await rig.perform(rig.call(opened))).toMatchObject({ verdict: 'binding_changed' });
});

test('a call that is not about its activity is a failure, and nothing is sent', async () => {
  const rig = await activityRig();
  const call = rig.call(await rig.open());
  const running = rig.deliver('another-id', () => rig.activities().performAction(call));
  expect(await failureOfRun(running)).toMatchObject({ type: 'ActivityDefect', nonRetryable: true });
  expect((await rig.ledger.read(RUN)).actions.size).toBe(0);
});

test('R-034 an attempt that is not wanted any more is closed before it can enter', async () => {
  let now = wanted;
  const rig = await activityRig({ barrier: () => now });
  const opened = await rig.open();
  now = { ...wanted, activity: { state: 'cancel_requested', paused: false } };
  const call = rig.call(opened);
  expect(await rig.perform(call)).toMatchObject({ verdict: 'attempt_not_current' });
  now = wanted;
  expect(await rig.perform(call)).toMatchObject({ verdict: 'attempt_closed' });
});

test('a server that does not answer: authority_unavailable after the wait', async () => {
  let up = true;
  const rig = await activityRig({
    barrier: () => (up ? wanted : { kind: 'no_answer', why: 'connection refused' }),
  });
  const opened = await rig.open();
  up = false;
  expect(await rig.perform(rig.call(opened))).toMatchObject({ verdict: 'authority_unavailable' });
});
