// Continue-as-new: only with no attempt scheduled, because the server drops what is pending then.
// Only input and pin are carried on; the walk comes back through `openRun`.

import { allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import { pinOf, type Session } from './session.ts';

/** Throws what the SDK makes of continue-as-new, for the main function to let through. */
export async function continueIfLong(session: Session): Promise<void> {
  if (!isDue(session)) return;
  await condition(allHandlersFinished);
  // Handlers ran meanwhile: what they found goes first.
  if (session.continueAs === null || !isDue(session)) return;
  session.leaving = true;
  await session.continueAs(pinOf(session));
}

function isDue({ continueAs, opened, stop, scheduled }: Session): boolean {
  if (continueAs === null || opened === null || stop !== null) return false;
  return workflowInfo().continueAsNewSuggested && scheduled.size === 0;
}
