// Which activity is scheduled on which task queue. The names follow `HOLDFAST_TASK_QUEUE_PREFIX`.

/**
 * `<prefix>-runs` is where our own workflows are; others name their prefix, or take the default.
 */
const RUNS = /^(.+)-runs$/;
const DEFAULT_PREFIX = 'holdfast';

export interface ActivityQueues {
  /**
   * performAction where its tool names no queue, and what widens or ends: openRun, endRun,
   * recordFacts.
   */
  readonly actions: string;
  /** inquire: its workers can read only. */
  readonly inquiries: string;
}

export function queuesBeside(ownQueue: string, prefix?: string): ActivityQueues {
  const stem = prefix ?? RUNS.exec(ownQueue)?.[1] ?? DEFAULT_PREFIX;
  return { actions: `${stem}-actions`, inquiries: `${stem}-inquiries` };
}
