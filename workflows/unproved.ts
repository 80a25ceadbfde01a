// What follows where an attempt proved nothing: the receiver is asked, what it has accepted is
// polled, a person is asked.

import { patched } from '@temporalio/workflow';
import type { AttemptEnd, IfOpen } from '../core/attempt-end.ts';
import type { Outcome } from '../core/outcome.ts';
import { type ActEnd, begunAnew, type Course, doubtfulOf, finish, stoppedNow } from './course.ts';
import { othersInDoubt } from './left-open.ts';
import { patches } from './patches.ts';
import { storedValue } from './recorded.ts';
import { lookAt, polled, raiseQuestion, settlementOf } from './unknown.ts';

export interface InquireStep {
  readonly mode: 'look' | 'ask';
  readonly ifOpen: IfOpen;
}

export async function inquired(course: Course, { mode, ifOpen }: InquireStep): Promise<AttemptEnd> {
  const { session } = course;
  const asked = await lookAt(session, doubtfulOf(course), mode);
  if (mode === 'ask') course.inquiries++;
  const known = course.openAttempts;
  const reply = await othersInDoubt(session, doubtfulOf(course), { reply: asked, known });
  course.question = reply.question;
  course.value = reply.value;
  const isAnswer = asked.verdict !== null && asked.verdict !== 'no_record';
  const decides = isAnswer && ifOpen === 'resend' && reply.openAttempts.length > 0;
  // As it was before answers decided on the resend.
  const verdict = decides && !patched(patches.heedVerdict) ? null : asked.verdict;
  return { kind: 'inquiry', ifOpen, ...reply, verdict };
}

/** The attempt failed, and its result had been stored: the ledger tells the outcome alone. */
export async function withValue(course: Course, end: AttemptEnd): Promise<AttemptEnd> {
  const { request } = course;
  const isStored = end.kind === 'doubt' && end.outcome?.kind === 'executed';
  if (isStored && end.outcome !== null && request.wantsValue && patched(patches.valueAfterDoubt))
    course.value = await storedValue(course, end.outcome);
  return end;
}

export async function askPerson(course: Course): Promise<AttemptEnd | ActEnd> {
  const { session, request, actionId } = course;
  if (course.question === null)
    course.question = (await lookAt(session, doubtfulOf(course))).question;
  if (request.onUnknown === 'continue') {
    if (course.question !== null) await raiseQuestion(session, course.question);
    const reason = 'in doubt; its question is open';
    return finish(course, { kind: 'unknown', actionId, reason, abandoned: false });
  }
  const reply = await settlementOf(session, doubtfulOf(course), course.question);
  if (reply === null) return stoppedNow(session);
  begunAnew(course);
  course.openAttempts.clear();
  for (const open of reply.openAttempts) course.openAttempts.add(open);
  course.value = reply.value;
  return { kind: 'inquiry', ifOpen: 'ask', ...reply };
}

export async function poll(course: Course): Promise<AttemptEnd | ActEnd> {
  const { session, request, actionId, externalId } = course;
  const accepted: Outcome = { kind: 'accepted', actionId, externalId };
  if (request.onUnknown === 'continue') return finish(course, accepted);
  const reply = await polled(session, doubtfulOf(course));
  if (reply === null) return session.stop === null ? finish(course, accepted) : stoppedNow(session);
  begunAnew(course);
  course.value = reply.value;
  return { kind: 'inquiry', ifOpen: 'ask', ...reply };
}
