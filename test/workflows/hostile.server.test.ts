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
