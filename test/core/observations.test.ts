import { describe, expect, test } from 'vitest';
import { failureKinds } from '../../core/attempt-end.ts';
import { type Observation, observationTable } from '../../core/observations.ts';

/** requirements.md §1, row for row: submission, execution, effect, next. */
const rows: readonly [Observation, string, string, string, string][] = [
  ['never_scheduled', 'not_submitted', 'not_started', 'none', 'schedule_if_gate_passes'],
  [
    'schedule_to_start_and_closed',
    'not_submitted',
    'not_started',
    'none',
    'schedule_if_gate_passes',
  ],
  ['refused_and_closed', 'not_submitted', 'not_started', 'none', 'correct_or_decide_anew'],
  ['receiver_refused', 'accepted', 'finished', 'none', 'decide'],
  ['application_failure', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['start_to_close', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['heartbeat', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['schedule_to_close', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['canceled', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['server_failure', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['overdue', 'maybe_submitted', 'unknown', 'unknown', 'unknown_path'],
  ['accepted', 'accepted', 'running', 'unknown', 'poll_never_resend'],
  ['parts_missing', 'accepted', 'finished', 'partial', 'keep_partial'],
  ['completed_and_settled', 'accepted', 'finished', 'as_recorded', 'adopt'],
  ['completed_after_timeout', 'accepted', 'finished', 'as_recorded', 'record_late'],
  ['workflow_gone', 'unchanged', 'unknown', 'unknown', 'reconcile'],
  ['result_without_intent', 'unchanged', 'unchanged', 'unchanged', 'quarantine_and_stop'],
];

describe('observationTable', () => {
  test.each(rows)('R-001 R-004 R-006 %s', (observation, submission, execution, effect, next) => {
    expect(observationTable[observation]).toEqual({ submission, execution, effect, next });
  });

  test('every row of the table is one of these', () => {
    expect(Object.keys(observationTable)).toEqual(rows.map(([observation]) => observation));
  });

  test('R-004 no failure of an attempt is read as a statement about the effect', () => {
    const rowOf: Record<string, Observation | null> = {
      schedule_to_start: 'application_failure',
      start_to_close: 'start_to_close',
      heartbeat: 'heartbeat',
      schedule_to_close: 'schedule_to_close',
      canceled: 'canceled',
      not_scheduled: 'never_scheduled',
      application: 'application_failure',
      server: 'server_failure',
      unreadable_reply: 'application_failure',
      overdue: 'overdue',
    };
    for (const kind of failureKinds) {
      const row = rowOf[kind];
      expect(row, kind).toBeDefined();
      if (kind === 'not_scheduled') continue;
      expect(observationTable[row as Observation].effect, kind).toBe('unknown');
    }
    expect(JSON.stringify(observationTable)).not.toContain('failed');
  });
});
