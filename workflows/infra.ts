// Calls of activities without effects outside: repeated for as long as it takes, because without
// the ledger nothing may go on. Waits of their own; no attempt of an action is burnt.

import { CancellationScope, log, sleep } from '@temporalio/workflow';
import { fullJitter, infraBackoff } from '../core/backoff.ts';
import { workflowFailure } from './failures.ts';

/**
 * `what` names the call for logs and details; `onWait` hears about each wait (null: it is over).
 * `once` answers null for what is no reply: an operator may complete an activity with any JSON.
 */
export async function untilAnswered<R extends object>(
  what: string,
  once: () => Promise<R | null>,
  onWait: (what: string | null) => void,
): Promise<R> {
  for (let failures = 1; ; failures++) {
    const { reply, why } = await answerOf(what, once);
    if (reply !== null) {
      if (failures > 1) onWait(null);
      return reply;
    }
    onWait(`the ledger (${what}; ${failures} times without an answer: ${why})`);
    const waitMs = fullJitter(infraBackoff, failures, Math.random());
    await CancellationScope.nonCancellable(() => sleep(waitMs, { summary: `${what}, again` }));
  }
}

interface Answer<R> {
  readonly reply: R | null;
  readonly why: string;
}

async function answerOf<R extends object>(
  what: string,
  once: () => Promise<R | null>,
): Promise<Answer<R>> {
  try {
    const reply = await CancellationScope.nonCancellable(once);
    return { reply, why: 'it was completed with something that is no reply' };
  } catch (error) {
    if (!isActivityFailure(error)) throw error;
    const { type, message } = reasonOf(error);
    if (type === 'LedgerMismatch') throw workflowFailure('HoldfastLedgerMismatch', message);
    log.warn('no answer from an activity; it is called again', { what, why: message });
    return { reply: null, why: message };
  }
}

/** What the activity failed with; the failure itself only says that it did. */
function reasonOf({ message, cause }: Error): { type: string | null; message: string } {
  if (!(cause instanceof Error)) return { type: null, message };
  const type = 'type' in cause && typeof cause.type === 'string' ? cause.type : null;
  return { type, message: cause.message };
}

function isActivityFailure(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ActivityFailure';
}
