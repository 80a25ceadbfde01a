// Whether what a look at an action shows ends the wait for it. Run and question ask the same.

import type { InquireReply } from './activity-calls.ts';
import type { Outcome } from './outcome.ts';

/** An outcome that stays; `not_executed` without a digest only says that nothing is open now. */
export function lasting(outcome: Outcome | null): Outcome | null {
  if (outcome === null || outcome.kind === 'accepted') return null;
  return outcome.kind === 'not_executed' && outcome.digest === null ? null : outcome;
}

export type Answer = 'open' | 'disputed' | 'abandoned' | 'permitted' | 'settled';

/** First match wins; a permit that is told stands before an end: what is final ends them. */
export function answerIn(reply: InquireReply): Answer {
  const { outcome, openAttempts, permitted, disputed, abandoned } = reply;
  if (disputed) return 'disputed';
  if (abandoned) return 'abandoned';
  if (permitted) return 'permitted';
  if (lasting(outcome) !== null) return 'settled';
  if (openAttempts.length > 0) return 'open';
  return outcome === null || outcome.kind === 'accepted' ? 'open' : 'settled';
}
