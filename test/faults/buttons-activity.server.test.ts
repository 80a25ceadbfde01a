// Buttons on one activity, pressed while a real worker process is at a receiver without keys. Would
// catch: an effect that the server repeats although no event tells of it, a result that is lost
// with its delivery, and a run that waits for something nobody will send.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { answerTruly } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import { queuedAttempts, scheduledAttempts } from '../support/history-events.ts';
import { type ActivityTarget, type Operator, operatorOf } from '../support/operator.ts';
import { effectRows } from './harness.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
let connection: Connection;
let operator: Operator;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
  connection = await Connection.connect({ address });
  operator = operatorOf(new Client({ connection, namespace }));
});
afterAll(async () => {
  await connection.close();
  await stage.close();
});

function notices(runId: string, count: number) {
  const steps = Array.from({ length: count }, (_, index) => {
    const subject = `Notice ${runId}.t${index + 1}.c1`;
    return { tool: 'send_notice', input: { to: 'lead@example.com', subject, body: '' } };
  });
  return { goal: { kind: 'plan' as const, steps }, principal };
}

/** A run of `count` notices, step `at` of which is held in front of the gateway. */
async function atReceiver(runId: string, { at = 1, count = 2 } = {}) {
  const actionId = `${runId}.t${at}.c1`;
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: `Notice ${actionId}` });
  await stage.worker();
  const run = await stage.client.start(runId, notices(runId, count));
  await until('the request at the gateway', WITHIN_MS, async () => {
    return (await stage.gateway.faults()).held.length === 1;
  });
  const pending = await pendingOf(runId);
  return { actionId, run, target: { runId, attemptId: pending.attemptId } };
}

async function pendingOf(runId: string) {
  const [pending, ...others] = await operator.pending(runId);
  if (pending === undefined || others.length > 0) throw new Error(`${runId}: not one is pending`);
  return pending;
}

/** The worker has been told what the server knows: it hears of buttons with a heartbeat. */
async function heardOf(runId: string): Promise<void> {
  const pressedAt = Date.now();
  await until('a heartbeat after the button', WITHIN_MS, async () => {
    return (await pendingOf(runId)).heardAt > pressedAt;
  });
}

async function factsOf(runId: string) {
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 200 });
  return facts.map(({ body }) => body);
}

/** What the ledger knows of one action: every attempt that entered or was refused, every doubt. */
async function wayOf(runId: string, actionId: string): Promise<readonly string[]> {
  return (await factsOf(runId)).flatMap((body) => {
    if (!('actionId' in body) || body.actionId !== actionId) return [];
    return [body.kind === 'attempt_refused' ? `${body.kind}: ${body.verdict}` : body.kind];
  });
}

const straight = ['attempt_entered', 'attempt_settled'];

test('R-046 R-135 Pause and Unpause at the receiver: one effect, its result counts', async () => {
  const runId = 'unpaused';
  const { actionId, run, target } = await atReceiver(runId);
  await operator.pause(target);
  await heardOf(runId);
  await operator.unpause(target);
  await heardOf(runId);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, lateFactsCount: 0 });
  expect(await effectRows(stage, runId)).toHaveLength(2);
  expect(await wayOf(runId, actionId)).toEqual(straight);
});

test('R-046 R-135 paused and left alone: the result of the paused attempt is taken', async () => {
  const runId = 'left-paused';
  const { actionId, run, target } = await atReceiver(runId);
  await operator.pause(target);
  await heardOf(runId);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, lateFactsCount: 0 });
  expect(await effectRows(stage, runId)).toHaveLength(2);
  expect(await wayOf(runId, actionId)).toEqual(straight);
});

test('R-046 R-135 Activity Reset at the receiver: one effect, and its result counts', async () => {
  const runId = 'activity-reset';
  const { actionId, run, target } = await atReceiver(runId);
  await operator.resetActivity(target);
  await heardOf(runId);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await effectRows(stage, runId)).toHaveLength(2);
  expect(await wayOf(runId, actionId)).toEqual(straight);
});

