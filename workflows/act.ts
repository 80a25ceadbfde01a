// One action from its decision to its outcome. What to do next is decided in `core/after-
// attempt.ts`; here it is carried out. Shared by `agentRun` and `holdfast()`.

import { condition, uuid4 } from '@temporalio/workflow';
import type { PerformCall } from '../core/activity-calls.ts';
import { afterAttempt } from '../core/after-attempt.ts';
import type { AttemptEnd, NextStep } from '../core/attempt-end.ts';
import { attemptIdOf } from '../core/ids.ts';
import { type AttemptResult, runAttempt } from './attempt.ts';
import {
  type ActEnd,
  type ActRequest,
  begunAnew,
  type Course,
  contextOf,
  courseOf,
  finish,
  type Refused,
  stopped,
  stoppedNow,
} from './course.ts';
import { awaitApproval, awaitBudget } from './decisions.ts';
import { recordDoubt } from './doubt.ts';
import { type OpenCall, rereadAuthority } from './opening.ts';
import { pause, wait } from './pauses.ts';
import { settleConsumed, settleReceivedOpen } from './predecessors.ts';
import { recordedEnd } from './recorded.ts';
import { openedOf, pinOf, type Session, stopScheduling } from './session.ts';
import { askPerson, inquired, poll, withValue } from './unproved.ts';

/** Why the newest attempt is asked about; only for the record. */
interface Newest {
  readonly why: string;
  readonly externalId: string | null;
  readonly receiptDigest: string | null;
}

type Carried = AttemptEnd | ActEnd;

/** Never rejects but for bugs. After a stop it answers `stopped` without scheduling anything. */
export async function act(session: Session, open: OpenCall, request: ActRequest): Promise<ActEnd> {
  const course = courseOf(session, open, request);
  let carried: Carried | null = await beforeIt(course);
  if (carried === null) {
    const recorded = await recordedEnd(course);
    if (recorded?.kind === 'adopted') return finish(course, recorded.outcome, recorded.value);
    carried = recorded ?? (await attempt(course));
  }
  for (;;) {
    if (carried.kind === 'outcome' || carried.kind === 'stopped') return carried;
    if (carried.kind === 'inquiry' && carried.continuable === true) course.halfDone = true;
    carried = await carriedOut(course, afterAttempt(carried, contextOf(course)), newestOf(carried));
  }
}

/** A step that holds is not decided over something open. Null: it may go on. */
async function beforeIt(course: Course): Promise<ActEnd | null> {
  const { session, request, actionId } = course;
  if (request.onUnknown === 'hold' && session.stop === null) {
    const before = await settleReceivedOpen(session, actionId);
    course.decided = openedOf(session).consumption.refreshed(course.decided);
    if (before === 'blocked')
      return finish(course, {
        kind: 'not_executed',
        actionId,
        digest: null,
        reason: 'predecessor_open',
        message: `${openedOf(session).consumption.open().join(', ')} stays unknown`,
      });
  }
  return stopped(session);
}

function newestOf(end: AttemptEnd): Newest {
  if (end.kind === 'failure')
    return {
      why: end.why,
      externalId: 'externalId' in end ? (end.externalId as string | null) : null,
      receiptDigest: 'receiptDigest' in end ? (end.receiptDigest as string | null) : null,
    };
  const why =
    end.kind === 'reply' ? `${end.verdict}: ${end.detail ?? 'nothing final'}` : 'nothing final';
  return { why, externalId: null, receiptDigest: null };
}

async function carriedOut(course: Course, step: NextStep, newest: Newest): Promise<Carried> {
  const { session, attemptId } = course;
  switch (step.kind) {
    case 'done':
      return finish(course, step.outcome, course.value);
    case 'retry':
      return (await pause(course, step.afterMs)) ?? attempt(course);
    case 'infra_retry':
      course.attempts--;
      return (await wait(course, step.afterMs, newest.why)) ?? attempt(course);
    case 'doubt':
      return withValue(
        course,
        await recordDoubt(course, { attemptId, burns: step.burns, ...newest }),
      );
    case 'inquire':
      return inquired(course, step);
    case 'inquire_again':
      return (
        (await wait(course, step.afterMs, newest.why)) ??
        inquired(course, { mode: 'ask', ifOpen: 'resend' })
      );
    case 'ask':
      return askPerson(course);
    case 'await_approval':
      return (await decided(course, awaitApproval)) ?? attempt(course);
    case 'await_budget':
      return (await decided(course, awaitBudget)) ?? attempt(course);
    case 'poll':
      return poll(course);
    case 'settle_predecessors':
      return afterPredecessors(course);
    case 'reread_authority':
      return (await pause(course, step.afterMs)) ?? reread(course);
    case 'stop':
      stopScheduling(session, step.reason);
      return { kind: 'stopped', reason: session.stop ?? step.reason };
  }
}

