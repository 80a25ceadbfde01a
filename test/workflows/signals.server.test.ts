// Would catch: a signal that sticks in a run or its question, one that is lost where the workflow
// ends or is reset, and one that applies twice because the server has forgotten that it was sent.

import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { CommandReply } from '../../core/resolve.ts';
import { operatorOf } from '../support/operator.ts';
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
const yes = { verb: 'confirm_executed', evidence } as const;
const revoke = { id: 'revoke-1', actor: 'ada', reason: 'wrong customer' };

/** A run whose first step is in doubt; `steps` of its own come after it. */
async function askedRun(...steps: readonly string[]) {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('signals');
  const plan = ['post_letter', ...steps].map((tool, n) => ({ tool, input: { runId, n } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps: plan });
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  return { runId, handle, action, child };
}

async function resultOf(runId: string): Promise<RunResult> {
  return (await stage.client.workflow.getHandle(runId).result()) as RunResult;
}

async function bodiesOf<K extends string>(runId: string, kind: K) {
  const bodies = (await factsOf(stage, runId)).map(({ body }) => body);
  return bodies.filter((body) => body.kind === kind);
}

interface RawPayload {
  readonly encoding: string | null;
  readonly data: string;
}

const inputOf = ({ encoding, data }: RawPayload) => ({
  payloads: [
    {
      metadata: encoding === null ? {} : { encoding: Buffer.from(encoding) },
      data: Buffer.from(data),
    },
  ],
});

const undecodable: readonly RawPayload[] = [
  { encoding: 'unknown/x', data: '{}' },
  { encoding: 'json/plain', data: '{"id": "r-1", ' },
  { encoding: 'json/plain', data: '' },
  { encoding: 'json/protobuf', data: '{}' },
  { encoding: 'binary/encrypted', data: '\u0000\u0001\u0002' },
  { encoding: null, data: '{}' },
];

/** One command that nobody can read after the other; returns how many. */
async function signalAllBroken({ workflowId }: WorkflowHandle, signalName: string) {
  const signal = (name: string, input?: ReturnType<typeof inputOf>) =>
    stage.client.workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId },
      signalName: name,
      ...(input === undefined ? {} : { input }),
    });
  const json = (data: string) => inputOf({ encoding: 'json/plain', data });
  const command = JSON.stringify([revoke]);
  const inputs = [...undecodable.map(inputOf), ...['null', '7', '"yes"', '[]', command].map(json)];
  for (const input of inputs) await signal(signalName, input);
  await signal(signalName);
  await signal(`${signalName}s`, json('{}'));
  return inputs.length + 2;
}

async function failedTasks(workflowId: string): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes != null).length;
}

test('R-134 K-041 what nobody can read is rejected at both; valid ones apply', async () => {
  const { runId, handle, action, child } = await askedRun();
  const sent =
    (await signalAllBroken(handle, 'revoke')) +
    (await signalAllBroken(handle, 'resolve')) +
    (await signalAllBroken(child, 'resolve'));
  // Without the action that it is about, first to the one and then to the other.
  const { actionId: _, ...aimless } = answerTo(action, yes);
  await handle.signal('resolve', aimless);
  await child.signal('resolve', aimless);
  const rejected = await eventually('all rejections', async () => {
    const all = await bodiesOf(runId, 'command_rejected');
    return all.length >= sent + 2 ? all : null;
  });
  expect(rejected.length).toBe(sent + 2);
  for (const body of rejected) expect(body).toHaveProperty('why', expect.stringMatching(/\w{4}/));
  await child.signal('resolve', answerTo(action, yes));
  expect(await child.result()).toMatchObject({ end: 'settled' });
  expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
  expect(await bodiesOf(runId, 'command_rejected')).toHaveLength(sent + 2);
  expect([await failedTasks(runId), await failedTasks(child.workflowId)]).toEqual([0, 0]);
});

test('R-134 after commands that nobody can read a valid revoke still stops the run', async () => {
  const { runId, handle } = await askedRun();
  await signalAllBroken(handle, 'revoke');
  await handle.signal('revoke', revoke);
  expect((await resultOf(runId)).end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(await bodiesOf(runId, 'authority_changed')).toMatchObject([{ commandId: 'revoke-1' }]);
});

test('R-134 updates of unknown names or bytes are refused at once, and leave nothing', async () => {
  const { runId, handle, action, child } = await askedRun();
  const before = (await factsOf(stage, runId)).length;
  const update = async (workflowId: string, name: string, payload: RawPayload) => {
    const { outcome } = await stage.client.workflowService.updateWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId },
      waitPolicy: { lifecycleStage: 3 },
      request: {
        meta: { updateId: newRunId('update'), identity: 'test' },
        input: { name, args: inputOf(payload) },
      },
    });
    return outcome?.failure?.message ?? 'not refused';
  };
  for (const { workflowId } of [handle, child]) {
    const plain = { encoding: 'json/plain', data: '{}' };
    expect(await update(workflowId, 'reslove', plain)).toContain('reslove');
    for (const payload of undecodable)
      expect(await update(workflowId, 'resolve', payload)).toMatch(/decoded|JSON object|id/);
  }
  expect((await factsOf(stage, runId)).length).toBe(before);
  expect([await failedTasks(runId), await failedTasks(child.workflowId)]).toEqual([0, 0]);
  const applied = await child.executeUpdate<CommandReply, [unknown]>('resolve', {
    args: [answerTo(action, yes)],
  });
  expect(applied).toEqual({ what: 'applied', why: null });
  expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
});

