// Waits between tries: full jitter, so that clients which failed together do not come back as one.

import { limits } from './limits.ts';

export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

export const attemptBackoff: Backoff = {
  baseMs: limits.attemptBackoffBaseMs,
  maxMs: limits.attemptBackoffMaxMs,
};
export const infraBackoff: Backoff = {
  baseMs: limits.infraBackoffBaseMs,
  maxMs: limits.infraBackoffMaxMs,
};
export const inquiryBackoff: Backoff = {
  baseMs: limits.inquiryBackoffBaseMs,
  maxMs: limits.inquiryBackoffMaxMs,
};

/** Beyond this the cap is reached for every sane base; 2 ** 1024 would be Infinity. */
const DOUBLINGS_MAX = 40;

/**
 * Wait in ms before try number `failures` + 1: evenly spread over
 * (0, min(max, base * 2^(failures-1))].
 * `random` in [0, 1).
 */
export function fullJitter(backoff: Backoff, failures: number, random: number): number {
  const doublings = Math.min(Math.max(failures - 1, 0), DOUBLINGS_MAX);
  const ceiling = Math.min(backoff.maxMs, backoff.baseMs * 2 ** doublings);
  return Math.floor(random * ceiling) + 1;
}
