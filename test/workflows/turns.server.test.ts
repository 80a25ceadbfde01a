// A run that asks a model: turns, batches, and what the model is told.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
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

const stage = workflowStage({ maxCachedWorkflows: 0 });
const goal = { kind: 'model', instructions: 'do it' } as const;
const call = (tool: string, n = 1) => ({ tool, input: { n } });

async function run(more: object = {}) {
  const runId = newRunId('turns');
  const handle = await startRun(stage, runId, { ...goal, ...more });
  return { runId, handle, result: (await handle.result()) as RunResult };
}

const entered = async (runId: string) =>
  (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_entered' ? [body] : [],
  );

test('R-058 a batch is decided on together: siblings never consume each other', async () => {
  stage.turns = (turn) =>
    turn === 1
      ? { text: '', calls: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => call('charge_card', n)) }
      : { text: 'done', calls: [] };
  const { runId, result } = await run();
  expect(result.end).toEqual({ kind: 'completed' });
  expect(result.answer).not.toBeNull();
  expect([...stage.effects].sort()).toEqual(
    Array.from({ length: 10 }, (_, index) => `${runId}.t1.c${index + 1}`).sort(),
  );
  const batch = (await entered(runId)).filter(({ position }) => position.startsWith('t1.c'));
  expect(batch.map(({ consumes }) => consumes.pairs.map((pair) => pair.actionId))).toEqual(
    Array.from({ length: 10 }, () => [`${runId}.t1.m`]),
  );
  const second = (await entered(runId)).find(({ position }) => position === 't2.m');
  expect(second?.consumes.pairs.length).toBe(10);
});

test('a tool that the model made up is not scheduled; the model hears so and goes on', async () => {
  stage.turns = (turn) =>
    turn === 1
      ? { text: '', calls: [call('launch_rocket'), call('read_note')] }
      : { text: 'done', calls: [] };
  const { runId, result } = await run();
  expect(result.end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${runId}.t1.c2`]);
});

test('R-116 a lost model reply is bought again, unasked; its cost stays unknown', async () => {
  let asked = 0;
  stage.turns = () => {
    asked++;
    if (asked === 1) throw new Error('the reply is lost');
    return { text: 'done', calls: [] };
  };
  const { runId, result } = await run();
  expect(result.end).toEqual({ kind: 'completed' });
  expect((await entered(runId)).map(({ position }) => position)).toEqual(['t1.m', 't1.m']);
  expect(result.cost.unknownAttempts).toBe(1);
  const child = stage.client.workflow.getHandle(unknownIdOf(`${runId}.t1.m`));
  await expect(child.describe()).rejects.toThrow(/not found/i);
});

test('R-049 a model that never answers ends the run with an unknown, not as failed', async () => {
  stage.turns = () => {
    throw new Error('the reply is lost');
  };
  const { result } = await run();
  expect(result.end).toEqual({ kind: 'ended_with_unknown' });
  expect(result.cost.unknownAttempts).toBe(5);
});

test('the limit of turns stops the run for its budget', async () => {
  stage.turns = () => ({ text: '', calls: [call('read_note')] });
  const { result } = await run({ turnsMax: 2 });
  expect(result.end).toEqual({ kind: 'stopped', reason: 'budget' });
});

test('a batch waits as a whole for its unknown; the model is asked only then', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  stage.turns = (turn) =>
    turn === 1
      ? { text: '', calls: [call('post_letter'), call('charge_card')] }
      : { text: 'done', calls: [] };
  const runId = newRunId('batch');
  const handle = await startRun(stage, runId, goal);
  const action = await inDoubt(stage, runId, 't1.c1');
  await eventually('its sibling is done', async () => stage.effects.includes(`${runId}.t1.c2`));
  expect((await entered(runId)).map(({ position }) => position)).not.toContain('t2.m');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, { verb: 'confirm_executed', evidence }));
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  const after = (await factsOf(stage, runId)).map(({ body }) => body.kind);
  expect(after.indexOf('resolution')).toBeLessThan(after.lastIndexOf('attempt_entered'));
});
