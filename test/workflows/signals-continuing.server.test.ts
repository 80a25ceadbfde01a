// Would catch: a command that is lost, or applied twice, because the run continued as new while it
// came; and a run that cannot continue as long as commands come.

import { expect, onTestFinished, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import { impatientServer } from '../support/impatient-server.ts';
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

const SUGGESTED_AT = 60;
const stage = workflowStage({ server: () => impatientServer(SUGGESTED_AT) });
const yes = { verb: 'confirm_executed', evidence } as const;

/** Lengths of the executions of one run, the newest first. */
async function executionLengths(runId: string): Promise<readonly number[]> {
  const lengths: number[] = [];
  let { runId: next } = await stage.client.workflow.getHandle(runId).describe();
  while (next !== '') {
    const handle = stage.client.workflow.getHandle(runId, next);
    const { historyLength, raw } = await handle.describe();
    lengths.push(historyLength);
    const { history } = await stage.client.workflowService.getWorkflowExecutionHistory({
      namespace: 'default',
      execution: { workflowId: runId, runId: raw.workflowExecutionInfo?.execution?.runId ?? '' },
      maximumPageSize: 1,
    });
    const [first] = history?.events ?? [];
    next = first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  return lengths;
}

async function resultOf(runId: string): Promise<RunResult> {
  return (await stage.client.workflow.getHandle(runId).result()) as RunResult;
}

const COMMANDS = 120;

test('R-118 R-134 K-040 hundreds of signals: the run continues, each is taken once', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('fast');
  const steps = [{ tool: 'post_letter', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  // Each is a command of its own, which cannot be read and is on record as rejected; between them
  // hints, which let the run see that it is due.
  const ids = Array.from({ length: COMMANDS }, (_, index) => `command-${index}`);
  const hint = { actionId: action.actionId, attemptId: null, outcomeDigest: null };
  for (const id of ids) {
    await handle.signal('resolve', { id });
    await handle.signal('lateFact', hint);
  }
  const whileTheyCame = await executionLengths(runId);
  await handle.signal('resolve', answerTo(action, yes));
  expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
  const bodies = (await factsOf(stage, runId)).map(({ body }) => body);
  const rejected = bodies.flatMap((body) =>
    body.kind === 'command_rejected' ? [body.commandId] : [],
  );
  expect(rejected.toSorted()).toEqual(ids.toSorted());
  expect(bodies.filter(({ kind }) => kind === 'resolution')).toHaveLength(1);
  // As long as they came there was no moment at which all of them were on record.
  expect(whileTheyCame.length).toBeGreaterThan(1);
  expect(stage.effects).toEqual([action.actionId]);
});

test('R-118 R-134 K-038 three answers in one task while it is due apply once each', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const runId = newRunId('three');
  const letters = [1, 2, 3].map((n) => ({
    ...{ tool: 'post_letter', input: { runId, n } },
    onUnknown: 'continue' as const,
  }));
  const steps = [...letters, { tool: 'charge_card', input: { runId } }];
  await startRun(stage, runId, { kind: 'plan', steps });
  const positions = ['t1.c1', 't2.c1', 't3.c1'];
  const actions = await Promise.all(positions.map((each) => inDoubt(stage, runId, each)));
  await eventually('it waits for the first of them', async () => {
    const state = await stage.client.workflow.getHandle(runId).query<RunStateAnswer>('state');
    return state.phase === 'waiting';
  });
  const held = holdAnswers();
  onTestFinished(held.release);
  // Nobody's hints: they make it due, and no turn of the run comes to see it.
  const nobodys = { actionId: `${runId}.t9.c1`, attemptId: null, outcomeDigest: null };
  await eventually('it is due', async () => {
    await stage.client.workflow.getHandle(runId).signal('lateFact', nobodys);
    const { historyLength } = await stage.client.workflow.getHandle(runId).describe();
    return historyLength > SUGGESTED_AT + 10;
  });
  const answers = actions.map((action) => answerTo(action, yes));
  const points = await operatorOf(stage.client).resetPoints(runId);
  for (const answer of answers)
    await stage.client.workflow.getHandle(runId).signal('resolve', answer);
  await held.arrived(3);
  const before = (await executionLengths(runId)).length;
  // The copy gets all three with its first task, and none of them is on record.
  const copy = await resetToLast(runId, points);
  held.letLaterOnesPass();
  expect((await resultOf(runId)).end).toEqual({ kind: 'completed' });
  expect(await answersPerTask(runId, copy)).toEqual([3]);
  expect((await executionLengths(runId)).length).toBeGreaterThan(before);
  const bodies = (await factsOf(stage, runId)).map(({ body }) => body);
  const applied = bodies.flatMap((body) => (body.kind === 'resolution' ? [body.commandId] : []));
  expect(applied.toSorted()).toEqual(answers.map(({ id }) => id).toSorted());
  expect(stage.effects).toEqual([...positions, 't4.c1'].map((each) => `${runId}.${each}`));
});

/** A task that the server began in the reply to the one before is no place to go to. */
async function resetToLast(runId: string, points: readonly number[]): Promise<string> {
  const operator = operatorOf(stage.client);
  for (const eventId of points.toReversed()) {
    const copy = await operator.reset(runId, { eventId }).catch((error: unknown) => {
      if (String(error).includes('at the boundary')) return null;
      throw error;
    });
    if (copy !== null) return copy;
  }
  throw new Error(`${runId}: no task to reset to`);
}

/** Answers wait to be recorded, those of before `letLaterOnesPass` until `release`. */
function holdAnswers() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = 0;
  let holds = true;
  stage.around.recordFacts = async (call, next) => {
    if (call.kind === 'resolve' && holds) {
      held++;
      await released;
    }
    return next(call);
  };
  return {
    release: () => release(),
    arrived: (count: number) => eventually(`${count} answers`, async () => held === count),
    letLaterOnesPass: () => {
      holds = false;
    },
  };
}

/** How many answers came together, for each task of one execution that had any. */
async function answersPerTask(workflowId: string, runId: string): Promise<readonly number[]> {
  const { events } = await stage.client.workflow.getHandle(workflowId, runId).fetchHistory();
  const counts: number[] = [];
  let open = 0;
  for (const event of events ?? []) {
    if (event.workflowExecutionSignaledEventAttributes?.signalName === 'resolve') open++;
    if (event.workflowTaskStartedEventAttributes == null || open === 0) continue;
    counts.push(open);
    open = 0;
  }
  return counts;
}
