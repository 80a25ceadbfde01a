import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { NotSentError } from '../../activities/tool.ts';
import type { PerformCall } from '../../core/activity-calls.ts';
import { limits } from '../../core/limits.ts';
import { type Ledger, LedgerError } from '../../ledger/port.ts';
import {
  activityRig,
  EXECUTION,
  failureOfRun,
  handClock,
  portOf,
  type Rig,
  RUN,
} from '../support/activity-rig.ts';

const ACTION = `${RUN}.t1.c1`;

function doubt(rig: Rig, call: PerformCall) {
  const { runId, actionId, attemptId } = call;
  const why = 'the worker was silent';
  return rig
    .activities()
    .recordFacts({ kind: 'doubt', runId, pin: null, actionId, attemptId, why, externalId: null });
}

async function attemptOf(rig: Rig) {
  return (await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts[0];
}

test.each([
  ['before the first byte', 'send', (_before: () => void) => undefined],
  ['after the first byte', 'execute', (before: () => void) => before()],
])('R-009 a throw %s is ambiguous and names the phase', async (_name, phase, prepare) => {
  const rig = await activityRig();
  rig.receiver.execute = async (_input, attempt) => {
    prepare(() => attempt.beforeSend());
    throw new Error('socket hang up');
  };
  const call = rig.call(await rig.open());
  expect(await failureOfRun(rig.perform(call))).toMatchObject({
    type: 'AttemptAmbiguous',
    details: { phase, attemptId: call.attemptId, externalId: null, receiptDigest: null },
  });
  expect((await attemptOf(rig))?.settled).toBeNull();
});

const part = (name: string) => ({ name, state: 'confirmed' });

test.each([
  ['nothing', undefined],
  ['an unknown kind', { kind: 'probably' }],
  ['accepted without an id', { kind: 'accepted' }],
  ['partial without parts', { kind: 'partial', parts: [] }],
  ['a name the ledger cannot hold', { kind: 'executed', result: 1, externalId: 'ext-\ud800' }],
  ['a part the ledger cannot hold', { kind: 'partial', parts: [part('p\udc00')] }],
  [
    'more parts than pass history',
    { kind: 'partial', parts: Array(limits.partsMax + 1).fill(part('p')) },
  ],
])('an adapter that returns %s has settled nothing', async (_name, returned) => {
  const rig = await activityRig();
  rig.receiver.execute = async () => returned;
  const failure = await failureOfRun(rig.perform(rig.call(await rig.open())));
  expect(failure.type).toBe('AttemptAmbiguous');
});

test.each([
  ['refused', { kind: 'refused', code: 'limit', message: 'too much' }, 'not_executed'],
  ['partial', { kind: 'partial', parts: [{ name: 'file', state: 'confirmed' }] }, 'partial'],
  [
    'not_taken',
    { kind: 'not_taken', code: '429', message: 'later', retryAfterMs: 7_000 },
    'not_executed',
  ],
])('R-013 R-041 an answer %s is recorded as it is', async (settled, returned, outcome) => {
  const rig = await activityRig();
  rig.receiver.execute = async () => returned;
  const reply = await rig.perform(rig.call(await rig.open()));
  expect(reply).toMatchObject({ verdict: 'entered', settled, outcome: { kind: outcome } });
  expect(reply.retryAfterMs).toBe(settled === 'not_taken' ? 7_000 : null);
});

test('R-013 the words of a refusal are cut to what the ledger holds, and it is kept', async () => {
  const rig = await activityRig();
  const code = `no\ud800${'c'.repeat(3_000_000)}`;
  const message = `${'m'.repeat(limits.noteCharsMax - 1)}😀`;
  rig.receiver.execute = async () => ({ kind: 'refused', code, message });
  expect(await rig.perform(rig.call(await rig.open()))).toMatchObject({ settled: 'refused' });
  const said = (await attemptOf(rig))?.settled?.refusal;
  expect(said?.code).toHaveLength(limits.labelCharsMax);
  expect(said?.message).toBe(`${'m'.repeat(limits.noteCharsMax - 1)}\ufffd`);
});

test('an accepted action has no outcome yet, and keeps what the receiver called it', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async () => ({ kind: 'accepted', externalId: 'job-7' });
  const reply = await rig.perform(rig.call(await rig.open()));
  expect(reply.settled).toBe('accepted');
  expect((await attemptOf(rig))?.settled?.externalId).toBe('job-7');
});

