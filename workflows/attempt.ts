// One scheduling of an action, from the command to whatever ends it.

import { CancellationScope, sleep } from '@temporalio/workflow';
import type { AuthorityHead, PerformCall, PerformReply } from '../core/activity-calls.ts';
import type { AttemptEnd } from '../core/attempt-end.ts';
import type { ApprovalAsk } from '../core/facts.ts';
import { limits } from '../core/limits.ts';
import { performReplyOf } from '../core/perform-reply.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import type { Waits } from '../core/waiting.ts';
import { performAction } from './activity-options.ts';
import { attemptFailureOf } from './attempt-failure.ts';
import { hint, note, type Session } from './session.ts';

export type AttemptResult = AttemptEnd & {
  readonly kind: 'reply' | 'failure';
} & {
  readonly value?: PerformReply['value'];
  /** Of a reply: what it would need, and the authority at the gate. */
  readonly asks?: ApprovalAsk | null;
  readonly waits?: Waits | null;
  readonly authority?: AuthorityHead;
  /** From a failure, where the receiver's name for it was known but could not be stored. */
  readonly externalId?: string | null;
  readonly receiptDigest?: string | null;
  readonly keyRefused?: boolean;
};

/**
 * Never rejects for a failure of the activity. It may still be pending when this answers `overdue`:
 * then its late return is a hint, and nothing else.
 */
export async function runAttempt(
  session: Session,
  call: PerformCall,
  policy: ToolPolicy,
): Promise<AttemptResult> {
  if (session.leaving) await new Promise(() => undefined);
  // Of its own, so that `stopScheduling` reaches it inside the non-cancellable body.
  const scope = new CancellationScope({ cancellable: true });
  session.scheduled.set(call.attemptId, scope);
  session.progressed = true;
  session.show();
  const finished = scope
    .run(() => performAction(call, policy, session.queues))
    .then(
      (raw) => replyEnd(session, call, raw),
      (error: unknown) => failureEnd(error),
    )
    .finally(() => {
      session.scheduled.delete(call.attemptId);
      session.show();
    });
  const end = await firstOf(finished, policy, call);
  if (end.kind === 'failure' && end.failure === 'overdue')
    void finished.then(
      () => hint(session, call.actionId),
      // Only a bug can get here, and then the task of that moment is the one to show it.
      (error: unknown) => Promise.reject(error),
    );
  return end;
}

function replyEnd(session: Session, { actionId }: PerformCall, raw: unknown): AttemptResult {
  const reply = performReplyOf(raw, actionId);
  if (reply === null)
    return {
      kind: 'failure',
      failure: 'unreadable_reply',
      phase: null,
      why: 'the activity was completed with something that is no reply of performAction',
    };
  note(session, reply);
  const { verdict, detail, settled, outcome, retryAfterMs, value, asks, waits, authority } = reply;
  const said = { verdict, detail, settled, outcome, retryAfterMs, authority, waits: waits ?? null };
  const end = { kind: 'reply', ...said, asks: asks ?? null } as const;
  return value === undefined ? end : { ...end, value };
}

function failureEnd(error: unknown): AttemptResult {
  const failure = attemptFailureOf(error);
  if (failure === null) throw error;
  return failure;
}

/** A paused activity does not time out at the server: the run has a timer of its own. */
async function firstOf(
  finished: Promise<AttemptResult>,
  policy: ToolPolicy,
  call: PerformCall,
): Promise<AttemptResult> {
  const afterMs = policy.startToCloseMs + policy.scheduleToStartMs + limits.attemptOverdueMs;
  const timer = new CancellationScope({ cancellable: true });
  const overdue = timer
    .run(() => sleep(afterMs, { summary: `${call.position} overdue` }))
    .then(
      () => overdueEnd(afterMs),
      // Canceled below, once the race is over.
      () => finished,
    );
  const end = await Promise.race([finished, overdue]);
  timer.cancel();
  return end;
}

function overdueEnd(afterMs: number): AttemptResult {
  return {
    kind: 'failure',
    failure: 'overdue',
    phase: null,
    why: `no end of the attempt after ${afterMs} ms; it may be paused`,
  };
}
