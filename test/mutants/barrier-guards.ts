// The barrier, clause by clause: what it decides on an answer, and what it asks the server.

import type { Guard } from './mutant.ts';

const file = 'core/barrier.ts';
const test = 'test/core/barrier.test.ts';
const asks = 'activities/barrier.ts';
const asksTest = 'test/activities/barrier.test.ts';

export const barrierGuards: readonly Guard[] = [
  {
    guard: 'barrier',
    file,
    test,
    patches: [
      {
        name: 'barrier-running',
        from: "if (!look.running) return 'the workflow is closed';",
        to: '',
        red: 'barrier: closed',
      },
      {
        name: 'barrier-current-run',
        from: 'if (look.currentRunId !== state.runId)',
        to: 'if (false)',
        red: 'barrier: another current run (Reset, or a new start)',
      },
      {
        name: 'barrier-attempt-pending',
        from: "if (look.activity === null) return 'the attempt is not pending any more';",
        to: 'if (look.activity === null) return null;',
        red: 'barrier: not pending any more',
      },
      {
        name: 'barrier-attempt-paused',
        from: "if (look.activity.paused) return 'the attempt is paused';",
        to: '',
        red: 'barrier: paused while started',
      },
      {
        name: 'barrier-attempt-started',
        from: "if (look.activity.state !== 'started')",
        to: 'if (false)',
        red: 'barrier: state cancel_requested',
      },
      {
        name: 'barrier-workflow-gone',
        from: "next: notCurrent('the server knows no such workflow')",
        to: "next: { kind: 'current' }",
        red: 'barrier: gone',
      },
      {
        name: 'barrier-pending-task',
        from: 'if (!look.taskPending || state.handled)',
        to: 'if (true)',
        red: 'barrier: first look with a pending task: look again',
      },
      {
        name: 'barrier-task-was-replaced',
        from: 'if (!look.taskPending || state.handled)',
        to: 'if (!look.taskPending || state.length !== null)',
        red: 'barrier: still pending: the history is read',
      },
      {
        name: 'barrier-task-began-later',
        from: 'page.completedStarts.some((started) => started > length)',
        to: 'page.completedStarts.some((started) => started >= length)',
        red: 'barrier: a task completed that had started before the first look',
      },
      {
        name: 'barrier-task-completed',
        from: 'page.completedStarts.some((started) => started > length)',
        to: 'page.completedStarts.length >= 0',
        red: 'barrier: no task has completed',
      },
      {
        name: 'barrier-first-look',
        from: ": { state, next: { kind: 'ask_history' } };",
        to: ": { state: { ...state, length: look.historyLength }, next: { kind: 'ask_history' } };",
        red: 'barrier: the noted length stays that of the first look',
      },
      {
        name: 'barrier-no-answer',
        from: "? { state, next: { kind: 'unavailable', why } }",
        to: "? { state, next: { kind: 'current' } }",
        red: 'barrier: when the wait is over, no answer',
      },
      {
        name: 'barrier-wait-is-over',
        from: "? { state, next: { kind: 'unavailable', why: TASK_PENDING } }",
        to: "? { state, next: { kind: 'current' } }",
        red: 'barrier: when the wait is over, a pending task and its history end it',
      },
      {
        name: 'barrier-of-opening',
        file: 'core/open-run.ts',
        test: 'test/core/open-run.test.ts',
        from: "if (barrier.kind === 'not_current') return 'attempt_not_current';",
        to: "if (barrier.kind === 'not_current') return null;",
        red: 'answers attempt_not_current and writes nothing: an execution that is not wanted',
      },
      {
        name: 'barrier-of-ending',
        file: 'core/gate-table.ts',
        test: 'test/activities/run-life.test.ts',
        from: "({ ask }) => (ask.barrier.kind === 'not_current' ? ask.barrier.why : null),\n  ],",
        to: '() => null,\n  ],',
        red: 'an end that the barrier does not let through is refused',
      },
    ],
  },
  {
    guard: 'barrier',
    file: asks,
    test: asksTest,
    patches: [
      {
        name: 'barrier-asks-by-workflow-id',
        from: 'execution: { workflowId },',
        to: "execution: { workflowId, runId: 'exec-1' },",
        red: 'it asks by workflow id alone, so that the answer is about the current run',
      },
      {
        name: 'barrier-reads-completed-tasks',
        from: 'event.workflowTaskCompletedEventAttributes?.startedEventId)',
        to:
          '(event.workflowTaskCompletedEventAttributes ?? ' +
          'event.workflowTaskTimedOutEventAttributes)?.startedEventId)',
        red: 'tasks that timed out or failed have handled nothing',
      },
    ],
  },
  {
    guard: 'second Describe',
    file,
    test,
    patches: [
      {
        name: 'second-describe',
        from:
          'if (handled) return { state: { ...state, handled }, next: { kind: ' +
          "'ask_describe', soon: false } };",
        to: "if (handled) return { state, next: { kind: 'current' } };",
        red: 'barrier: handled, and the second Describe says canceled',
      },
    ],
  },
];
