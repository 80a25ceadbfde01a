// Whether a goal can take the place of a run's goal.

import { canonicalBytes, digestOf, type Json } from './digest.ts';
import { goalProblem } from './goal.ts';
import { limits } from './limits.ts';
import type { RunState } from './run-state.ts';

/** Why `goal` cannot be followed by the run, or null. Undefined: the goal stays. */
export function amendProblem(run: RunState, goal: Json | undefined): string | null {
  if (goal === undefined) return null;
  if (run.opened === null) return 'the run has not opened; amend it once it has';
  const bytes = canonicalBytes(goal).length;
  if (bytes > limits.runInputBytesMax)
    return `the goal has ${bytes} bytes, more than ${limits.runInputBytesMax}; pass references`;
  const { digest } = run.amendedGoals.at(-1) ?? run.opened.goal;
  if (digestOf(goal) === digest)
    return 'the run follows this goal already; from its beginning again would repeat what it did';
  return goalProblem(
    goal,
    run.opened.bindings.map(({ tool }) => tool),
  );
}
