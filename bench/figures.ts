// What a side's runs come to. Pure: histories and clocks in, figures out; nothing is judged.

/** The parts of a history event that are read here, as the SDK decodes them. */
export interface HistoryEvent {
  readonly eventId?: { toString(): string } | null;
  readonly eventTime?: { readonly seconds?: unknown; readonly nanos?: number | null } | null;
  readonly activityTaskScheduledEventAttributes?: {
    readonly activityType?: { readonly name?: string | null } | null;
  } | null;
  readonly activityTaskCompletedEventAttributes?: {
    readonly scheduledEventId?: { toString(): string } | null;
  } | null;
  readonly workflowTaskCompletedEventAttributes?: object | null;
}

export interface MeasuredRun {
  readonly steps: number;
  readonly latenciesMs: readonly number[];
  readonly historyBytes: number;
  readonly historyEvents: number;
}

export interface SideFigures {
  /** Steps whose effects the receiver has, all rounds and the warm-up together. */
  readonly effects: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number };
  readonly stepsPerSecond: number;
  readonly historyBytesPerStep: number;
  readonly historyEventsPerStep: number;
}

/** All measured runs of a side; `warmUp` is one of a single step. */
export interface SideRuns {
  readonly warmUp: MeasuredRun;
  readonly runs: readonly MeasuredRun[];
  readonly busyMs: number;
  readonly effects: number;
}

/**
 * Per step, on the server's clock, ms: from its scheduling to the end of the workflow task that
 * took its result.
 */
export function stepLatenciesMs(events: readonly HistoryEvent[], activityType: string): number[] {
  const scheduledAt = new Map<string, number>();
  const latencies: number[] = [];
  const unhandled: number[] = [];
  for (const event of events) {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === activityType)
      scheduledAt.set(String(event.eventId), timeMs(event));
    const completed = event.activityTaskCompletedEventAttributes?.scheduledEventId;
    const began = completed == null ? undefined : scheduledAt.get(String(completed));
    if (began !== undefined) unhandled.push(began);
    if (event.workflowTaskCompletedEventAttributes != null)
      for (const start of unhandled.splice(0)) latencies.push(timeMs(event) - start);
  }
  return latencies;
}

function timeMs({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000;
}

/** Opening and ending are in a run of one step, too, so that a longer run has only steps more. */
export function sideFigures({ warmUp, runs, busyMs, effects }: SideRuns): SideFigures {
  const latencies = runs.flatMap(({ latenciesMs }) => latenciesMs);
  const steps = runs.reduce((total, run) => total + run.steps, 0);
  const perStep = (size: (run: MeasuredRun) => number) => {
    const more = runs.map((run) => (size(run) - size(warmUp)) / (run.steps - warmUp.steps));
    return rounded(more.reduce((total, each) => total + each, 0) / more.length);
  };
  return {
    effects,
    latencyMs: {
      p50: rounded(percentile(latencies, 50)),
      p95: rounded(percentile(latencies, 95)),
    },
    stepsPerSecond: rounded(steps / (busyMs / 1_000)),
    historyBytesPerStep: perStep(({ historyBytes }) => historyBytes),
    historyEventsPerStep: perStep(({ historyEvents }) => historyEvents),
  };
}

/** Protected over raw, for every figure. */
export function ratios(guarded: SideFigures, raw: SideFigures) {
  return {
    latencyP50: rounded(guarded.latencyMs.p50 / raw.latencyMs.p50),
    latencyP95: rounded(guarded.latencyMs.p95 / raw.latencyMs.p95),
    stepsPerSecond: rounded(guarded.stepsPerSecond / raw.stepsPerSecond),
    historyBytesPerStep: rounded(guarded.historyBytesPerStep / raw.historyBytesPerStep),
    historyEventsPerStep: rounded(guarded.historyEventsPerStep / raw.historyEventsPerStep),
  };
}

/** Nearest rank. Throws where nothing was measured. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error('no step was measured; run at least two steps');
  return value;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
