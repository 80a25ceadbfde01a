import { expect, test } from 'vitest';
import {
  type HistoryEvent,
  percentile,
  ratios,
  sideFigures,
  stepLatenciesMs,
} from '../../bench/figures.ts';

const at = (ms: number) => ({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 });
const scheduled = (eventId: string, ms: number, name: string): HistoryEvent => ({
  eventId,
  eventTime: at(ms),
  activityTaskScheduledEventAttributes: { activityType: { name } },
});
const completed = (scheduledEventId: string, ms: number): HistoryEvent => ({
  eventTime: at(ms),
  activityTaskCompletedEventAttributes: { scheduledEventId },
});
const handled = (ms: number): HistoryEvent => ({
  eventTime: at(ms),
  workflowTaskCompletedEventAttributes: {},
});

test('a step lasts from its scheduling to the end of the task that took its result', () => {
  const events = [
    ...[scheduled('5', 990, 'openRun'), completed('5', 995), handled(999)],
    ...[scheduled('11', 1_000, 'step'), handled(1_005)],
    ...[completed('11', 1_010), handled(1_012)],
    ...[scheduled('17', 1_012, 'step'), completed('17', 1_030), handled(1_036)],
  ];
  expect(stepLatenciesMs(events, 'step')).toEqual([12, 24]);
});

test('percentiles are values that were measured', () => {
  const values = [5, 1, 4, 2, 3];
  expect([50, 95, 100].map((percent) => percentile(values, percent))).toEqual([3, 5, 5]);
  expect(() => percentile([], 50)).toThrow('no step was measured');
});

test('figures per step leave out what every run has once', () => {
  const run = (steps: number, historyBytes: number, historyEvents: number) => ({
    ...{ steps, historyBytes, historyEvents },
    latenciesMs: Array.from({ length: steps }, () => 10),
  });
  const figures = sideFigures({
    warmUp: run(1, 1_100, 16),
    runs: [run(11, 2_100, 76), run(11, 2_300, 76)],
    busyMs: 440,
    effects: 23,
  });
  expect(figures).toEqual({
    effects: 23,
    latencyMs: { p50: 10, p95: 10 },
    stepsPerSecond: 50,
    historyBytesPerStep: 110,
    historyEventsPerStep: 6,
  });
  expect(ratios({ ...figures, stepsPerSecond: 25 }, figures)).toEqual({
    latencyP50: 1,
    latencyP95: 1,
    stepsPerSecond: 0.5,
    historyBytesPerStep: 1,
    historyEventsPerStep: 1,
  });
});