async function attempt(course: Course): Promise<Carried> {
  const { session, request, actionId, decided } = course;
  if (session.amending > 0) await condition(() => session.amending === 0);
  const now = stopped(session);
  if (now !== null) return now;
  if (isSuperseded(course)) return superseded(course);
  course.attemptId = attemptIdOf(actionId, uuid4());
  course.under = openedOf(session).authority.revisions;
  course.attempts++;
  course.infra++;
  const { amendments } = session;
  const heard = new Map(session.hints);
  const end = await runAttempt(session, callOf(course), request.policy);
  // Closed for the sake of another revision, it says nothing of the action.
  const entered = end.kind === 'reply' && end.verdict === 'entered';
  if (amendments !== session.amendments && !entered) course.attempts--;
  if (end.kind === 'failure') {
    if (end.keyRefused === true) course.keyRefused = true;
    return end;
  }
  course.refused =
    end.authority === undefined ? null : refusedBy(end, { authority: end.authority, heard });
  if (end.verdict !== 'twin_unknown') session.twins.delete(actionId);
  if (end.verdict === 'entered' || end.verdict === 'entered_again') {
    openedOf(session).consumption.entered(decided);
    course.infra = 0;
    course.rereads = 0;
    course.inquiries = 0;
    if (end.settled === 'partial' && request.policy.continues) course.halfDone = true;
  }
  course.value = end.value;
  if (end.outcome?.kind === 'accepted') course.externalId = end.outcome.externalId;
  return end;
}

type Replied = Extract<AttemptResult, { kind: 'reply' }>;

function refusedBy(
  { verdict, detail, asks, waits }: Replied,
  at: Pick<Refused, 'authority' | 'heard'>,
): Refused {
  return { verdict, detail, asks: asks ?? null, waits: waits ?? null, ...at };
}

/** The goal it was decided under is no longer the run's. */
function isSuperseded({ session, goal }: Course): boolean {
  return session.amendable && openedOf(session).authority.revisions.goal !== goal;
}

/** What may have had its effect is settled first; another goal takes nothing back. */
function superseded(course: Course): Promise<Carried> | ActEnd {
  const { actionId, openAttempts, halfDone } = course;
  const isKeyed = course.request.policy.replay === 'keyed';
  if (halfDone || (openAttempts.size > 0 && isKeyed)) return askPerson(course);
  const message = 'the goal was amended before it entered';
  const reason = 'goal_amended';
  return finish(course, { kind: 'not_executed', actionId, digest: null, reason, message });
}

/** A person had to decide: limits count from here. */
async function decided(
  course: Course,
  wait: (course: Course) => Promise<void>,
): Promise<ActEnd | null> {
  await wait(course);
  begunAnew(course);
  return stopped(course.session);
}

function callOf(course: Course): PerformCall {
  const { session, request, actionId, attemptId, binding, input, decided } = course;
  const { revisions, epoch } = openedOf(session).authority;
  return {
    runId: session.runId,
    actionId,
    position: request.position,
    attemptId,
    binding,
    replay: request.policy.replay,
    onUnknown: request.onUnknown,
    input,
    consumes: decided.consumes,
    revisions,
    epoch,
    pin: pinOf(session),
    wantsValue: request.wantsValue,
  };
}

async function afterPredecessors(course: Course): Promise<Carried> {
  const { session, actionId } = course;
  const received = await settleReceivedOpen(session, actionId);
  const consumed =
    received === 'settled' ? received : await settleConsumed(session, course.decided, actionId);
  course.decided = openedOf(session).consumption.refreshed(course.decided);
  if (session.stop !== null) return stoppedNow(session);
  if (consumed === 'settled') return attempt(course);
  // The gate says open, a look says settled or hopeless: settled meanwhile, or never.
  course.rereads++;
  if (consumed === 'blocked' || course.rereads > 2) {
    stopScheduling(session, 'blocked');
    return stoppedNow(session);
  }
  return attempt(course);
}

async function reread(course: Course): Promise<Carried> {
  const { session, open } = course;
  course.rereads++;
  course.attempts--;
  const found = await rereadAuthority(session, open);
  if (found === 'lost') stopScheduling(session, 'claim_stale');
  else if (found !== 'open') session.result = found;
  if (session.result !== null) stopScheduling(session, 'claim_stale');
  return session.stop === null ? attempt(course) : stoppedNow(session);
}