const pressed: readonly (readonly [
  name: string,
  press: (target: ActivityTarget) => Promise<void>,
])[] = [
  ['options', (target) => operator.raiseAttempts(target, 5)],
  ['reset', (target) => operator.resetActivity(target)],
  [
    'both',
    async (target) => {
      await operator.raiseAttempts(target, 5);
      await operator.pause(target);
      await operator.unpause(target);
    },
  ],
];

test('R-046 R-135 Update Options or Reset, then a killed worker: asked, not resent', async () => {
  const worker = await stage.worker();
  const targets: ActivityTarget[] = [];
  for (const [name, press] of pressed) {
    const runId = `killed-${name}`;
    stage.arm({ point: 'after_receiver_commit', actionId: `${runId}.t1.c1` });
    await stage.client.start(runId, notices(runId, 2));
    await worker.line(`REACHED after_receiver_commit ${runId}.`, WITHIN_MS);
    const { attemptId } = await pendingOf(runId);
    targets.push({ runId, attemptId });
    await press({ runId, attemptId });
  }
  await worker.kill();
  await stage.worker();
  for (const { runId, attemptId } of targets) {
    const actionId = `${runId}.t1.c1`;
    await answerTruly(stage, actionId);
    const result = await stage.client.result(runId);
    expect(result).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
    expect(await effectRows(stage, runId)).toHaveLength(2);
    expect(await scheduledAttempts(inject('temporal'), runId, actionId)).toEqual([attemptId]);
    const way = ['attempt_entered', 'action_in_doubt', 'resolution'];
    expect(await wayOf(runId, actionId)).toEqual(way);
  }
});

test('R-046 R-135 activity fail by hand: the success that follows is a late fact', async () => {
  const runId = 'failed-by-hand';
  const { actionId, run, target } = await atReceiver(runId);
  await operator.fail(target, 'looked stuck');
  const question = await asked(stage.client, actionId);
  expect(question.evidence.attempts).toEqual([target.attemptId]);
  await stage.gateway.release();
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect(result.lateFacts).toMatchObject([{ actionId, outcome: 'executed' }]);
  expect(await effectRows(stage, runId)).toHaveLength(2);
  expect(await wayOf(runId, actionId)).toEqual([
    'attempt_entered',
    'action_in_doubt',
    'attempt_settled',
  ]);
});

/** One step on a queue of its own, without a worker; the receiver keeps a log of requests. */
async function queued(runId: string): Promise<ActivityTarget> {
  const step = { tool: 'add_elsewhere', input: { counter: runId, delta: 1 } };
  await stage.client.start(runId, { goal: { kind: 'plan', steps: [step] }, principal });
  const attemptId = await until('the queued attempt', WITHIN_MS, async () => {
    const [first] = await queuedAttempts(inject('temporal'), runId, `${runId}.t1.c1`);
    return first ?? null;
  });
  return { runId, attemptId };
}

test('R-046 R-135 buttons on a queued attempt: one delivery, one effect', async () => {
  await (await stage.worker()).kill();
  await stage.worker('not_elsewhere');
  const paused = await queued('queued-paused');
  const reset = await queued('queued-reset');
  const raised = await queued('queued-raised');
  await operator.pause(paused);
  await operator.resetActivity(reset);
  await operator.raiseAttempts(raised, 5);
  // Its reply is lost: with attempts left, the server would deliver it again.
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: `${raised.runId}.` });
  await stage.another('elsewhere_only');
  for (const { runId } of [reset, raised])
    expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  expect(await pendingOf(paused.runId)).toMatchObject({ paused: true, started: false });
  await operator.unpause(paused);
  const ended = await stage.client.result(paused.runId);
  expect(ended).toMatchObject({ end: { kind: 'completed' } });
  const requests = await stage.receiver.requests();
  for (const { runId, attemptId } of [paused, reset, raised]) {
    const sent = requests.filter(({ kind, key }) => kind === 'execute' && key.includes(runId));
    expect(sent).toHaveLength(1);
    expect(await effectRows(stage, runId)).toHaveLength(1);
    const { attempts } = (await stage.ledger.read(runId)).actions.get(`${runId}.t1.c1`) ?? {};
    expect(attempts?.map((attempt) => attempt.attemptId)).toEqual([attemptId]);
    expect((await factsOf(runId)).filter(({ kind }) => kind === 'attempt_refused')).toEqual([]);
  }
});
