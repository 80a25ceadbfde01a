// What is known about one action: open attempts, the four axes, the six words, its outcome.

import type { Outcome } from './outcome.ts';
import type { ActionState, AttemptState } from './run-state.ts';

export const statusWords = [
  'not submitted',
  'accepted',
  'running',
  'finished',
  'partial',
  'unknown',
] as const;
export type StatusWord = (typeof statusWords)[number];

/** Entered, not settled, and nobody said that it had no effect. */
export function openAttempts(action: ActionState): readonly AttemptState[] {
  return action.attempts.filter(
    (attempt) => attempt.settled === null && attempt.exclusion === 'none',
  );
}

/** Attempts whose request may still reach the receiver: a statement alone does not close them. */
export function arrivableAttempts(action: ActionState): readonly AttemptState[] {
  return action.attempts.filter(
    (attempt) => attempt.settled === null && attempt.exclusion !== 'proved',
  );
}

/** Settled, but the receiver goes on with it: accepted, or partial under its own protocol. */
export function isOngoing({ settled, entry, exclusion }: AttemptState): boolean {
  if (settled === null || exclusion !== 'none') return false;
  return (
    settled.outcome === 'accepted' ||
    (settled.outcome === 'partial' && entry.continuing === 'own_protocol')
  );
}

export type HalfDone = Pick<NonNullable<AttemptState['settled']>, 'parts' | 'externalId'>;

/** What the receiver can go on with under its own protocol, as it told it last; or null. */
export function halfDoneOf(action: ActionState | undefined): HalfDone | null {
  if (action === undefined || action.final !== null) return null;
  const last = action.attempts.findLast(
    (attempt) => isOngoing(attempt) && attempt.settled?.outcome === 'partial',
  );
  if (last === undefined || last.settled === null) return null;
  const { attemptId, settled } = last;
  const later = action.observations.findLast(
    (each) => each.attemptId === attemptId && each.verdict === 'partial',
  );
  const { parts = settled.parts, externalId = null } = later ?? {};
  return { parts, externalId: externalId ?? settled.externalId };
}

/** Only where nothing of it is open: what goes on there may be what it would go on with. */
export function mayGoOn(action: ActionState | undefined, now: number): boolean {
  if (action === undefined || halfDoneOf(action) === null) return false;
  return openAttempts(action).length === 0 && now < (resendUntilOf(action) ?? Infinity);
}

/** Ledger time from which the receiver may have forgotten the key; null: no key is relied on. */
export function resendUntilOf({ attempts }: ActionState): number | null {
  return attempts[0]?.entry.resendUntil ?? null;
}

/**
 * Something of it may still have its effect: under its own key, by a permit, or by the receiver's
 * protocol nothing new begins. A claim of facts lets that through (rule B9), and `action_in_doubt`
 * the rest of it not.
 */
export function isBegun(action: ActionState | undefined): boolean {
  if (action === undefined) return false;
  const replay = action.attempts[0]?.entry.replay;
  return replay !== 'safe' && replay !== 'rebuy' && undecidedAttempts(action).length > 0;
}

/** Attempts of which nobody knows yet what they come to: open, or going on at the receiver. */
export function undecidedAttempts(action: ActionState): readonly AttemptState[] {
  const open = openAttempts(action);
  return action.attempts.filter((attempt) => open.includes(attempt) || isOngoing(attempt));
}

export function isAcceptedOnly(action: ActionState): boolean {
  return (
    action.final === null &&
    action.attempts.some((each) => isOngoing(each) && each.settled?.outcome === 'accepted')
  );
}

/** For the ledger's index of twins; null when nothing of the action is in doubt. */
export function doubtOf(action: ActionState): 'in_doubt' | 'abandoned' | null {
  if (action.final !== null) return null;
  const doubted = openAttempts(action).some((attempt) => attempt.doubted);
  if (!doubted) return null;
  return action.abandoned ? 'abandoned' : 'in_doubt';
}

/** What the facts of the action alone say; the others are in `axes.ts`. */
export interface FactualAxes {
  readonly submission: 'not_submitted' | 'maybe_submitted' | 'accepted';
  readonly execution: 'not_started' | 'running' | 'finished' | 'unknown';
  readonly effect: 'none' | 'partial' | 'complete' | 'unknown';
}

