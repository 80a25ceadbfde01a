// Commands of people at runs and questions: whatever arrives, both stay healthy, and what stops
// stops.

import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { CommandAnswer, RunStateAnswer } from '../../workflows/messages.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
const revoke = { id: 'revoke-1', actor: 'ada', reason: 'wrong customer' };
const yes = { verb: 'confirm_executed', evidence } as const;

const rejections = async (runId: string) =>
  (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'command_rejected' ? [`${body.name}: ${body.why}`] : [],
  );

async function endOf(handle: WorkflowHandle): Promise<RunResult> {
  return (await handle.result()) as RunResult;
}

/** A run that waits in its first step until `release`. */
async function heldRun(steps = 3) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.behave['charge_card'] = async (_input, attempt) => {
    await released;
    return { kind: 'executed', result: { ok: true }, externalId: attempt.actionId };
  };
  const runId = newRunId('held');
  const goal = {
    kind: 'plan',
    steps: Array.from({ length: steps }, () => ({ tool: 'charge_card', input: {} })),
  };
  const handle = await startRun(stage, runId, goal);
  await eventually('the first step is at work', async () => stage.effects.length === 1);
  return { runId, handle, release };
}

async function unknownRun() {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('asked');
  const goal = { kind: 'plan', steps: [{ tool: 'post_letter', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const action = await inDoubt(stage, runId, 't1.c1');
  return {
    runId,
    handle,
    action,
    child: stage.client.workflow.getHandle(unknownIdOf(action.actionId)),
  };
}

/** Bytes that no payload converter reads, as a broken client would send them. */
async function signalRaw(workflowId: string, name: string, encoding: string, data: string) {
  await stage.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName: name,
    input: {
      payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }],
    },
  });
}

test('R-134 whatever a signal carries, run and question stay healthy and say why', async () => {
  const { runId, handle, action, child } = await unknownRun();
  await child.signal('resolve');
  await child.signal('resolve', []);
  await child.signal('resolve', { verb: 'confirm_executed' });
  await child.signal('resolve', 'yes');
  await child.signal('resolv', answerTo(action, yes));
  await child.signal('resolve', answerTo({ ...action, actionId: 'other.t1.c1' }, yes));
  await signalRaw(child.workflowId, 'resolve', 'binary/encrypted', 'x');
  await signalRaw(child.workflowId, 'resolve', 'json/plain', '{broken');
  await handle.signal('revoke', { id: 'r', actor: 'ada' });
  await handle.signal('revok', revoke);
  await signalRaw(runId, 'lateFact', 'binary/encrypted', 'x');
  const found = await eventually('eleven rejections', async () => {
    const all = await rejections(runId);
    return all.length === 11 ? all : null;
  });
  const text = found.join('\n');
  expect(text).toContain('resolve: no argument; paste one JSON object');
  expect(text).toContain('resolve: an array arrived');
  expect(text).toContain('resolv: there is no signal "resolv"; there are resolve, lateFact');
  expect(text).toContain('this question is about');
  expect(text).toContain('cannot be decoded');
  expect(text).toContain('revoke: reason');
  const state = await handle.query<RunStateAnswer>('state');
  expect(state.lastRejection).toMatch(/rejected so far/);
  expect(state.revoked).toBe(false);
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-134 the same answer twice is applied once; the second is rejected', async () => {
  const { runId, handle, action, child } = await unknownRun();
  const answer = answerTo(action, yes);
  await child.signal('resolve', answer);
  await child.signal('resolve', answer).catch(() => undefined);
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  const resolutions = (await factsOf(stage, runId)).filter(
    ({ body }) => body.kind === 'resolution',
  );
  expect(resolutions.length).toBe(1);
});

test('the update says at once what is wrong, and leaves no event', async () => {
  const { handle, action, child } = await unknownRun();
  await eventually('it waits for a person', async () => {
    const { searchAttributes } = await child.describe();
    return searchAttributes['HoldfastState']?.[0] === 'waiting_human';
  });
  const before = (await child.fetchHistory()).events?.length;
  const refusalOf = (answer: object) =>
    child.executeUpdate('resolve', { args: [answer] }).then(String, ({ cause }) => cause.message);
  expect(await refusalOf({ verb: 'abandon' })).toContain('recordVersion: ');
  expect(await refusalOf(answerTo({ ...action, recordVersion: 1 }, yes))).toContain('look again');
  expect(await refusalOf(answerTo(action, { ...yes, reason: 'FILL IN' }))).toContain('FILL IN');
  const other = answerTo({ ...action, actionId: 'other.t1.c1' }, yes);
  expect(await refusalOf(other)).toContain('this question is about');
  expect((await child.fetchHistory()).events?.length).toBe(before);
  const applied = await child.executeUpdate<CommandAnswer, [unknown]>('resolve', {
    args: [answerTo(action, yes)],
  });
  expect(applied).toEqual({ what: 'applied', why: null });
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-108 R-109 after a revoke nothing is scheduled; what was in flight is kept', async () => {
  const { runId, handle, release } = await heldRun();
  await handle.signal('revoke', revoke);
  const action = await eventually('the revoke is recorded', async () => {
    const run = await stage.ledger.read(runId);
    return run.revoked ? run : null;
  });
  expect(action.revisions.auth).toBe(2);
  await handle.signal('revoke', revoke);
  release();
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  expect(result.effects.map((line) => [line.actionId, line.outcome, line.authRevision])).toEqual([
    [`${runId}.t1.c1`, 'executed', 1],
  ]);
  const { events } = await handle.fetchHistory();
  const scheduled = events?.filter(
    ({ activityTaskScheduledEventAttributes: it }) => it?.activityType?.name === 'performAction',
  );
  expect(scheduled?.length).toBe(1);
});

