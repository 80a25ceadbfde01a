// An attempt that stays paused: the server's timeouts of it stand still, so only the run itself can
// notice that nothing comes. Would catch: a run that waits for ever, a second delivery by Unpause,
// and a result that is lost because it came after its time.
//
// The times of an attempt are short here, and heartbeats so rare that the worker does not hear of a
// button that is pressed and taken back.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { answerTruly } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';
import { type ActivityTarget, type Operator, operatorOf } from '../support/operator.ts';
import { effectRows } from './harness.ts';

const WITHIN_MS = 60_000;
/** Of an attempt, from its delivery; the button has to be pressed before that. */
const START_TO_CLOSE_MS = 8_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
let connection: Connection;
let operator: Operator;
/** Begun first, because its time is the longest; looked at in the end. */
let forgotten: ActivityTarget;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage(
    { address, namespace, bundlePath: inject('bundlePath') },
    {
      settings: {
        HOLDFAST_START_TO_CLOSE_MS: String(START_TO_CLOSE_MS),
        HOLDFAST_SCHEDULE_TO_START_MS: '5000',
        HOLDFAST_HEARTBEAT_TIMEOUT_MS: '7500',
      },
    },
  );
  connection = await Connection.connect({ address });
  operator = operatorOf(new Client({ connection, namespace }));
  await stage.worker('not_elsewhere');
  forgotten = await pausedInQueue('forgotten');
});
afterAll(async () => {
  await connection.close();
  await stage.close();
});

function notices(runId: string) {
  const steps = [1, 2].map((turn) => ({
    tool: 'send_notice',
    input: { to: 'lead@example.com', subject: `Notice ${runId}.t${turn}.c1`, body: '' },
  }));
  return { goal: { kind: 'plan' as const, steps }, principal };
}

/** A run whose first notice is held in front of the gateway, its attempt paused. */
async function pausedAtReceiver(runId: string) {
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: `Notice ${runId}.t1.c1` });
  await stage.worker();
  const run = await stage.client.start(runId, notices(runId));
  await until('the request at the gateway', WITHIN_MS, async () => {
    return (await stage.gateway.faults()).held.length === 1;
  });
  const pending = await pendingOf(runId);
  const target = { runId, attemptId: pending?.attemptId ?? '' };
  await operator.pause(target);
  return { run, target, actionId: `${runId}.t1.c1`, startedAt: pending?.startedAt ?? 0 };
}

/** Its queue has no worker yet. Where the button comes too late, the next attempt is paused. */
async function pausedInQueue(runId: string): Promise<ActivityTarget> {
  const step = { tool: 'add_elsewhere', input: { counter: runId, delta: 1 } };
  await stage.client.start(runId, { goal: { kind: 'plan', steps: [step] }, principal });
  return until('a queued attempt is paused', WITHIN_MS, async () => {
    const target = { runId, attemptId: (await pendingOf(runId))?.attemptId ?? '' };
    if (!target.attemptId.startsWith(`${runId}.t1.c1~`)) return null;
    return operator.pause(target).then(
      () => target,
      () => null,
    );
  });
}

async function pendingOf(runId: string) {
  return (await operator.pending(runId)).find(({ type }) => type === 'performAction');
}

/** By the server's clock, which is this machine's. */
function past(time: number): Promise<unknown> {
  return until('its time has passed', WITHIN_MS, async () => Date.now() > time);
}

async function wayOf(runId: string, actionId: string): Promise<readonly string[]> {
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 200 });
  return facts.flatMap(({ body }) =>
    'actionId' in body && body.actionId === actionId ? [body.kind] : [],
  );
}

test('R-046 R-135 paused without a heartbeat, then unpaused: one effect', async () => {
  const { run, target, actionId } = await pausedAtReceiver('quiet');
  await operator.unpause(target);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, lateFactsCount: 0 });
  expect(await effectRows(stage, 'quiet')).toHaveLength(2);
  expect(await wayOf('quiet', actionId)).toEqual(['attempt_entered', 'attempt_settled']);
});

test('R-046 R-135 paused past its start-to-close: the result that comes is taken', async () => {
  const { run, target, actionId, startedAt } = await pausedAtReceiver('long');
  await past(startedAt + START_TO_CLOSE_MS + 500);
  expect(await pendingOf('long')).toMatchObject({ attemptId: target.attemptId, paused: true });
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await effectRows(stage, 'long')).toHaveLength(2);
  expect(await wayOf('long', actionId)).toEqual(['attempt_entered', 'attempt_settled']);
  expect(await scheduledAttempts(inject('temporal'), 'long', actionId)).toHaveLength(1);
});

test('R-046 R-135 unpaused past its start-to-close: given up, then a late fact', async () => {
  const { run, target, actionId, startedAt } = await pausedAtReceiver('overtime');
  await past(startedAt + START_TO_CLOSE_MS + 500);
  await operator.unpause(target);
  await asked(stage.client, actionId);
  await stage.gateway.release();
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect(result.lateFacts).toMatchObject([{ actionId, outcome: 'executed' }]);
  expect(await effectRows(stage, 'overtime')).toHaveLength(2);
  expect(await scheduledAttempts(inject('temporal'), 'overtime', actionId)).toEqual([
    target.attemptId,
  ]);
});

test('R-046 R-135 R-110 the worker dies while paused: the run asks by itself', async () => {
  const runId = 'dead';
  const actionId = `${runId}.t1.c1`;
  stage.arm({ point: 'after_receiver_commit', actionId });
  const worker = await stage.worker();
  const run = await stage.client.start(runId, notices(runId));
  await worker.line('REACHED after_receiver_commit ', WITHIN_MS);
  const target = { runId, attemptId: (await pendingOf(runId))?.attemptId ?? '' };
  await operator.pause(target);
  await worker.kill();
  await stage.worker('all');
  // The server says nothing: this question is the run's own.
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: `Notice ${runId}.t2.c1` });
  await answerTruly(stage, actionId);
  await until('the next step at the gateway', WITHIN_MS, async () => {
    return (await stage.gateway.faults()).held.length === 1;
  });
  const still = (await operator.pending(runId)).find((each) => each.attemptId === target.attemptId);
  expect(still).toMatchObject({ paused: true, deliveries: 1 });
  await operator.unpause(target);
  await until('the server lets it go', WITHIN_MS, async () => {
    const pending = await operator.pending(runId);
    return pending.every(({ attemptId }) => attemptId !== target.attemptId);
  });
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect(await effectRows(stage, runId)).toHaveLength(2);
  expect(await scheduledAttempts(inject('temporal'), runId, actionId)).toEqual([target.attemptId]);
  const way = ['attempt_entered', 'action_in_doubt', 'resolution'];
  expect(await wayOf(runId, actionId)).toEqual(way);
});

test('R-046 R-135 paused in the queue and forgotten: another attempt does it', async () => {
  const { runId, attemptId } = forgotten;
  const actionId = `${runId}.t1.c1`;
  expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 200 });
  const closed = facts.filter(({ body }) => 'attemptId' in body && body.attemptId === attemptId);
  expect(closed.map(({ body }) => body)).toMatchObject([
    { kind: 'attempt_refused', verdict: 'closed_by_inquiry' },
  ]);
  expect(await wayOf(runId, actionId)).toEqual([
    'attempt_refused',
    'attempt_entered',
    'attempt_settled',
  ]);
  expect(await effectRows(stage, runId)).toHaveLength(1);
});
