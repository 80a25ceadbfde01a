// What is known while one action is under way.
//
// Owns: the counters, the newest attempt id, the attempts that may be open, the question.
// Does not own: the outcome; it comes from the ledger.
// INV-1 All attempts of the action consume the same, unless a predecessor was settled meanwhile.

import type { AttemptInput, AuthorityHead } from '../core/activity-calls.ts';
import type { AttemptContext } from '../core/attempt-end.ts';
import type { Json } from '../core/digest.ts';
import type { Revisions, StopReason } from '../core/fact-fields.ts';
import type { ApprovalAsk } from '../core/facts.ts';
import { actionIdOf } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Question } from '../core/question.ts';
import type { Binding, OnUnknown, ToolPolicy } from '../core/tool-policy.ts';
import type { Refusal } from '../core/verdict.ts';
import type { Waits } from '../core/waiting.ts';
import { taskTime } from './clock.ts';
import type { Decided } from './consumption.ts';
import type { OpenCall } from './opening.ts';
import { openedOf, type Session } from './session.ts';
import type { Doubtful } from './unknown.ts';

export interface ActRequest {
  readonly position: string;
  readonly policy: ToolPolicy;
  readonly onUnknown: OnUnknown;
  readonly input: AttemptInput;
  /** Goal revision it is decided under; left out: whichever is the run's. */
  readonly goal?: number;
  /** Whether the outcome's result is wanted as a value, where it is small. */
  readonly wantsValue: boolean;
  /** Of a batch; else what has been received when the call is made. */
  readonly decided?: Decided;
}

export type ActEnd =
  | { readonly kind: 'outcome'; readonly outcome: Outcome; readonly value?: Json }
  | { readonly kind: 'stopped'; readonly reason: StopReason };

/** As things were at the gate, and hints heard before it. */
export interface Refused {
  readonly verdict: Refusal;
  readonly detail: string | null;
  readonly asks: ApprovalAsk | null;
  /** An action that has to be settled first, or said to be another wish. */
  readonly waits: Waits | null;
  readonly authority: AuthorityHead;
  /** Hints by action id. */
  readonly heard: ReadonlyMap<string, number>;
}

export interface Course {
  readonly session: Session;
  readonly open: OpenCall;
  readonly request: ActRequest;
  readonly actionId: string;
  /** Of a recorded position: as recorded, never rebuilt. */
  binding: Binding;
  input: AttemptInput;
  decided: Decided;
  /** Goal revision it was decided under. */
  readonly goal: number;
  /** Of the newest attempt; empty before the first. */
  attemptId: string;
  /** Revisions that the newest attempt was decided under; null before the first. */
  under: Revisions | null;
  /** What the newest attempt was refused for, where a person has to decide first. */
  refused: Refused | null;
  readonly openAttempts: Set<string>;
  question: Question | null;
  value: Json | undefined;
  /** What the receiver calls it, once known. */
  externalId: string | null;
  attempts: number;
  infra: number;
  rereads: number;
  inquiries: number;
  keyRefused: boolean;
  /** Known to be there in part: whatever becomes of a later attempt, it is not nothing. */
  halfDone: boolean;
  deadlineAt: number;
}

export function courseOf(session: Session, open: OpenCall, request: ActRequest): Course {
  return {
    session,
    open,
    request,
    actionId: actionIdOf(session.runId, request.position),
    binding: request.policy.binding,
    input: request.input,
    decided: request.decided ?? openedOf(session).consumption.decide(),
    goal: request.goal ?? openedOf(session).authority.revisions.goal,
    attemptId: '',
    under: null,
    refused: null,
    openAttempts: new Set(),
    question: null,
    value: undefined,
    externalId: null,
    attempts: 0,
    infra: 0,
    rereads: 0,
    inquiries: 0,
    keyRefused: false,
    halfDone: false,
    deadlineAt: taskTime() + request.policy.attemptsDeadlineMs,
  };
}

/** A wait for a person or a receiver is over: limits count from here. */
export function begunAnew(course: Course): void {
  course.attempts = 0;
  course.infra = 0;
  course.rereads = 0;
  course.inquiries = 0;
  course.deadlineAt = taskTime() + course.request.policy.attemptsDeadlineMs;
}

export function contextOf(course: Course): AttemptContext {
  const { session, actionId, request, attempts, infra, rereads, deadlineAt } = course;
  const { inquiries, keyRefused } = course;
  return {
    actionId,
    replay: request.policy.replay,
    stop: session.stop,
    attempts,
    attemptsMax: request.policy.attemptsMax,
    infra,
    rereads,
    open: Math.max(course.openAttempts.size, course.halfDone ? 1 : 0),
    inquiries,
    keyRefused,
    continues: request.policy.continues === true,
    now: taskTime(),
    deadlineAt,
    onExhausted: session.onExhausted,
    random: Math.random(),
  };
}

export function doubtfulOf({ actionId, openAttempts, request, attemptId }: Course): Doubtful {
  const attemptIds = new Set(openAttempts);
  if (attemptId !== '') attemptIds.add(attemptId);
  return { actionId, attemptIds: [...attemptIds], wantsValue: request.wantsValue };
}

export function finish({ session }: Course, outcome: Outcome, value?: Json): ActEnd {
  openedOf(session).consumption.receive(outcome);
  return value === undefined ? { kind: 'outcome', outcome } : { kind: 'outcome', outcome, value };
}

export function stoppedNow(session: Session): ActEnd {
  if (session.stop === null) throw new Error(`${session.runId}: it has not stopped`);
  return { kind: 'stopped', reason: session.stop };
}

export function stopped({ stop }: Session): ActEnd | null {
  return stop === null ? null : { kind: 'stopped', reason: stop };
}