/** Holds the recording of one answer until `release`. */
function holdAnswer(commandId: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrived = false;
  stage.around.recordFacts = async (call, next) => {
    if (call.kind === 'resolve' && call.command.id === commandId) {
      arrived = true;
      await released;
    }
    return next(call);
  };
  return { release: () => release(), arrived: async () => arrived };
}

test.each(['run', 'question'] as const)(
  'R-134 K-043 an update that is under way when the %s ends gets its answer',
  async (where) => {
    const { runId, handle, action, child } = await askedRun();
    const late = answerTo(action, yes);
    const { release, arrived } = holdAnswer(late.id);
    const target = where === 'run' ? handle : child;
    const answer = target.executeUpdate<CommandReply, [unknown]>('resolve', { args: [late] });
    await eventually('it is being recorded', arrived);
    await child.signal('resolve', answerTo(action, yes));
    await eventually('the other one has settled it', async () => {
      const run = await stage.ledger.read(runId);
      return run.actions.get(action.actionId)?.final != null;
    });
    const { status } = await target.describe();
    expect(status.name).toBe('RUNNING');
    release();
    expect(await answer).toMatchObject({ what: 'rejected' });
    expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
    expect(await bodiesOf(runId, 'resolution')).toHaveLength(1);
  },
);

test('R-134 K-043 the copy of a run that has ended waits for its updates, too', async () => {
  const { runId, handle, action } = await askedRun();
  await handle.signal('resolve', answerTo(action, yes));
  const result = await resultOf(runId);
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  stage.around.openRun = async (call, next) => {
    await opened;
    return next(call);
  };
  const operator = operatorOf(stage.client);
  const [eventId = 0] = await operator.resetPoints(runId);
  await operator.reset(runId, { eventId, excludeSignals: true });
  const late = answerTo(action, yes);
  const { release, arrived } = holdAnswer(late.id);
  const copy = stage.client.workflow.getHandle(runId);
  const answer = copy.executeUpdate<CommandReply, [unknown]>('resolve', { args: [late] });
  await eventually('it is being recorded', arrived);
  open();
  await eventually('the copy has heard that the run has ended', async () => {
    const { events } = await copy.fetchHistory();
    const kinds = (events ?? []).map((event) => ({
      hasHeard: event.activityTaskCompletedEventAttributes != null,
      hasHandled: event.workflowTaskCompletedEventAttributes != null,
    }));
    const heard = kinds.findIndex(({ hasHeard }) => hasHeard);
    return heard !== -1 && kinds.slice(heard).some(({ hasHandled }) => hasHandled);
  });
  release();
  expect(await answer).toMatchObject({ what: 'rejected' });
  expect(await resultOf(runId)).toEqual(result);
});

/** Holds each delivery of one position before its gate until `release`; counts them. */
function holdPosition(position: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let deliveries = 0;
  stage.around.performAction = async (call, next) => {
    if (call.position === position) {
      deliveries++;
      await released;
    }
    return next(call);
  };
  return {
    release: () => release(),
    delivered: (count: number) =>
      eventually(`${count} deliveries of ${position}`, async () => deliveries >= count),
  };
}

test.each([
  ['applied again', false],
  ['excluded', true],
] as const)(
  'R-134 K-044 reset with its signals %s, the same answer sent again applies once',
  async (_, excludeSignals) => {
    const { runId, handle, action } = await askedRun('charge_card');
    const second = holdPosition('t2.c1');
    const answer = answerTo(action, yes);
    await handle.signal('resolve', answer);
    await second.delivered(1);
    const operator = operatorOf(stage.client);
    const [eventId = 0] = await operator.resetPoints(runId);
    await operator.reset(runId, { eventId, excludeSignals });
    await second.delivered(2);
    await stage.client.workflow.getHandle(runId).signal('resolve', answer);
    second.release();
    expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
    expect(await bodiesOf(runId, 'resolution')).toMatchObject([{ commandId: answer.id }]);
    expect(stage.effects).toEqual([action.actionId, `${runId}.t2.c1`]);
  },
);

test('R-134 K-046 reset to the first task, signals come before main: the same end', async () => {
  const { runId, handle, action } = await askedRun('charge_card');
  const { actionId: _, ...aimless } = answerTo(action, yes);
  await handle.signal('resolve', aimless);
  await handle.signal('resolve', answerTo(action, yes));
  const result = await resultOf(runId);
  expect(result.end).toEqual({ kind: 'completed' });
  const operator = operatorOf(stage.client);
  const [eventId = 0] = await operator.resetPoints(runId);
  await operator.reset(runId, { eventId });
  expect(await resultOf(runId)).toEqual(result);
  // The copy has handled both before it ended: what cannot be read is rejected once more.
  expect(await bodiesOf(runId, 'command_rejected')).toHaveLength(2);
  expect(await bodiesOf(runId, 'resolution')).toHaveLength(1);
  expect(stage.effects).toEqual([action.actionId, `${runId}.t2.c1`]);
});