const finalAxes: Record<NonNullable<ActionState['final']>['kind'], FactualAxes> = {
  executed: { submission: 'accepted', execution: 'finished', effect: 'complete' },
  executed_result_missing: { submission: 'accepted', execution: 'finished', effect: 'complete' },
  partial: { submission: 'accepted', execution: 'finished', effect: 'partial' },
  refused: { submission: 'accepted', execution: 'finished', effect: 'none' },
  not_executed: { submission: 'not_submitted', execution: 'not_started', effect: 'none' },
};

export function factualAxes(action: ActionState): FactualAxes {
  if (action.final !== null) return finalAxes[action.final.kind];
  if (action.attempts.some((each) => each.settled?.outcome === 'partial'))
    return { submission: 'accepted', execution: 'finished', effect: 'partial' };
  if (isAcceptedOnly(action))
    return { submission: 'accepted', execution: 'running', effect: 'unknown' };
  const open = openAttempts(action);
  if (open.length > 0) {
    const doubted = open.some((attempt) => attempt.doubted);
    return {
      submission: 'maybe_submitted',
      execution: doubted ? 'unknown' : 'running',
      effect: 'unknown',
    };
  }
  return { submission: 'not_submitted', execution: 'not_started', effect: 'none' };
}

/** The one word a person sees; derived from the axes, never stored. */
export function wordOf(action: ActionState): StatusWord {
  const { submission, execution, effect } = factualAxes(action);
  if (effect === 'partial') return 'partial';
  if (execution === 'unknown') return 'unknown';
  if (execution === 'finished') return 'finished';
  if (submission === 'accepted') return 'accepted';
  return execution === 'running' ? 'running' : 'not submitted';
}

/** Null while an attempt is open, or accepted, and nothing is final. */
export function outcomeOf(action: ActionState): Outcome | null {
  const { actionId, final } = action;
  if (final !== null) return finalOutcome(action, final);
  if (action.abandoned)
    return { kind: 'unknown', actionId, reason: 'abandoned by a person', abandoned: true };
  if (undecidedAttempts(action).length > 0) return null;
  return { kind: 'not_executed', actionId, digest: null, ...whyNotExecuted(action) };
}

function finalOutcome(action: ActionState, final: NonNullable<ActionState['final']>): Outcome {
  const { actionId } = action;
  const { digest, externalId } = final;
  switch (final.kind) {
    case 'executed': {
      const settled = action.attempts.find((each) => each.attemptId === final.attemptId)?.settled;
      if (final.resultRef === null) throw new Error(`${actionId}: executed without a result`);
      const calls = settled?.calls ?? [];
      return { kind: 'executed', actionId, digest, result: final.resultRef, externalId, calls };
    }
    case 'executed_result_missing':
      return { kind: final.kind, actionId, digest, reason: 'the result is missing', externalId };
    case 'partial':
      return { kind: 'partial', actionId, digest, parts: [...final.parts], externalId };
    case 'refused':
    case 'not_executed':
      return { kind: 'not_executed', actionId, digest, ...whyNotExecuted(action) };
  }
}

/** Of the attempt that made it final, or of the last one. */
function whyNotExecuted(action: ActionState): { reason: string; message: string } {
  const { attempts, final } = action;
  if (final?.via === 'resolution')
    return { reason: 'not_executed', message: 'a person stated that it had no effect' };
  const last = attempts.find((each) => each.attemptId === final?.attemptId) ?? attempts.at(-1);
  if (last?.settled?.refusal)
    return {
      reason: last.settled.outcome,
      message: `${last.settled.refusal.code}: ${last.settled.refusal.message}`,
    };
  if (last !== undefined && last.exclusion !== 'none')
    return { reason: 'not_executed', message: 'proved or stated to have had no effect' };
  if (last?.settled) return { reason: last.settled.outcome, message: 'nothing was sent' };
  const refusal = action.refusals.at(-1);
  return {
    reason: refusal?.verdict ?? 'not_submitted',
    message: refusal?.detail ?? 'no attempt entered',
  };
}
