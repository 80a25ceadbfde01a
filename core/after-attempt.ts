// What follows an attempt. One row per gate verdict and per kind of failure; total and pure: time
// and randomness are arguments. The workflow carries the step out, and comes back with the next
// end.

import { lasting } from './answered.ts';
import type { AttemptContext, AttemptEnd, IfOpen, NextStep } from './attempt-end.ts';
import { attemptBackoff, fullJitter, infraBackoff, inquiryBackoff } from './backoff.ts';
import type { InquiryVerdict, StopReason } from './fact-fields.ts';
import { limits } from './limits.ts';
import type { Outcome } from './outcome.ts';
import type { Refusal } from './verdict.ts';

type Rule =
  | { readonly do: 'stop'; readonly reason: StopReason }
  | { readonly do: 'adopt' | 'doubt' | 'settle' | 'retry' | 'wait' | 'predecessors' }
  | { readonly do: 'reread' | 'reread_patiently' }
  | { readonly do: 'inquire'; readonly mode: 'look' | 'ask'; readonly ifOpen: IfOpen }
  | { readonly do: 'not_executed' | 'approval' | 'budget' };

const stop = (reason: StopReason): Rule => ({ do: 'stop', reason });

/** What each verdict leads to; same order as `gateVerdicts`. */
export const verdictTable = {
  ledger_mismatch: stop('ledger_mismatch'),
  disputed: stop('disputed'),
  already_final: { do: 'adopt' },
  payload_conflict: stop('payload_conflict'),
  entered_again: { do: 'settle' },
  attempt_reused: { do: 'doubt' },
  attempt_closed: { do: 'retry' },
  run_not_open: { do: 'reread' },
  claim_stale: { do: 'reread' },
  claim_facts_only: { do: 'reread_patiently' },
  run_ended: { do: 'reread' },
  retention_expired: { do: 'inquire', mode: 'ask', ifOpen: 'ask' },
  action_in_doubt: { do: 'inquire', mode: 'look', ifOpen: 'not_again' },
  predecessor_open: { do: 'predecessors' },
  predecessor_mismatch: stop('predecessor_mismatch'),
  attempt_not_current: { do: 'retry' },
  authority_unavailable: { do: 'wait' },
  revoked: stop('revoked'),
  goal_stale: { do: 'reread' },
  authority_stale: { do: 'reread' },
  not_granted: { do: 'not_executed' },
  object_changed: { do: 'not_executed' },
  dependencies_changed: { do: 'not_executed' },
  credentials_changed: { do: 'not_executed' },
  approval_denied: { do: 'not_executed' },
  approval_missing: { do: 'approval' },
  approval_mismatch: { do: 'not_executed' },
  twin_unknown: { do: 'wait' },
  compensates_open: { do: 'wait' },
  nothing_to_compensate: { do: 'not_executed' },
  binding_changed: stop('binding_changed'),
  budget_exhausted: { do: 'budget' },
  entered: { do: 'settle' },
  invalid_input: { do: 'not_executed' },
  policy_changed: stop('binding_changed'),
  closed_by_inquiry: { do: 'retry' },
} as const satisfies Record<Refusal, Rule>;

/** A second opening that still does not help means that another claim holds the run. */
const REREADS_MAX = 2;

export function afterAttempt(end: AttemptEnd, context: AttemptContext): NextStep {
  switch (end.kind) {
    case 'reply':
      return afterReply(end, context);
    case 'failure':
      return afterFailure(end, context);
    case 'doubt':
      return afterDoubt(end, context);
    case 'inquiry':
      return afterInquiry(end, context);
  }
}

