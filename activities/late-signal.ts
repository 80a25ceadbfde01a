// Tells those who wait for an action in doubt that its result came after all. Signals are hints:
// the ledger has the fact already, so a signal that cannot be sent is logged and let go.

import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { LateFact } from '../core/commands.ts';
import { unknownIdOf } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Promised } from '../core/promised.ts';
import { type Question, questionOf } from '../core/question.ts';
import type { RunState } from '../core/run-state.ts';
import type { Clock } from './clock.ts';
import type { ActivityLog } from './deps.ts';
import { errorTypeOf } from './failures.ts';

export interface LateSignals {
  /** To `unknown.<action id>`, started if it is not there. */
  toQuestion(question: Question, fact: LateFact): Promise<void>;
  /** To the run. One that is closed needs none: it reads the ledger when it is resumed. */
  toRun(runId: string, fact: LateFact): Promise<void>;
}

/** Wire names and the queue of the question's workflow; `workflows/messages.ts` has them. */
export interface LateWire {
  readonly unknownAction: string;
  readonly lateFact: string;
  readonly runsQueue: string;
}

export function temporalLateSignals(client: Client, wire: LateWire): LateSignals {
  return {
    async toQuestion(question, fact) {
      await client.workflow.signalWithStart(wire.unknownAction, {
        workflowId: unknownIdOf(fact.actionId),
        taskQueue: wire.runsQueue,
        args: [question],
        signal: wire.lateFact,
        signalArgs: [fact],
      });
    },
    async toRun(runId, fact) {
      try {
        await client.workflow.getHandle(runId).signal(wire.lateFact, fact);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}

/**
 * Sent again while the server is away: nobody waits for this activity any more, and whoever waits
 * for the news would look by himself only much later.
 */
export function untilSent(signals: LateSignals, clock: Clock): LateSignals {
  const again = async (send: () => Promise<void>): Promise<void> => {
    const giveUpAt = clock.now().monotonicMs + limits.lateSignalMs;
    for (;;) {
      try {
        return await send();
      } catch (error) {
        if (clock.now().monotonicMs + limits.lateSignalPauseMs > giveUpAt) throw error;
        await clock.sleep(limits.lateSignalPauseMs);
      }
    }
  };
  return {
    toQuestion: (question, fact) => again(() => signals.toQuestion(question, fact)),
    toRun: (runId, fact) => again(() => signals.toRun(runId, fact)),
  };
}

export interface LateNews {
  readonly runId: string;
  readonly question: Question | null;
  readonly fact: LateFact;
}

export async function announce(
  signals: LateSignals,
  { runId, question, fact }: LateNews,
  log: ActivityLog,
): Promise<void> {
  const sent = [
    ...(question === null ? [] : [signals.toQuestion(question, fact)]),
    signals.toRun(runId, fact),
  ];
  for (const result of await Promise.allSettled(sent)) {
    if (result.status === 'fulfilled') continue;
    const { actionId: action } = fact;
    log.warn('late result recorded, but nobody could be told', {
      run: runId,
      action,
      errorType: errorTypeOf(result.reason),
    });
  }
}

interface Late {
  readonly actionId: string;
  readonly attemptId: string;
  readonly promised: Promised;
}

/** Of a dispute that the result began; else null. */
export function questionAfter(run: RunState, { actionId, promised }: Late): Question | null {
  const action = run.actions.get(actionId);
  return action?.disputed === true ? questionOf(run, action, promised) : null;
}

/** The question as it stood while the attempt was open; the same pure function as everywhere. */
export function questionBefore(
  run: RunState,
  { actionId, attemptId, promised }: Late,
): Question | null {
  const action = run.actions.get(actionId);
  if (action === undefined) return null;
  const attempts = action.attempts.map((attempt) =>
    attempt.attemptId === attemptId
      ? { ...attempt, settled: null, exclusion: 'none' as const }
      : attempt,
  );
  return questionOf(run, { ...action, attempts }, promised);
}
