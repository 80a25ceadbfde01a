// The machine's clocks as a port, so that tests choose the time.

import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Instant } from '../core/instant.ts';

export interface Clock {
  now(): Instant;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
  sleep: (ms) => wait(ms),
};
