// The only place in this room that makes an ApplicationFailure. It fails the *execution*: for what
// a new deployment cannot repair. A bug throws a plain Error, which fails the task until it is
// repaired.

import { ApplicationFailure } from '@temporalio/workflow';

/** Released names; clients compare `type`. */
export const workflowFailureTypes = [
  'HoldfastInvalidInput',
  'HoldfastOtherGoal',
  'HoldfastNeedsResume',
  'HoldfastUnknownTool',
  'HoldfastLedgerMismatch',
  'HoldfastRunNotEnded',
] as const;
export type WorkflowFailureType = (typeof workflowFailureTypes)[number];

/** `message`: what, which id, what to do. */
export function workflowFailure(type: WorkflowFailureType, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
