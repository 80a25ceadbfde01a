// The send window: how long after the barrier's last Describe a first byte may leave. Counted from
// there on both clocks and never started again, so a frozen process does not act when it wakes.

import { elapsedMs, type Instant } from '../core/instant.ts';
import type { Clock } from './clock.ts';
import { NotSentError } from './tool.ts';

export interface SendWindow {
  /** Ms since the last Describe. */
  ageMs(): number;
  isOpen(): boolean;
  /** Throws NotSentError when the window has passed. */
  beforeSend(): void;
  /** `beforeSend` let something through: from then on nothing proves that nothing left. */
  hasPassed(): boolean;
}

export function sendWindow(clock: Clock, askedAt: Instant, windowMs: number): SendWindow {
  let passed = false;
  const ageMs = () => elapsedMs(askedAt, clock.now());
  return {
    ageMs,
    isOpen: () => ageMs() <= windowMs,
    beforeSend() {
      const age = ageMs();
      if (age > windowMs)
        throw new NotSentError(`the send window of ${windowMs} ms has passed (${age} ms)`);
      passed = true;
    },
    hasPassed: () => passed,
  };
}
