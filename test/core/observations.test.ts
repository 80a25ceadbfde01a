import { describe, expect, test } from 'vitest';
import { failureKinds } from '../../core/attempt-end.ts';
import { axesOf } from '../../core/axes.ts';
import { type Observation, observationTable } from '../../core/observations.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { close, doubt, inTurn, openAndEnter } from '../support/story.ts';

/** By hand, row for row: submission, execution, effect, next. */
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

type Tell = (ledger: MemoryLedger) => unknown;
const lost: Tell = (l) => inTurn(openAndEnter(l), doubt(l));
/** What the ledger holds once the run has acted on the observation. */
const told: Record<Exclude<Observation, 'workflow_gone' | 'result_without_intent'>, Tell> = {
  never_scheduled: open,
  schedule_to_start_and_closed: (l) => inTurn(open(l), close(l, `${ACTION}~1`)),
  refused_and_closed: (l) =>
    inTurn(open(l), enter(l, { barrier: { kind: 'not_current', why: 'paused' } })),
  receiver_refused: (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'refused' })),
  application_failure: lost,
  start_to_close: lost,
  heartbeat: lost,
  schedule_to_close: lost,
  canceled: lost,
  server_failure: lost,
  overdue: lost,
  accepted: (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'accepted' })),
  parts_missing: (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'partial' })),
  completed_and_settled: (l) => inTurn(openAndEnter(l), settle(l)),
  completed_after_timeout: (l) => inTurn(lost(l), settle(l)),
};
const nothing = ['not_submitted', 'not_started', 'none'];

describe('observationTable', () => {
  test.each(Object.entries(told))('R-001 R-004 R-006 %s is what the fold says', (row, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    const action = ledger.run(RUN).actions.get(ACTION);
    const axes = action && axesOf(ledger.run(RUN), action);
    const seen = axes === undefined ? nothing : [axes.submission, axes.execution, axes.effect];
    const { submission, execution, effect } = observationTable[row as Observation];
    expect(seen).toEqual([submission, execution, effect === 'as_recorded' ? 'complete' : effect]);
  });

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
