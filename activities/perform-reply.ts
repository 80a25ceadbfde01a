// The reply of performAction: the action's outcome, whatever this attempt came to.

import { outcomeOf } from '../core/action-status.ts';
import type { PerformCall, PerformReply } from '../core/activity-calls.ts';
import type { ApprovalAsk } from '../core/facts.ts';
import type { Refusal } from '../core/verdict.ts';
import type { Committed, Ledger } from '../ledger/port.ts';
import { headOf, smallValueOf } from './answers.ts';
import type { Executed } from './execution.ts';

export interface PerformEnd {
  readonly committed: Committed<unknown>;
  readonly verdict: Refusal;
  readonly detail: string | null;
  /** For `approval_missing`. */
  readonly asks?: ApprovalAsk | undefined;
  /** For `twin_unknown` and `compensates_open`: the action that has to be settled first. */
  readonly waitsFor?: string | undefined;
  /** Null when this delivery did not enter. */
  readonly executed: Executed | null;
}

export async function replyOf(
  ledger: Ledger,
  call: PerformCall,
  { committed, verdict, detail, asks, waitsFor, executed }: PerformEnd,
): Promise<PerformReply> {
  const action = committed.run.actions.get(call.actionId);
  const outcome = action === undefined ? null : outcomeOf(action);
  const own = action?.attempts.find(({ attemptId }) => attemptId === call.attemptId);
  const recordVersion = action?.recordVersion ?? 0;
  return {
    verdict,
    detail,
    outcome,
    // As recorded: an inquiry may have settled it first.
    settled: executed === null ? null : (own?.settled?.outcome ?? null),
    retryAfterMs: executed?.retryAfterMs ?? null,
    ...(asks === undefined ? {} : { asks }),
    ...(waitsFor === undefined ? {} : { waits: { actionId: waitsFor, recordVersion } }),
    ...(await smallValueOf(ledger, { outcome, wantsValue: call.wantsValue })),
    ...headOf(committed),
  };
}
