// What else Temporal offers for a workflow or an activity: one that is started with a command, by a
// schedule, by itself, or for many at once, and the version that it is pinned to. Would catch: an
// effect without a run, one more effect of a run that is there, and a run that sticks.

import { WithStartWorkflowOperation } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { AGENT_RUN } from '../../workflows/messages.ts';
import {
  add,
  buttonsStage,
  factsOf,
  heldAt,
  hold,
  letGo,
  notice,
  principal,
  requestsOf,
  startPlan,
  WITHIN_MS,
} from '../support/buttons.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { effectRows } from './harness.ts';

const at = buttonsStage();
const completed = { end: { kind: 'completed' }, unknownsCount: 0 };
const ann = { actor: 'ann@example.com', reason: 'pressed' };
const effects = async (runId: string) => (await effectRows(at.stage, runId)).length;

async function queueOf(runId: string): Promise<string> {
  return (await at.temporal.workflow.getHandle(runId).describe()).taskQueue;
}

/** The run whose first step waits at its receiver. */
async function inFlight(runId: string, step = add) {
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, [step(runId, 'c1'), add(runId, 'c2')]);
  await heldAt(at, `${runId}.c1`);
  return run;
}

/** As the command line gives it: the whole start, beside the command. */
async function startOf(runId: string) {
  const goal = { kind: 'plan', steps: [add(runId, 'c1'), add(runId, 'c2')] };
  const args = [{ goal, principal, tools: null, ticket: null }];
  return { workflowId: runId, taskQueue: await queueOf(runId), args };
}

test('R-135 signal-with-start: a signal, the recorded end, or a run needing resume', async () => {
  const runId = 'signal-with-start';
  const run = await inFlight(runId);
  const start = await startOf(runId);
  const nobodys = { actionId: `${runId}.c9`, attemptId: null, outcomeDigest: null };
  const signal = async (name: string, command: object) =>
    at.temporal.workflow.signalWithStart(AGENT_RUN, {
      ...{ ...start, signal: name, signalArgs: [command] },
    });
  const { runId: execution } = await at.temporal.workflow.getHandle(runId).describe();
  expect((await signal('lateFact', nobodys)).signaledRunId).toBe(execution);

  await at.operator.terminate(runId);
  const left = await signal('lateFact', nobodys);
  await expect(left.result()).rejects.toMatchObject({ cause: { type: 'HoldfastNeedsResume' } });
  const resumed = await at.stage.client.resume(runId, ann);
  await letGo(at);
  const result = await resumed.result();
  expect(result).toMatchObject({ ...completed, effectsCount: 2 });

  const ended = await signal('revoke', { id: 'too-late', ...ann });
  expect(await ended.result()).toEqual(result);
  expect(await run.result()).toEqual(result);
  expect(await effects(runId)).toBe(2);
});

