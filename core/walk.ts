// The recorded walk: what a fresh execution of the workflow goes on from.

import { openAttempts, outcomeOf } from './action-status.ts';
import type { WalkEntry } from './activity-calls.ts';
import { limits } from './limits.ts';
import type { ActionState, RunState } from './run-state.ts';

/** A page of the walk after the action id `after`; `next` is null on the last page. */
export function walkPage(
  run: RunState,
  after: string | null,
): { entries: WalkEntry[]; next: string | null } {
  const actions = [...run.actions.values()].sort((a, b) => a.firstSeq - b.firstSeq);
  const start = after === null ? 0 : 1 + actions.findIndex((each) => each.actionId === after);
  if (after !== null && start === 0)
    throw new Error(`walk of run ${run.runId}: no action ${after} in it; read it from the start`);
  const page = actions.slice(start, start + limits.walkPageMax);
  const last = page.at(-1);
  const hasMore = start + page.length < actions.length;
  return {
    entries: page.map((action) => entryOf(run, action)),
    next: hasMore && last !== undefined ? last.actionId : null,
  };
}

function entryOf(run: RunState, action: ActionState): WalkEntry {
  const first = action.attempts[0]?.entry;
  const last = action.attempts.at(-1)?.entry;
  return {
    actionId: action.actionId,
    position: action.actionId.slice(run.runId.length + 1),
    binding: last?.binding ?? null,
    payload:
      first?.payload ?? action.refusals.find((each) => each.payload !== null)?.payload ?? null,
    outcome: outcomeOf(action),
    openAttempts: openAttempts(action).map((attempt) => attempt.attemptId),
    attemptsEntered: action.attempts.length,
    rolled: last?.rolled ?? null,
  };
}
