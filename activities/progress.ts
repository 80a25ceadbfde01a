// One delivery's heartbeat, its phase, and the abort of its tool.
//
// Owns: the timer and the AbortController. Does not own: what the phases do.
// INV-1 The tool is aborted by a ledger fact `cancel` alone, never by Temporal's cancellation.
// INV-2 A heartbeat or look that fails changes nothing: the next one comes.

import type { AttemptFailureDetails } from '../core/activity-calls.ts';
import type { Head } from '../core/facts.ts';
import type { ActivityDeps } from './deps.ts';
import { errorTypeOf } from './failures.ts';

export interface Progress {
  phase: AttemptFailureDetails['phase'];
  head: Head;
  readonly signal: AbortSignal;
  stop(): void;
}

export interface ProgressOf {
  readonly runId: string;
  readonly actionId: string;
  readonly attemptId: string;
  readonly head: Head;
  readonly intervalMs: number;
  readonly heartbeat: (details: unknown) => void;
}

export function startProgress({ ledger, log }: ActivityDeps, of: ProgressOf): Progress {
  const { runId, actionId, attemptId, heartbeat } = of;
  const controller = new AbortController();
  let looking = false;
  const look = async () => {
    if (looking || controller.signal.aborted) return;
    looking = true;
    try {
      const { canceled, head } = await ledger.read(runId);
      if (head.count > progress.head.count) progress.head = head;
      if (canceled) controller.abort(new Error(`${runId}: canceled`));
    } catch (error) {
      log.warn('cancel fact could not be looked up; looking again', {
        ...{ run: runId, action: actionId, attempt: attemptId },
        errorType: errorTypeOf(error),
      });
    } finally {
      looking = false;
    }
  };
  const beat = () => {
    heartbeat({ action: actionId, attempt: attemptId, phase: progress.phase, head: progress.head });
    void look();
  };
  const timer = setInterval(beat, of.intervalMs);
  const progress: Progress = {
    phase: 'binding',
    head: of.head,
    signal: controller.signal,
    stop: () => clearInterval(timer),
  };
  beat();
  return progress;
}
