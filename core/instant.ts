// A moment on two clocks. The monotonic one may stand still while a machine sleeps, the wall clock
// may be set back: whichever says that more time has passed is believed.

export interface Instant {
  readonly monotonicMs: number;
  /** Ms since the epoch. */
  readonly wallMs: number;
}

/** Ms from `from` to `now`, at least 0; the larger of what the two clocks say. */
export function elapsedMs(from: Instant, now: Instant): number {
  return Math.max(0, now.monotonicMs - from.monotonicMs, now.wallMs - from.wallMs);
}
