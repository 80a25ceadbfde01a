// Puts an attempt in doubt in the ledger, which closes it, or says that it is settled after all.

import { patched } from '@temporalio/workflow';
import type { Scheduled } from '../core/activity-calls.ts';
import type { AttemptEnd } from '../core/attempt-end.ts';
import type { Course } from './course.ts';
import { patches } from './patches.ts';
import { ask, openedOf } from './session.ts';

export interface DoubtAbout {
  readonly attemptId: string;
  readonly why: string;
  readonly burns: 'attempt' | 'infrastructure';
  readonly externalId: string | null;
  readonly receiptDigest: string | null;
}

export async function recordDoubt(
  course: Course,
  { attemptId, why, burns, externalId, receiptDigest }: DoubtAbout,
): Promise<AttemptEnd> {
  const { session, actionId } = course;
  const reply = await ask(
    session,
    'recordFacts',
    {
      ...{ kind: 'doubt', runId: session.runId, pin: session.pin },
      ...{ actionId, attemptId, why, externalId },
      ...(receiptDigest === null ? {} : { receiptDigest }),
      ...scheduledAs(course, attemptId),
    },
    `record that ${actionId} is in doubt`,
  );
  if (reply.kind !== 'doubt') throw new Error(`${actionId}: recordFacts answered ${reply.kind}`);
  const { state, outcome } = reply;
  if (state === 'in_doubt') {
    course.openAttempts.add(attemptId);
    course.question = reply.question;
  } else course.openAttempts.delete(attemptId);
  // Entered under this decision: what comes later may build on it.
  if (state !== 'closed' && attemptId === course.attemptId)
    openedOf(session).consumption.entered(course.decided);
  return { kind: 'doubt', state, outcome, burns };
}

/** Of the attempt that this execution has scheduled; the input of others' workflows is theirs. */
function scheduledAs(
  { request, input, binding, under, ...course }: Course,
  attemptId: string,
): { readonly scheduled?: Scheduled } {
  if (under === null || attemptId !== course.attemptId) return {};
  if (!patched(patches.keepUnsent)) return {};
  const byReference = input.kind === 'stored' || input.kind === 'plan_step' ? input : null;
  const { position } = request;
  return { scheduled: { position, tool: binding.tool, revisions: under, input: byReference } };
}