function afterReply(end: AttemptEnd & { kind: 'reply' }, context: AttemptContext): NextStep {
  const rule: Rule = verdictTable[end.verdict];
  switch (rule.do) {
    case 'stop':
      return { kind: 'stop', reason: context.stop ?? rule.reason };
    case 'adopt':
      return end.outcome === null ? doubt : { kind: 'done', outcome: end.outcome };
    case 'settle':
      return afterSettlement(end, context);
    case 'doubt':
      return doubt;
    case 'retry':
      return retry(context, end.verdict, end.retryAfterMs);
    case 'wait':
      return infraRetry(context);
    case 'reread':
      if (context.rereads >= REREADS_MAX)
        return { kind: 'stop', reason: context.stop ?? 'claim_stale' };
      return unlessStopped(context, { kind: 'reread_authority', afterMs: 0 });
    case 'reread_patiently':
      // Effects come back once what the old claim left open is settled, by whoever waits for it.
      return unlessStopped(context, {
        kind: 'reread_authority',
        afterMs: fullJitter(infraBackoff, context.rereads, context.random),
      });
    case 'predecessors':
      return unlessStopped(context, { kind: 'settle_predecessors' });
    case 'inquire':
      return { kind: 'inquire', mode: rule.mode, ifOpen: rule.ifOpen };
    case 'not_executed':
      // An older attempt may have had its effect: that this one was refused says nothing of it.
      return context.open === 0
        ? notExecuted(context, end.verdict, end.detail ?? 'the gate refused it')
        : afterStillOpen(context);
    case 'approval':
      return unlessStopped(context, { kind: 'await_approval' });
    case 'budget':
      if (context.onExhausted === 'end') return { kind: 'stop', reason: context.stop ?? 'budget' };
      return unlessStopped(context, { kind: 'await_budget' });
  }
}

const doubt: NextStep = { kind: 'doubt', burns: 'attempt' };

/** This delivery went through the gate. */
function afterSettlement(end: AttemptEnd & { kind: 'reply' }, context: AttemptContext): NextStep {
  const outcome = lasting(end.outcome);
  if (outcome !== null) return { kind: 'done', outcome };
  switch (end.settled) {
    case 'not_taken':
    case 'not_sent':
      return retry(context, end.settled, end.retryAfterMs);
    case 'accepted':
      return { kind: 'poll' };
    case 'partial':
      return context.continues ? goOn(context, end.retryAfterMs) : { kind: 'poll' };
    case 'refused':
      // Not the action's outcome: an older attempt is open and may still have had the effect.
      return { kind: 'ask' };
    case 'executed':
    case null:
      return doubt;
  }
}

const beforeTheGate: ReadonlySet<string | null> = new Set(['binding', 'barrier', 'gate']);

/** No failure proves anything by itself: the ledger is asked whether the attempt entered. */
function afterFailure(end: AttemptEnd & { kind: 'failure' }, context: AttemptContext): NextStep {
  switch (end.failure) {
    case 'not_scheduled':
      return retry(context, 'not_scheduled', null);
    case 'application':
      return {
        kind: 'doubt',
        burns: beforeTheGate.has(end.phase) ? 'infrastructure' : 'attempt',
      };
    case 'schedule_to_start':
    case 'start_to_close':
    case 'heartbeat':
    case 'schedule_to_close':
    case 'canceled':
    case 'server':
    case 'unreadable_reply':
    case 'overdue':
      return doubt;
  }
}

function afterDoubt(end: AttemptEnd & { kind: 'doubt' }, context: AttemptContext): NextStep {
  const outcome = lasting(end.outcome);
  if (outcome !== null) return { kind: 'done', outcome };
  switch (end.state) {
    case 'closed':
      return end.burns === 'infrastructure'
        ? infraRetry(context)
        : retry(context, 'attempt_closed', null);
    case 'settled':
      // Not sent, not taken, or accepted: only the ledger's view of the whole action tells.
      return { kind: 'inquire', mode: 'look', ifOpen: 'ask' };
    case 'in_doubt':
      return afterOpen(context);
  }
}

function afterOpen(context: AttemptContext): NextStep {
  switch (context.replay) {
    case 'safe':
    case 'rebuy':
      return retry(context, 'no_reply', null);
    case 'keyed':
      return context.stop === null
        ? { kind: 'inquire', mode: 'ask', ifOpen: context.keyRefused ? 'ask' : 'resend' }
        : { kind: 'ask' };
    case 'never':
      return { kind: 'ask' };
  }
}

