// The workflow's time: in the sandbox `Date` is the time of the task that is handled or replayed.

/** Ms since the epoch; the same in every replay. */
export function taskTime(): number {
  return Date.now();
}
