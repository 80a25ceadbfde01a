import { expect, test } from 'vitest';
import {
  type BarrierAnswer,
  type BarrierNext,
  type BarrierState,
  barrierStart,
  barrierStep,
  type DescribeAnswer,
} from '../../core/barrier.ts';

const RUN = 'run-1';
const early = { waitedMs: 10, waitMaxMs: 5_000 };
const late = { waitedMs: 5_000, waitMaxMs: 5_000 };

const look = (over: Partial<DescribeAnswer> = {}): DescribeAnswer => ({
  kind: 'describe',
  running: true,
  currentRunId: RUN,
  activity: { state: 'started', paused: false },
  taskPending: false,
  historyLength: 10,
  ...over,
});
const pending = (historyLength: number) => look({ taskPending: true, historyLength });
const history = (...completedStarts: number[]): BarrierAnswer => ({
  kind: 'history',
  completedStarts,
});

/** Follows a script of answers; fails where the barrier asks for something else, or no more. */
function run(answers: readonly BarrierAnswer[], wait = early): BarrierNext {
  let { state, next } = barrierStart(RUN);
  for (const answer of answers) {
    expect(['ask_describe', 'ask_history']).toContain(next.kind);
    const asked = next.kind === 'ask_history' ? 'history' : 'describe';
    if (answer.kind === 'describe' || answer.kind === 'history') expect(answer.kind).toBe(asked);
    ({ state, next } = barrierStep(state, answer, wait));
  }
  return next;
}

const soon = { kind: 'ask_describe', soon: true };
const atOnce = { kind: 'ask_describe', soon: false };
const unavailable = { kind: 'unavailable', why: expect.any(String) };
const notCurrent = (why: string) => ({ kind: 'not_current', why });

test.each<[string, readonly BarrierAnswer[], unknown]>([
  ['nothing asked yet: Describe', [], atOnce],
  ['started, no pending task: current', [look()], { kind: 'current' }],
  ['closed', [look({ running: false })], notCurrent('the workflow is closed')],
  [
    'another current run (Reset, or a new start)',
    [look({ currentRunId: 'run-2' })],
    notCurrent('another run of the workflow has taken its place'),
  ],
  [
    'not pending any more',
    [look({ activity: null })],
    notCurrent('the attempt is not pending any more'),
  ],
  [
    'paused while started',
    [look({ activity: { state: 'started', paused: true } })],
    notCurrent('the attempt is paused'),
  ],
  ...(['scheduled', 'cancel_requested', 'paused', 'pause_requested', 'unspecified'] as const).map(
    (state): [string, readonly BarrierAnswer[], unknown] => [
      `state ${state}`,
      [look({ activity: { state, paused: false } })],
      notCurrent(`the attempt is ${state}`),
    ],
  ),
  ['first look with a pending task: look again', [pending(10)], soon],
  ['the task is gone at the second look: current', [pending(10), look()], { kind: 'current' }],
  ['still pending: the history is read', [pending(10), pending(12)], { kind: 'ask_history' }],
  ['no task has completed', [pending(10), pending(12), history()], soon],
  [
    'a task completed that had started before the first look',
    [pending(10), pending(12), history(10)],
    soon,
  ],
  [
    'a task completed that started later: Describe again, at once',
    [pending(10), pending(12), history(11)],
    atOnce,
  ],
  [
    'handled, and still wanted, though another task is pending',
    [pending(10), pending(12), history(11, 7), pending(15)],
    { kind: 'current' },
  ],
  [
    'handled, and the second Describe says canceled',
    [
      pending(10),
      pending(12),
      history(11),
      look({ activity: { state: 'cancel_requested', paused: false }, taskPending: true }),
    ],
    notCurrent('the attempt is cancel_requested'),
  ],
  [
    'the noted length stays that of the first look',
    [pending(10), pending(20), history(10), pending(30), history(11)],
    atOnce,
  ],
  ['no answer: ask again', [{ kind: 'no_answer', why: 'down' }], soon],
  ['gone', [{ kind: 'gone' }], notCurrent('the server knows no such workflow')],
])('barrier: %s', (_name, answers, next) => {
  expect(run(answers)).toEqual(next);
});

test.each<[string, readonly BarrierAnswer[], unknown]>([
  ['a pending task', [pending(10)], unavailable],
  ['no answer', [{ kind: 'no_answer', why: 'down' }], unavailable],
  ['current all the same', [look()], { kind: 'current' }],
  ['not wanted all the same', [look({ running: false })], notCurrent('the workflow is closed')],
])('barrier: when the wait is over, %s', (_name, answers, next) => {
  expect(run(answers, late)).toEqual(next);
});

test('barrier: when the wait is over, a pending task and its history end it', () => {
  const state: BarrierState = { runId: RUN, length: 10, handled: false };
  expect(barrierStep(state, pending(12), late).next).toEqual(unavailable);
  expect(barrierStep(state, history(9), late).next).toEqual(unavailable);
  // Handled at the last moment: the one Describe that is owed is still made.
  expect(barrierStep(state, history(11), late).next).toEqual(atOnce);
});

test('barrier: a history nobody asked for opens nothing', () => {
  const { state } = barrierStart(RUN);
  expect(barrierStep(state, history(99), early).next).toEqual(soon);
});
