// The barrier: does the server still want this attempt? One step per answer, pure; asking is done
// in `activities/barrier.ts`. The rule about pending tasks was measured: a sticky timeout or a
// failed task replaces the pending workflow task without anyone having handled the signals.

/** What one DescribeWorkflowExecution said, by workflow id. */
export interface DescribeAnswer {
  readonly kind: 'describe';
  readonly running: boolean;
  /** Of the *current* run of the workflow id. */
  readonly currentRunId: string;
  /** Our activity among the pending ones; null: it is not pending any more. */
  readonly activity: { readonly state: ActivityState; readonly paused: boolean } | null;
  readonly taskPending: boolean;
  readonly historyLength: number;
}

export type ActivityState =
  | 'scheduled'
  | 'started'
  | 'cancel_requested'
  | 'paused'
  | 'pause_requested'
  | 'unspecified';

/** The newest page of the history, newest first. */
export interface HistoryAnswer {
  readonly kind: 'history';
  /**
   * `startedEventId` of each WORKFLOW_TASK_COMPLETED; timed-out and failed tasks count for nothing.
   */
  readonly completedStarts: readonly number[];
}

/** The server says that no such workflow is known. */
export interface GoneAnswer {
  readonly kind: 'gone';
}

/** The server could not be asked. */
export interface NoAnswer {
  readonly kind: 'no_answer';
  readonly why: string;
}

export type BarrierAnswer = DescribeAnswer | HistoryAnswer | GoneAnswer | NoAnswer;

export interface BarrierState {
  /** Run that the activity belongs to. */
  readonly runId: string;
  /** `historyLength` of the first look with a pending task; null: none was pending so far. */
  readonly length: number | null;
  /**
   * A task that began after that look has completed: every signal accepted before it was handled.
   */
  readonly handled: boolean;
}

export type BarrierVerdict =
  | { readonly kind: 'current' }
  | { readonly kind: 'not_current'; readonly why: string }
  | { readonly kind: 'unavailable'; readonly why: string };

export type BarrierNext =
  /** `soon`: after the poll interval; else at once. */
  | { readonly kind: 'ask_describe'; readonly soon: boolean }
  | { readonly kind: 'ask_history' }
  | BarrierVerdict;

export interface BarrierStep {
  readonly state: BarrierState;
  readonly next: BarrierNext;
}

/** How long the barrier has been asking, and how long it may. */
export interface BarrierWait {
  readonly waitedMs: number;
  readonly waitMaxMs: number;
}

export function barrierStart(runId: string): BarrierStep {
  return {
    state: { runId, length: null, handled: false },
    next: { kind: 'ask_describe', soon: false },
  };
}

/** Total over (state, answer). Never opens on anything but a Describe. */
export function barrierStep(
  state: BarrierState,
  answer: BarrierAnswer,
  wait: BarrierWait,
): BarrierStep {
  switch (answer.kind) {
    case 'gone':
      return { state, next: notCurrent('the server knows no such workflow') };
    case 'no_answer':
      return again(state, wait, `the server did not answer: ${answer.why}`);
    case 'history':
      return afterHistory(state, answer, wait);
    case 'describe':
      return afterDescribe(state, answer, wait);
  }
}

function afterDescribe(state: BarrierState, look: DescribeAnswer, wait: BarrierWait): BarrierStep {
  const why = staleness(state, look);
  if (why !== null) return { state, next: notCurrent(why) };
  if (!look.taskPending || state.handled) return { state, next: { kind: 'current' } };
  if (state.length === null)
    return again({ ...state, length: look.historyLength }, wait, TASK_PENDING);
  return overdue(wait)
    ? { state, next: { kind: 'unavailable', why: TASK_PENDING } }
    : { state, next: { kind: 'ask_history' } };
}

/** First match wins. */
function staleness(state: BarrierState, look: DescribeAnswer): string | null {
  if (!look.running) return 'the workflow is closed';
  if (look.currentRunId !== state.runId) return 'another run of the workflow has taken its place';
  if (look.activity === null) return 'the attempt is not pending any more';
  if (look.activity.paused) return 'the attempt is paused';
  if (look.activity.state !== 'started') return `the attempt is ${look.activity.state}`;
  return null;
}

function afterHistory(state: BarrierState, page: HistoryAnswer, wait: BarrierWait): BarrierStep {
  const { length } = state;
  const handled = length !== null && page.completedStarts.some((started) => started > length);
  // The state is looked at anew even so: what was handled may have taken the attempt back.
  if (handled) return { state: { ...state, handled }, next: { kind: 'ask_describe', soon: false } };
  return again(state, wait, TASK_PENDING);
}

const TASK_PENDING = 'signals before this moment are not handled yet (no workflow worker?)';

function again(state: BarrierState, wait: BarrierWait, why: string): BarrierStep {
  return overdue(wait)
    ? { state, next: { kind: 'unavailable', why } }
    : { state, next: { kind: 'ask_describe', soon: true } };
}

function overdue(wait: BarrierWait): boolean {
  return wait.waitedMs >= wait.waitMaxMs;
}

function notCurrent(why: string): BarrierVerdict {
  return { kind: 'not_current', why };
}
