// Continue-as-new: the recorded walk is adopted, nothing is sent again, questions stay open.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
import { impatientServer } from '../support/impatient-server.ts';
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

const stage = workflowStage({ server: () => impatientServer(40) });

/** Counted by the chain, because the list of workflows lags. */
async function executionsOf(runId: string): Promise<number> {
  const { workflowService } = stage.client;
  let count = 1;
  let { runId: next } = await stage.client.workflow.getHandle(runId).describe();
  for (;;) {
    const { history } = await workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: runId, runId: next },
      maximumPageSize: 1,
    });
    const before =
      history?.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (before === undefined || before === null || before === '') return count;
    count++;
    next = before;
  }
}

test('R-018 R-118 a long run continues with its walk: the same ids, one effect each', async () => {
  const runId = newRunId('long');
  const steps = Array.from({ length: 14 }, (_, n) => ({ tool: 'charge_card', input: { n } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const result = (await handle.result()) as RunResult;
  expect(result.end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual(steps.map((_, n) => `${runId}.t${n + 1}.c1`));
  expect(await executionsOf(runId)).toBeGreaterThan(1);
  const facts = (await factsOf(stage, runId)).map(({ body }) => body);
  expect(facts.filter((body) => body.kind === 'run_opened').length).toBe(1);
  // What an attempt states does not grow with the run, nor with what was adopted before it.
  const stated = facts.flatMap((body) =>
    body.kind === 'attempt_entered' ? [body.consumes.pairs.length] : [],
  );
  expect(Math.max(...stated)).toBe(1);
});

test('R-018 turns of a model continue with their walk, and no reply is bought twice', async () => {
  const asked: number[] = [];
  stage.turns = (turn) => {
    asked.push(turn);
    const calls = [1, 2].map((n) => ({ tool: 'charge_card', input: { n, turn } }));
    return turn <= 5 ? { text: '', calls } : { text: 'done', calls: [] };
  };
  const runId = newRunId('turns');
  const handle = await startRun(stage, runId, { kind: 'model', instructions: 'do it' });
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(asked).toEqual([1, 2, 3, 4, 5, 6]);
  expect(new Set(stage.effects).size).toBe(10);
  expect(stage.effects.length).toBe(10);
  expect(await executionsOf(runId)).toBeGreaterThan(1);
});

test('R-018 what a model was told did not happen is not tried again later', async () => {
  stage.turns = (turn) =>
    turn <= 6
      ? {
          text: '',
          calls: [{ tool: turn === 1 ? 'strict' : 'charge_card', input: { n: `${turn}` } }],
        }
      : { text: 'done', calls: [] };
  const runId = newRunId('told');
  const handle = await startRun(stage, runId, { kind: 'model', instructions: 'do it' });
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(await executionsOf(runId)).toBeGreaterThan(1);
  const refused = (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_refused' ? [`${body.actionId} ${body.verdict}`] : [],
  );
  expect(refused).toEqual([`${runId}.t1.c1 invalid_input`]);
});

test('R-047 R-118 a run that waits continues too; its question is adopted', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('waits');
  const steps = [{ tool: 'post_letter', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  const before = (await child.describe()).raw.workflowExecutionInfo?.firstRunId;
  const hint = { actionId: action.actionId, attemptId: null, outcomeDigest: null };
  await eventually('it continues', async () => {
    await handle.signal('lateFact', hint);
    return (await executionsOf(runId)) > 1;
  });
  expect((await child.describe()).raw.workflowExecutionInfo?.firstRunId).toBe(before);
  await child.signal('resolve', answerTo(action, { verb: 'confirm_executed', evidence }));
  const now = stage.client.workflow.getHandle(runId);
  expect(((await now.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId]);
});

test('R-118 where the walk alone fills a history, the run still comes to its end', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('crowded');
  const lost = Array.from({ length: 8 }, (_, n) => ({
    ...{ tool: 'post_letter', input: { runId, n }, onUnknown: 'continue' },
  }));
  const more = [1, 2, 3].map((n) => ({ tool: 'charge_card', input: { runId, n } }));
  const steps = [...lost, ...more.map((step) => ({ ...step, onUnknown: 'continue' }))];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const result = (await handle.result()) as RunResult;
  expect(result).toMatchObject({ end: { kind: 'ended_with_unknown' }, unknownsCount: 8 });
  expect(stage.effects).toHaveLength(steps.length);
  expect(new Set(stage.effects).size).toBe(steps.length);
});

test('R-118 a question continues as well, and remembers how often it has asked', async () => {
  stage.behave['charge_card'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('asks');
  const steps = [{ tool: 'charge_card', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  const hint = { actionId: action.actionId, attemptId: null, outcomeDigest: null };
  await eventually('it continues', async () => {
    await child.signal('lateFact', hint);
    return (await executionsOf(child.workflowId)) > 1;
  });
  await child.signal('resolve', answerTo(action, { verb: 'confirm_executed', evidence }));
  expect(((await handle.result()) as RunResult).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId]);
});