test('a process frozen before its first byte does not send: not_sent', async () => {
  const clock = handClock();
  const rig = await activityRig({ deps: { clock } });
  let sent = 0;
  rig.receiver.execute = async (_input, attempt) => {
    clock.move(limits.sendWindowMs + 1);
    attempt.beforeSend();
    sent++;
    return { kind: 'executed', result: null };
  };
  const opened = await rig.open();
  const reply = await rig.perform(rig.call(opened));
  expect(reply).toMatchObject({ settled: 'not_sent', outcome: { kind: 'not_executed' } });
  expect(reply.detail).toMatch(/send window/);
  expect(sent).toBe(0);
  rig.receiver.execute = async () => ({ kind: 'executed', result: 'second attempt' });
  expect(await rig.perform(rig.call(opened))).toMatchObject({ settled: 'executed' });
});

test('a NotSentError after a first byte proves nothing', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async (_input, attempt) => {
    attempt.beforeSend();
    throw new NotSentError('the second request of the tool was late');
  };
  const failure = await failureOfRun(rig.perform(rig.call(await rig.open())));
  expect(failure).toMatchObject({ type: 'AttemptAmbiguous', details: { phase: 'execute' } });
});

test.each([
  ['in the transaction', 'before', limits.barrierAgeMs + 1, 'authority_unavailable', null],
  ['at the commit', 'after', limits.barrierAgeMs + 1, 'entered', 'not_sent'],
  ['until the window has passed', 'after', limits.sendWindowMs + 1, 'entered', 'not_sent'],
])('a process frozen %s of the gate calls nobody', async (_name, when, ms, verdict, settled) => {
  const clock = handClock();
  const rig = await activityRig({
    deps: { clock },
    decorateLedger: (ledger) => ({
      ...portOf(ledger),
      async transact(look, decide) {
        if (look.intentDigest !== undefined && when === 'before') clock.move(ms);
        const committed = await ledger.transact(look, decide);
        if (look.intentDigest !== undefined && when === 'after') clock.move(ms);
        return committed;
      },
    }),
  });
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    return { kind: 'executed', result: null };
  };
  expect(await rig.perform(rig.call(await rig.open()))).toMatchObject({ verdict, settled });
  expect(calls).toBe(0);
});

test.each([
  ['inside the send window goes on', 0, 'executed', 1],
  ['after the send window sends nothing', limits.sendWindowMs + 1, 'not_sent', 0],
])('a delivery whose COMMIT reply was lost: %s', async (_name, ms, settled, expected) => {
  const clock = handClock();
  let lost = false;
  const rig = await activityRig({
    deps: { clock },
    decorateLedger: (ledger: Ledger) => ({
      ...portOf(ledger),
      async transact(look, decide) {
        const committed = await ledger.transact(look, decide);
        if (look.intentDigest === undefined || lost) return committed;
        lost = true;
        clock.move(ms);
        throw new LedgerError('unavailable', 'reply lost', { nothingWritten: false });
      },
    }),
  });
  let calls = 0;
  rig.receiver.execute = async () => {
    calls++;
    return { kind: 'executed', result: null };
  };
  const reply = await rig.perform(rig.call(await rig.open()));
  expect(reply).toMatchObject({ verdict: 'entered', settled });
  expect(calls).toBe(expected);
  expect((await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts).toHaveLength(1);
});

test.each([
  ['too large', 'x'.repeat(limits.ledgerPayloadBytesMax), /bytes are more.*sha256:/],
  ['no JSON', new Date(0), /not JSON/],
])(
  'R-007 K-050 a result that is %s: executed, its result is missing, never repeated',
  async (_n, result, why) => {
    const rig = await activityRig();
    let calls = 0;
    rig.receiver.execute = async () => {
      calls++;
      return { kind: 'executed', result, externalId: 'ext-9' };
    };
    const opened = await rig.open();
    const reply = await rig.perform(rig.call(opened));
    expect(reply.outcome).toMatchObject({ kind: 'executed_result_missing', externalId: 'ext-9' });
    expect((await attemptOf(rig))?.settled?.resultMissing).toMatch(why);
    expect(await rig.perform(rig.call(opened))).toMatchObject({ verdict: 'already_final' });
    expect(calls).toBe(1);
  },
);

test('a cancel fact aborts the tool; Temporal’s cancellation does not', async () => {
  const rig = await activityRig();
  const events: string[] = [];
  let entered: () => void = () => undefined;
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  rig.receiver.execute = async (_input, attempt) => {
    attempt.beforeSend();
    entered();
    await new Promise<void>((resolve) =>
      attempt.signal.addEventListener('abort', () => resolve(), { once: true }),
    );
    events.push('aborted');
    throw new Error('aborted');
  };
  const call = rig.call(await rig.open());
  const environment = new MockActivityEnvironment({
    activityId: call.attemptId,
    workflowExecution: { workflowId: RUN, runId: EXECUTION },
    startToCloseTimeoutMs: 60_000,
    heartbeatTimeoutMs: 80,
  });
  const running = environment.run(() => rig.activities().performAction(call));
  await inside;
  environment.cancel('CANCELLED');
  let beats = 0;
  await new Promise<void>((resolve) => {
    environment.on('heartbeat', (details) => {
      expect(details).toMatchObject({ action: ACTION, attempt: call.attemptId, phase: 'execute' });
      if (++beats === 3) resolve();
    });
  });
  expect(events).toEqual([]);
  await rig.activities().recordFacts({
    kind: 'cancel',
    runId: RUN,
    pin: null,
    command: { id: 'c1', actor: 'ops', reason: 'stop it' },
    position: null,
  });
  await expect(running).rejects.toThrow(/aborted/);
  expect(events).toEqual(['aborted']);
});

test('a tool cannot meet Temporal’s context, and so not its cancellation either', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async () => {
    const { Context } = await import('@temporalio/activity');
    return { kind: 'executed', result: String(typeof Context.current()) };
  };
  const failure = await failureOfRun(rig.perform(rig.call(await rig.open())));
  expect(failure.type).toBe('AttemptAmbiguous');
  expect(failure.message).toMatch(/context/i);
});

