// Continue-as-new: only with no attempt scheduled, because the server drops what is pending then.
// Only input, pin and commands that nobody has handled are carried on; the walk comes back through
// `openRun`.

import { condition, patched, workflowInfo } from '@temporalio/workflow';
import { patches } from './patches.ts';
import { allHandled, pinOf, type Session } from './session.ts';

/** Throws what the SDK makes of continue-as-new, for the main function to let through. */
export async function continueIfLong(session: Session): Promise<void> {
  if (!isDue(session)) return;
  await departure(session);
  // Handlers ran meanwhile: what they found goes first.
  if (session.continueAs === null || !isDue(session)) return stay(session);
  session.leaving = true;
  await session.continueAs(pinOf(session), session.carried);
}

/** Commands that come from here on are carried: else a flood of them would never be all handled. */
export async function departure(session: Session): Promise<void> {
  if (!allHandled(session) && patched(patches.carryCommands)) session.departing = true;
  await condition(() => allHandled(session));
}

function stay(session: Session): void {
  session.departing = false;
  session.workOff(session.carried.splice(0));
}

function isDue({ continueAs, opened, stop, scheduled, progressed }: Session): boolean {
  if (continueAs === null || opened === null || stop !== null) return false;
  if (!workflowInfo().continueAsNewSuggested || scheduled.size > 0) return false;
  // Where the walk alone fills a history, the next execution would only come as far as this one.
  return progressed || !patched(patches.continueAfterProgress);
}
