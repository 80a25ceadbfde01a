// What Temporal shows about an attempt, and what that says about the action, as data.
// An observation about communication is never a statement about the effect.

import type { Axes } from './axes.ts';

export type NextAfter =
  | 'schedule_if_gate_passes'
  | 'correct_or_decide_anew'
  | 'decide'
  | 'unknown_path'
  | 'poll_never_resend'
  | 'keep_partial'
  | 'adopt'
  | 'record_late'
  | 'reconcile'
  | 'quarantine_and_stop';

export interface Observed {
  readonly submission: Axes['submission'] | 'unchanged';
  readonly execution: Axes['execution'] | 'unchanged';
  /** `as_recorded`: what the ledger's settlement says. */
  readonly effect: Axes['effect'] | 'as_recorded' | 'unchanged';
  readonly next: NextAfter;
}

const notSubmitted = {
  submission: 'not_submitted',
  execution: 'not_started',
  effect: 'none',
} as const;
const unknown = {
  submission: 'maybe_submitted',
  execution: 'unknown',
  effect: 'unknown',
  next: 'unknown_path',
} as const;
const done = { submission: 'accepted', execution: 'finished' } as const;

export const observationTable = {
  never_scheduled: { ...notSubmitted, next: 'schedule_if_gate_passes' },
  /** Only once the ledger has closed the attempt; before that it is `application_failure`'s row. */
  schedule_to_start_and_closed: { ...notSubmitted, next: 'schedule_if_gate_passes' },
  refused_and_closed: { ...notSubmitted, next: 'correct_or_decide_anew' },
  receiver_refused: { ...done, effect: 'none', next: 'decide' },
  application_failure: unknown,
  start_to_close: unknown,
  heartbeat: unknown,
  schedule_to_close: unknown,
  canceled: unknown,
  server_failure: unknown,
  /** Our own timer: a paused activity never times out. */
  overdue: unknown,
  accepted: {
    submission: 'accepted',
    execution: 'running',
    effect: 'unknown',
    next: 'poll_never_resend',
  },
  parts_missing: { ...done, effect: 'partial', next: 'keep_partial' },
  completed_and_settled: { ...done, effect: 'as_recorded', next: 'adopt' },
  completed_after_timeout: { ...done, effect: 'as_recorded', next: 'record_late' },
  workflow_gone: {
    submission: 'unchanged',
    execution: 'unknown',
    effect: 'unknown',
    next: 'reconcile',
  },
  result_without_intent: {
    submission: 'unchanged',
    execution: 'unchanged',
    effect: 'unchanged',
    next: 'quarantine_and_stop',
  },
} as const satisfies Record<string, Observed>;

export type Observation = keyof typeof observationTable;
