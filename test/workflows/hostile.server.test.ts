// What somebody sends to break a run: it stays healthy, says why, and ends.

import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { RunResult } from '../../core/outcome.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  principal,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
const yes = { verb: 'confirm_executed', evidence } as const;
const half = 'x\ud800';
const bottomless = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

async function endOf(handle: WorkflowHandle): Promise<RunResult> {
  return (await handle.result()) as RunResult;
}

async function askedRun(runId = newRunId('hostile')) {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const goal = { kind: 'plan', steps: [{ tool: 'post_letter', input: { runId } }] };
  const handle = await startRun(stage, runId, goal);
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  return { runId, handle, action, child };
}

const jsonOf = (text: string) => ({
  payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) }],
});

/** As text, because no JSON.stringify gets to the bottom of it. */
async function signalText(workflowId: string, signalName: string, text: string) {
  await stage.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    input: jsonOf(text),
  });
}

async function rejected(runId: string, count: number): Promise<string> {
  const all = await eventually(`${count} rejections`, async () => {
    const facts = await factsOf(stage, runId);
    const found = facts.flatMap(({ body }) => (body.kind === 'command_rejected' ? [body] : []));
    return found.length === count ? found : null;
  });
  return all.map(({ name, why }) => `${name}: ${why}`).join('\n');
}

test('R-134 text that no fact holds is rejected on record, and the run still ends', async () => {
  const { runId, handle, action, child } = await askedRun();
  await child.signal('resolve', { ...answerTo(action, yes), reason: half });
  await child.signal('resolve', { id: half });
  await handle.signal('revoke', { id: 'r', actor: 'ada', reason: half });
  await handle.signal(`${'n'.repeat(limits.labelCharsMax - 1)}😀`, {});
  const said = await rejected(runId, 4);
  expect(said).toContain('reason: half a surrogate pair; send well-formed Unicode');
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-134 JSON without a bottom is rejected, and fails no workflow task', async () => {
  const { runId, handle, action, child } = await askedRun();
  const answer = JSON.stringify({ ...answerTo(action, yes), result: 'HERE' });
  await signalText(child.workflowId, 'resolve', answer.replace('"HERE"', bottomless));
  await signalText(runId, 'resolve', bottomless);
  expect(await rejected(runId, 2)).toContain('nested deeper than');
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-134 a run started with JSON without a bottom is refused readably', async () => {
  const runId = newRunId('hostile');
  const steps = [{ tool: 'charge_card', input: 'HERE' }];
  const input = JSON.stringify({ goal: { kind: 'plan', steps }, principal, tools: null });
  await stage.client.workflowService.startWorkflowExecution({
    ...{ namespace: 'default', workflowId: runId, requestId: runId },
    workflowType: { name: 'agentRun' },
    taskQueue: { name: stage.queues.runs },
    input: jsonOf(input.replace('"HERE"', bottomless)),
  });
  const ended = stage.client.workflow.getHandle(runId).result();
  await expect(ended).rejects.toThrow(WorkflowFailedError);
  await expect(ended).rejects.toMatchObject({
    cause: { message: expect.stringContaining('nested deeper than') },
  });
});

test('R-046 R-047 the longest run id has its question, and its answer is taken', async () => {
  const unique = newRunId('r');
  const runId = `${unique}${'字'.repeat(limits.runIdCharsMax - unique.length)}`;
  const { handle, child } = await askedRun(runId);
  const { events } = await child.fetchHistory();
  const data = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const { if_yes: proposed } = JSON.parse(Buffer.from(data ?? []).toString('utf8'));
  await child.signal('resolve', { ...proposed, actor: 'ada', reason: 'looked', evidence });
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-009 a tool that throws what no wire takes leaves an unknown and a worker', async () => {
  const { handle, action, child } = await askedRun(newRunId('before'));
  stage.behave['charge_card'] = async () => {
    throw new Error('\ud800', { cause: new Error('\udc00') });
  };
  const runId = newRunId('hostile');
  await startRun(stage, runId, {
    kind: 'plan',
    steps: [{ tool: 'charge_card', input: { runId } }],
  });
  await inDoubt(stage, runId, 't1.c1');
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

/** As `temporal activity complete` does, while the activity itself is held. */
async function forged(runId: string, type: string, reply: unknown) {
  const activityId = await eventually(`${type} is pending`, async () => {
    const { raw } = await stage.client.workflow.getHandle(runId).describe();
    const found = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
    return found?.activityId;
  });
  await stage.client.activity.complete({ workflowId: runId, activityId }, reply);
}

test('replies that an operator made up fail no task; the activity is called again', async () => {
  const runId = newRunId('forged');
  const held = new Set(['openRun', 'recordFacts', 'endRun']);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const holdOnce = (name: string) => async (call: never, next: (call: never) => never) => {
    if (held.delete(name)) await released;
    return next(call);
  };
  for (const name of [...held]) Object.assign(stage.around, { [name]: holdOnce(name) });
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const steps = [{ tool: 'post_letter', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  await forged(runId, 'openRun', { kind: 'open' });
  await forged(runId, 'recordFacts', { kind: 'doubt', authority: null, pin: null });
  const action = await inDoubt(stage, runId, 't1.c1');
  await handle.signal('resolve', answerTo(action, yes));
  await forged(runId, 'endRun', { kind: 'ended', result: 5 });
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  release();
  const { events } = await handle.fetchHistory();
  const failed = events?.filter((event) => event.workflowTaskFailedEventAttributes != null);
  expect(failed).toEqual([]);
});

test('R-046 the outcome of one action, forged as another’s reply, is not believed', async () => {
  const runId = newRunId('forged');
  const steps = [
    { tool: 'charge_card', input: { runId } },
    { tool: 'charge_card', input: { runId, second: true } },
  ];
  let adopted: object = {};
  let forgeries = 0;
  stage.around.performAction = async (call, next) => {
    if (call.position === 't1.c1') {
      const reply = await next(call);
      adopted = { ...reply, verdict: 'already_final' };
      return reply;
    }
    // Delivered late: the forged reply comes before the attempt has entered.
    if (forgeries++ === 0) await forged(runId, 'performAction', adopted);
    return next(call);
  };
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
});

test('a question started by hand about an action of another run is refused', async () => {
  const { runId, action, child, handle } = await askedRun();
  const { events } = await child.fetchHistory();
  const data = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const question = JSON.parse(Buffer.from(data ?? []).toString('utf8'));
  const other = { ...question, run: 'other', action: { ...question.action, runId: 'other' } };
  await child.terminate('started again by hand');
  const started = stage.client.workflow.start('unknownAction', {
    workflowId: `unknown.${runId}.t9.c1`,
    taskQueue: stage.queues.runs,
    args: [{ ...other, action: { ...other.action, actionId: `${runId}.t9.c1` } }],
  });
  await expect((await started).result()).rejects.toMatchObject({
    cause: { message: expect.stringContaining('is no action of run other') },
  });
  expect(await factsOf(stage, 'other')).toEqual([]);
  await handle.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});