test('R-135 an update-with-start is answered by the open run, and starts none', async () => {
  const runId = 'update-with-start';
  const run = await inFlight(runId);
  const { runId: execution } = await at.temporal.workflow.getHandle(runId).describe();
  const options = { ...(await startOf(runId)), workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  const startWorkflowOperation = new WithStartWorkflowOperation(AGENT_RUN, options);
  const revoke = { args: [{ id: 'revoke-1', ...ann }], startWorkflowOperation };
  const answer = await at.temporal.workflow.executeUpdateWithStart('revoke', revoke);
  expect(answer).toEqual({ what: 'applied', why: null });
  await letGo(at);
  const stopped = { kind: 'stopped', reason: 'revoked' };
  expect(await run.result()).toMatchObject({ end: stopped, effectsCount: 1 });
  expect((await at.temporal.workflow.getHandle(runId).describe()).runId).toBe(execution);
  expect(await effects(runId)).toBe(1);
});

test('R-135 a schedule starts a task of its own each time; its buttons touch none', async () => {
  const [runId, { receiver }] = ['scheduled', at.stage];
  const { taskQueue } = await startOf('update-with-start');
  const steps = [add(runId, 'c1')];
  const args = [{ goal: { kind: 'plan', steps }, principal, tools: null, ticket: null }];
  const workflow = { type: 'startWorkflow', workflowType: AGENT_RUN, workflowId: runId };
  const schedule = await at.temporal.schedule.create({
    scheduleId: 'holdfast-test',
    spec: {},
    action: { ...workflow, taskQueue, args } as never,
    policies: { overlap: 'ALLOW_ALL' },
  });
  const started = (count: number) =>
    until(`${count} starts`, WITHIN_MS, async () => {
      const { recentActions } = (await schedule.describe()).info;
      const ids = recentActions.map(({ action }) => action.workflow.workflowId);
      return ids.length === count ? ids : null;
    });
  await receiver.arm({ fault: 'hold', keyIncludes: `/${runId}-` });
  await schedule.trigger();
  const [first = ''] = await started(1);
  await heldAt(at, `${first}.c1`);
  const minuteAgo = Date.now() - 60_000;
  await schedule.update((old) => ({ ...old, spec: { intervals: [{ every: '20s' }] } }));
  await schedule.pause();
  await schedule.backfill({
    ...{ start: new Date(minuteAgo - 20_000), end: new Date(minuteAgo), overlap: 'ALLOW_ALL' },
  });
  const [second = ''] = (await started(2)).filter((id) => id !== first);
  expect(await at.stage.client.result(second)).toMatchObject({ ...completed, effectsCount: 1 });
  await schedule.delete();
  expect(await effects(first)).toBe(0);
  await letGo(at);
  expect(await at.stage.client.result(first)).toMatchObject({ ...completed, effectsCount: 1 });
  expect([await effects(first), await effects(second)]).toEqual([1, 1]);
});

/** Activities that the run has scheduled, with what they were called with. */
async function callsOf(runId: string) {
  const { events } = await at.temporal.workflow.getHandle(runId).fetchHistory();
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: about }) => {
    const type = about?.activityType?.name;
    if (about == null || type == null) return [];
    const [payload] = about.input?.payloads ?? [];
    const call = payload && defaultPayloadConverter.fromPayload<Record<string, unknown>>(payload);
    return [{ type, taskQueue: about.taskQueue?.name ?? '', call: call ?? {} }];
  });
}

test('R-135 activities started without a workflow open, do and end nothing', async () => {
  const runId = 'by-themselves';
  await at.stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `${runId}.c1 ` });
  const run = await startPlan(at, runId, [notice(runId, 'c1'), add(runId, 'c2')]);
  await hold(at, `${runId}.c2`);
  await answerTruly(at.stage, `${runId}.c1`);
  await heldAt(at, `${runId}.c2`);
  const facts = (await factsOf(at, runId)).length;
  const calls = await callsOf(runId);
  const endRun = { ...calls[0], type: 'endRun', call: { ...calls[1]?.call, end: completed.end } };
  const kinds = new Set<string>();
  for (const { type, taskQueue = '', call } of [...calls, endRun]) {
    kinds.add(type);
    const id = `${runId}.c3~0123456789abcdef`;
    const args = [type === 'performAction' ? { ...call, attemptId: id } : call];
    const options = { id, taskQueue, args, startToCloseTimeout: '20s' } as const;
    const outcome = await at.temporal.activity.execute(type, options).then(
      () => 'answered',
      (error: Error) => String(error.cause ?? error),
    );
    // The others look, or say again what is on record.
    const mustFail = ['openRun', 'performAction', 'endRun'].includes(type);
    if (mustFail)
      expect([type, outcome]).toEqual([type, expect.stringContaining('not scheduled by')]);
  }
  expect([...kinds].sort()).toEqual(
    ['openRun', 'performAction', 'recordFacts', 'inquire', 'endRun'].sort(),
  );
  expect(await factsOf(at, runId)).toHaveLength(facts);
  await letGo(at);
  expect(await run.result()).toMatchObject({ ...completed, effectsCount: 2 });
  expect([await effects(runId), (await requestsOf(at, `${runId}.c2`)).length]).toEqual([2, 1]);
});