function afterInquiry(end: AttemptEnd & { kind: 'inquiry' }, context: AttemptContext): NextStep {
  const outcome = lasting(end.outcome);
  if (end.disputed) return { kind: 'stop', reason: 'disputed' };
  if (outcome !== null) return { kind: 'done', outcome };
  if (end.abandoned)
    return {
      kind: 'done',
      outcome: unknownOutcome(context, 'abandoned by a person', { abandoned: true }),
    };
  if (end.permitted) return unlessStopped(context, { kind: 'retry', afterMs: 0 });
  if (end.openAttempts.length > 0)
    return end.ifOpen === 'resend' ? afterAnswer(end, context) : afterStillOpen(context);
  if (end.continuable === true) return goOn(context, null);
  if (end.outcome?.kind !== 'not_executed') return { kind: 'poll' };
  return end.ifOpen === 'not_again' || context.keyRefused
    ? { kind: 'done', outcome: end.outcome }
    : retry(context, end.outcome.reason, null);
}

/**
 * Whether what the receiver says allows to send the same key again. A question that failed never
 * does, and neither does a request that it is still at work on.
 */
const resendTable = {
  executed: 'ask',
  not_executed: 'resend',
  processing: 'wait',
  no_record: 'resend',
  partial: 'ask',
  conflict: 'ask',
  unavailable: 'wait',
  forbidden: 'ask',
} as const satisfies Record<InquiryVerdict, 'resend' | 'wait' | 'ask'>;

function afterAnswer(end: AttemptEnd & { kind: 'inquiry' }, context: AttemptContext): NextStep {
  // Null: nobody can be asked, and the key is what there is.
  const then = end.verdict === null ? 'resend' : resendTable[end.verdict];
  if (then === 'resend') return retry(context, 'no_reply', null);
  if (then === 'ask' || context.stop !== null) return { kind: 'ask' };
  if (context.inquiries >= limits.inquiriesBeforeQuestion) return { kind: 'ask' };
  const afterMs = fullJitter(inquiryBackoff, context.inquiries, context.random);
  return { kind: 'inquire_again', afterMs };
}

/** With what is half done, under the same key; what is confirmed is never called nothing. */
function goOn(context: AttemptContext, atLeastMs: number | null): NextStep {
  if (context.keyRefused) return { kind: 'ask' };
  const step = retry(context, 'partial', atLeastMs);
  return step.kind === 'done' ? { kind: 'ask' } : step;
}

function afterStillOpen(context: AttemptContext): NextStep {
  const repeatable = context.replay === 'safe' || context.replay === 'rebuy';
  return repeatable ? retry(context, 'no_reply', null) : { kind: 'ask' };
}

function retry(context: AttemptContext, why: string, atLeastMs: number | null): NextStep {
  if (context.stop !== null) return { kind: 'stop', reason: context.stop };
  const jitter = fullJitter(attemptBackoff, context.attempts, context.random);
  const afterMs = Math.max(jitter, atLeastMs ?? 0);
  const exhausted =
    context.attempts >= context.attemptsMax || context.now + afterMs > context.deadlineAt;
  return exhausted ? giveUp(context, why) : { kind: 'retry', afterMs };
}

/** The limits are reached: what is open is never called "not executed". */
function giveUp(context: AttemptContext, why: string): NextStep {
  if (context.open === 0) return notExecuted(context, why, `no attempt got further: ${why}`);
  if (context.replay === 'never' || context.replay === 'keyed') return { kind: 'ask' };
  const reason = `${context.open} attempts without a reply, none left`;
  return { kind: 'done', outcome: unknownOutcome(context, reason, { abandoned: false }) };
}

function infraRetry(context: AttemptContext): NextStep {
  const afterMs = fullJitter(infraBackoff, context.infra, context.random);
  return unlessStopped(context, { kind: 'infra_retry', afterMs });
}

function unlessStopped(context: AttemptContext, step: NextStep): NextStep {
  return context.stop === null ? step : { kind: 'stop', reason: context.stop };
}

function notExecuted(context: AttemptContext, reason: string, message: string): NextStep {
  const { actionId } = context;
  return {
    kind: 'done',
    outcome: { kind: 'not_executed', actionId, digest: null, reason, message },
  };
}

function unknownOutcome(
  { actionId }: AttemptContext,
  reason: string,
  { abandoned }: { abandoned: boolean },
): Outcome {
  return { kind: 'unknown', actionId, reason, abandoned };
}
