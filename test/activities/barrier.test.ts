// What the barrier asks the server, and what it takes the answers for. Would catch: an answer about
// another run than the current one, and a task that handled nothing taken for one that did.

import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { passBarrier, temporalBarrier } from '../../activities/barrier.ts';
import type { BarrierAnswer } from '../../core/barrier.ts';
import { handClock } from '../support/activity-rig.ts';

const target = {
  ...{ namespace: 'default', workflowId: 'invoice-42', runId: 'exec-1' },
  activityId: 'invoice-42.t1.c1~1',
};
const pending = { activityId: target.activityId, state: 2, paused: false };
const running = {
  workflowExecutionInfo: { status: 1, historyLength: 12, execution: { runId: 'exec-1' } },
  pendingActivities: [{ activityId: 'another', state: 3 }, pending],
  pendingWorkflowTask: null,
};
const looksLike = {
  kind: 'describe',
  running: true,
  currentRunId: 'exec-1',
  activity: { state: 'started', paused: false },
  taskPending: false,
  historyLength: 12,
};

/** A server that gives these answers, and writes down what it was asked. */
function serverOf(answers: { describe?: object; reverse?: object }) {
  const asked: { readonly execution: object }[] = [];
  const answering = (answer: object | undefined) => async (request: { execution: object }) => {
    asked.push(request);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const client = {
    withDeadline: (_at: number, question: () => unknown) => question(),
    workflowService: {
      describeWorkflowExecution: answering(answers.describe),
      getWorkflowExecutionHistoryReverse: answering(answers.reverse),
    },
  };
  return { server: temporalBarrier(client as unknown as Client), asked };
}

test('it asks by workflow id alone, so that the answer is about the current run', async () => {
  const { server, asked } = serverOf({ describe: running });
  expect(await server.describe(target, 1_000)).toEqual(looksLike);
  expect(asked.map(({ execution }) => execution)).toEqual([{ workflowId: 'invoice-42' }]);
});

const { workflowExecutionInfo: info } = running;
const saying = (over: object) => ({ ...running, ...over });
const attempt = (over: object) => saying({ pendingActivities: [{ ...pending, ...over }] });

test.each<[string, object, object]>([
  ['closed', saying({ workflowExecutionInfo: { ...info, status: 2 } }), { running: false }],
  [
    'another run',
    saying({ workflowExecutionInfo: { ...info, execution: { runId: 'exec-2' } } }),
    { currentRunId: 'exec-2' },
  ],
  ['an attempt that is gone', saying({ pendingActivities: [] }), { activity: null }],
  [
    'a canceled attempt',
    attempt({ state: 3 }),
    { activity: { state: 'cancel_requested', paused: false } },
  ],
  ['a paused attempt', attempt({ paused: true }), { activity: { state: 'started', paused: true } }],
  [
    'a state of a later server',
    attempt({ state: 99 }),
    { activity: { state: 'unspecified', paused: false } },
  ],
  ['a pending task', saying({ pendingWorkflowTask: { state: 1 } }), { taskPending: true }],
])('%s is told from what is wanted', async (_name, describe, over) => {
  const { server } = serverOf({ describe });
  expect(await server.describe(target, 1_000)).toEqual({ ...looksLike, ...over });
});

test('tasks that timed out or failed have handled nothing', async () => {
  const { server, asked } = serverOf({
    reverse: {
      history: {
        events: [
          { workflowTaskTimedOutEventAttributes: { startedEventId: 19 } },
          { workflowTaskFailedEventAttributes: { startedEventId: 15 } },
          { workflowTaskCompletedEventAttributes: { startedEventId: 11 } },
          { activityTaskCompletedEventAttributes: { startedEventId: 9 } },
        ],
      },
    },
  });
  expect(await server.history(target, 1_000)).toEqual({ kind: 'history', completedStarts: [11] });
  expect(asked[0]?.execution).toEqual({ workflowId: 'invoice-42', runId: 'exec-1' });
});

test('a server that cannot be asked gives no answer, and opens nothing', async () => {
  const { server } = serverOf({ describe: new Error('connection refused') });
  const none = { kind: 'no_answer', why: 'connection refused' };
  expect(await server.describe(target, 1_000)).toEqual(none);
  const barrier = await passBarrier({ server, clock: handClock(), waitMs: 500 }, target);
  expect(barrier.verdict.kind).toBe('unavailable');
});

test('its age counts from the last Describe, asked after the history that it needed', async () => {
  const clock = handClock();
  const began = clock.now().monotonicMs;
  const look = { ...looksLike, taskPending: true } as BarrierAnswer;
  const order: string[] = [];
  const asking = (name: string, answer: BarrierAnswer) => async () => {
    order.push(`${name} at ${clock.now().monotonicMs - began}`);
    clock.move(10);
    return answer;
  };
  const server = {
    describe: asking('describe', look),
    history: asking('history', { kind: 'history', completedStarts: [13] }),
  };
  const { verdict, askedAt } = await passBarrier({ server, clock, waitMs: 5_000 }, target);
  expect(verdict).toEqual({ kind: 'current' });
  expect(order.map((each) => each.split(' ', 1)[0])).toEqual([
    ...['describe', 'describe', 'history', 'describe'],
  ]);
  expect(order.at(-1)).toBe(`describe at ${askedAt.monotonicMs - began}`);
});