type Batch = Parameters<typeof at.temporal.workflowService.startBatchOperation>[0];
const identity = 'operator';
const stopped = (reason: string) => ({ end: { kind: 'stopped', reason }, effectsCount: 1 });
const signalInput = { payloads: [defaultPayloadConverter.toPayload({ id: 'all', ...ann })] };

const batches: readonly (readonly [name: string, operation: Batch, result: object])[] = [
  ['cancel', { cancellationOperation: { identity } }, stopped('canceled')],
  [
    'signal revoke',
    { signalOperation: { signal: 'revoke', input: signalInput, identity } },
    stopped('revoked'),
  ],
  ['reset', { resetOperation: { options: { lastWorkflowTask: {} }, identity } }, completed],
  ['activity reset', { resetActivitiesOperation: { matchAll: true, identity } }, completed],
  ['activity unpause', { unpauseActivitiesOperation: { matchAll: true, identity } }, completed],
  [
    'activity update-options',
    {
      updateActivityOptionsOperation: {
        ...{ matchAll: true, identity },
        activityOptions: { retryPolicy: { maximumAttempts: 5 } },
        updateMask: { paths: ['retry_policy.maximum_attempts'] },
      },
    },
    completed,
  ],
];

const batchState = proto.temporal.api.enums.v1.BatchOperationState;

test.each(batches)(
  'R-135 %s on several runs in a batch: each as if alone, no effect twice',
  async (name, operation, result) => {
    const ids = ['a', 'b'].map((which) => `batch-${name.replaceAll(' ', '-')}-${which}`);
    const runs = [];
    for (const runId of ids) runs.push(await inFlight(runId, notice));
    const { namespace } = at.temporal.options;
    const jobId = `batch-${name}`;
    const executions = await Promise.all(
      ids.map(async (workflowId) => {
        const { runId } = await at.temporal.workflow.getHandle(workflowId).describe();
        return { workflowId, runId };
      }),
    );
    const { workflowService } = at.temporal;
    await workflowService.startBatchOperation({
      ...{ namespace, jobId, executions, reason: 'test', ...operation },
    });
    await until('the end of the batch', WITHIN_MS, async () => {
      const { state } = await workflowService.describeBatchOperation({ namespace, jobId });
      return state === batchState.BATCH_OPERATION_STATE_COMPLETED;
    });
    // Their tools have been told to stop, and nobody can take back what they sent.
    if (name === 'cancel') for (const runId of ids) await asked(at.stage.client, `${runId}.c1`);
    await letGo(at);
    for (const [index, run] of runs.entries()) {
      const runId = ids[index] ?? '';
      if (name === 'cancel') await answerTruly(at.stage, `${runId}.c1`);
      await run.result();
      await until(`${runId} as expected`, WITHIN_MS, async () => {
        const { end } = await at.stage.client.state(runId);
        return end !== null && end.unknownsCount === 0;
      });
      expect(await run.result()).toMatchObject(result);
      expect(await effects(runId)).toBe(result === completed ? 2 : 1);
    }
  },
);

test('R-135 update-options to a version that nobody runs is refused: no run waits', async () => {
  const runId = 'pinned-elsewhere';
  const run = await inFlight(runId);
  const { namespace } = at.temporal.options;
  const update = (versioningOverride: object) =>
    at.temporal.workflowService.updateWorkflowExecutionOptions({
      ...{ namespace, workflowExecution: { workflowId: runId } },
      workflowExecutionOptions: { versioningOverride },
      updateMask: { paths: ['versioning_override'] },
    });
  const version = { deploymentName: 'nobody', buildId: 'none' };
  await expect(update({ pinned: { behavior: 1, version } })).rejects.toThrow(/not present/);
  await update({ autoUpgrade: true });
  await letGo(at);
  expect(await run.result()).toMatchObject({ ...completed, effectsCount: 2 });
  expect(await effects(runId)).toBe(2);
});