test('R-108 a revoke while a run waits for a person ends it; the question stays', async () => {
  const { handle, action, child } = await unknownRun();
  await handle.signal('revoke', revoke);
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(result.unknowns.map((line) => line.actionId)).toEqual([action.actionId]);
  expect((await child.describe()).status.name).toBe('RUNNING');
  await child.signal('resolve', answerTo(action, yes));
  expect(await child.result()).toMatchObject({ end: 'settled' });
});

test('R-109 a revoke stops scheduling at once, though the ledger does not answer yet', async () => {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  stage.around.recordFacts = async (call, next) => {
    if (call.kind === 'revoke') await answered;
    return next(call);
  };
  const { runId, handle, release } = await heldRun();
  await handle.signal('revoke', revoke);
  await eventually('it is handled', async () => stage.delivered.includes('recordFacts'));
  release();
  await eventually('the run wants to end', async () => {
    const state = await handle.query<RunStateAnswer>('state');
    return state.phase === 'ending' || stage.effects.length > 1;
  });
  answer();
  expect((await endOf(handle)).end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

test('R-109 a revoke that came before the run opened stops it before its first step', async () => {
  const runId = newRunId('early');
  await stage.client.workflow.signalWithStart('agentRun', {
    workflowId: runId,
    taskQueue: stage.queues.runs,
    args: [
      {
        goal: { kind: 'plan', steps: [{ tool: 'charge_card', input: {} }] },
        principal: { user: 'ada', workspace: 'shop' },
        tools: null,
        ticket: null,
      },
    ],
    signal: 'revoke',
    signalArgs: [revoke],
  });
  const result = await endOf(stage.client.workflow.getHandle(runId));
  expect(result.end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(stage.effects).toEqual([]);
});

test('R-122 cancel tells the tool at work to stop; its end is recorded, none undone', async () => {
  stage.behave['charge_card'] = async (_input, { signal }) => {
    await new Promise((stopped) => signal.addEventListener('abort', stopped, { once: true }));
    return { kind: 'executed', result: { charged: 'half' }, externalId: 'ch-1' };
  };
  const runId = newRunId('canceled');
  const step = { tool: 'charge_card', input: {} };
  const handle = await startRun(stage, runId, { kind: 'plan', steps: [step, step] });
  await eventually('the first step is at work', async () => stage.effects.length === 1);
  const cancel = { id: 'cancel-1', actor: 'ada', reason: 'wrong customer' };
  await handle.signal('cancel', cancel);
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'canceled' });
  const effect = { actionId: `${runId}.t1.c1`, outcome: 'executed', authRevision: 1 };
  expect(result).toMatchObject({ undone: false, effectsCount: 1, effects: [effect] });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  const facts = (await factsOf(stage, runId)).map(({ body }) =>
    body.kind === 'authority_changed' ? [body.change, body.commandId] : body.kind,
  );
  expect(facts.slice(-3)).toEqual([['cancel', 'cancel-1'], 'attempt_settled', 'run_ended']);
});

test('R-122 a revoke leaves the tool at work alone; a cancel after it aborts', async () => {
  let aborted = false;
  stage.behave['charge_card'] = async (_input, { signal }) => {
    await new Promise((stopped) => signal.addEventListener('abort', stopped, { once: true }));
    aborted = true;
    throw new Error('aborted on the way');
  };
  const runId = newRunId('revoked-canceled');
  // An intent of its own: it stays unknown, and would hold up its twins in the tests below.
  const goal = { kind: 'plan', steps: [{ tool: 'charge_card', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  await eventually('the step is at work', async () => stage.effects.length === 1);
  const send = (name: 'revoke' | 'cancel', command: object) =>
    handle.executeUpdate<CommandAnswer, [unknown]>(name, { args: [command] });
  expect(await send('revoke', revoke)).toEqual({ what: 'applied', why: null });
  expect(await send('revoke', revoke)).toMatchObject({ what: 'duplicate' });
  const { count } = (await stage.ledger.read(runId)).head;
  await eventually('the attempt has seen the revoke', async () => {
    const { raw } = await handle.describe();
    const [beat] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
    return JSON.parse(Buffer.from(beat?.data ?? '{}').toString()).head?.count >= count;
  });
  expect(aborted).toBe(false);
  const bad = await send('cancel', { id: 'c' }).then(String, ({ cause }) => cause.message);
  expect(bad).toContain('actor: ');
  expect(await send('cancel', { ...revoke, id: 'cancel-1' })).toMatchObject({ what: 'applied' });
  const result = await endOf(handle);
  expect(aborted).toBe(true);
  // An abort proves nothing: what the tool had done before is not known.
  expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, undone: false });
  expect(result.unknowns).toMatchObject([{ actionId: `${runId}.t1.c1` }]);
});

test('R-134 Temporal’s own cancel stops the run in order, recorded first', async () => {
  const { runId, handle, release } = await heldRun();
  await handle.cancel();
  await eventually('the cancel is recorded', async () => (await stage.ledger.read(runId)).canceled);
  release();
  expect((await endOf(handle)).end).toEqual({ kind: 'stopped', reason: 'canceled' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  expect((await handle.describe()).status.name).toBe('COMPLETED');
});

test('R-134 a flood of rejected commands is recorded up to a cap, and counted beyond', async () => {
  const { runId, handle, release } = await heldRun(1);
  // The cap itself takes a thousand; a run that was given that many shows the same numbers.
  for (let i = 0; i < 30; i++) await handle.signal('nonsense', i);
  await eventually('all are recorded', async () => (await rejections(runId)).length === 30);
  const state = await handle.query<RunStateAnswer>('state');
  expect(state.lastRejection).toContain('(30 rejected so far)');
  expect(limits.rejectedCommandsMax).toBe(1_000);
  release();
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});