test('a tool that throws CancelledFailure has settled nothing, and is not retried', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async () => {
    throw new CancelledFailure('paused');
  };
  const failure = await failureOfRun(rig.perform(rig.call(await rig.open())));
  expect(failure).toMatchObject({ type: 'AttemptAmbiguous', nonRetryable: true });
});

test('R-110 the result of an action in doubt is recorded late and told to both', async () => {
  const rig = await activityRig();
  const call = rig.call(await rig.open());
  rig.receiver.execute = async () => {
    expect(await doubt(rig, call)).toMatchObject({ state: 'in_doubt', outcome: null });
    return { kind: 'executed', result: null, externalId: 'ext-1' };
  };
  const reply = await rig.perform(call);
  expect(reply.outcome).toMatchObject({ kind: 'executed' });
  const [, , , settled] = await rig.ledger.facts(RUN, { after: 0, limit: 9 });
  expect(settled).toMatchObject({ source: 'late_result', body: { kind: 'attempt_settled' } });
  const outcomeDigest = reply.outcome?.kind === 'executed' ? reply.outcome.digest : 'none';
  const fact = { actionId: ACTION, attemptId: call.attemptId, outcomeDigest };
  expect(rig.signals).toEqual([
    { to: 'question', fact, question: expect.objectContaining({ signal: 'resolve' }) },
    { to: RUN, fact, question: null },
  ]);
});

test('R-110 a late result that nobody can be told of is recorded all the same', async () => {
  const rig = await activityRig({
    deps: {
      clock: handClock(),
      signals: {
        toQuestion: () => Promise.reject(new Error('down')),
        toRun: () => Promise.reject(new Error('down')),
      },
    },
  });
  const call = rig.call(await rig.open());
  rig.receiver.execute = async () => {
    await doubt(rig, call);
    return { kind: 'executed', result: null };
  };
  expect(await rig.perform(call)).toMatchObject({ settled: 'executed' });
});

test('R-110 the news of a late result is sent until the server takes it', async () => {
  const told: string[] = [];
  let down = 20;
  const take = async (to: string) => {
    if (down-- > 0) throw new Error('down');
    told.push(to);
  };
  const signals = { toQuestion: () => take('question'), toRun: () => take('run') };
  const rig = await activityRig({ deps: { clock: handClock(), signals } });
  const call = rig.call(await rig.open());
  rig.receiver.execute = async () => {
    await doubt(rig, call);
    return { kind: 'executed', result: null };
  };
  expect(await rig.perform(call)).toMatchObject({ settled: 'executed' });
  expect(told.sort()).toEqual(['question', 'run']);
});

test('a healthy result is told to nobody but its caller', async () => {
  const rig = await activityRig();
  await rig.perform(rig.call(await rig.open()));
  expect(rig.signals).toEqual([]);
});
