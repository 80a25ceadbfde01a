// Sums of numbers that come from outside. Beyond these bounds a fact, a reply or a date does not
// parse any more, and whoever waits for it would wait for ever; so they stop there.

/** As far as a number is exact. Of amounts that are "at least", it still is. */
export function exactSum(first: number, second: number): number {
  return Math.min(first + second, Number.MAX_SAFE_INTEGER);
}

/** The last moment that a date can name, in ms since the epoch; as good as for ever. */
const LAST_MOMENT = 8_640_000_000_000_000;

export function momentAfter(at: number, durationMs: number): number {
  return Math.min(at + durationMs, LAST_MOMENT);
}
