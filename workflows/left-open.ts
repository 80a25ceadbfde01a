// Attempts that are open without this execution having scheduled them: after a Reset the copy
// before it may be at work. They are put in doubt, so that their result tells somebody, and are
// asked about.

import { patched } from '@temporalio/workflow';
import type { InquireReply } from '../core/activity-calls.ts';
import type { RunResult } from '../core/outcome.ts';
import type { Question } from '../core/question.ts';
import { patches } from './patches.ts';
import { ask, type Session } from './session.ts';
import { type Doubtful, lookAt, raiseQuestion } from './unknown.ts';

/** Adds what was not known to be open to `known`; answers how things stand then. */
export async function othersInDoubt(
  session: Session,
  doubtful: Doubtful,
  { reply, known }: { readonly reply: InquireReply; readonly known: Set<string> },
): Promise<InquireReply> {
  const others = reply.openAttempts.filter((attemptId) => !known.has(attemptId));
  if (others.length === 0 || !patched(patches.othersInDoubt)) return reply;
  for (const attemptId of others) known.add(attemptId);
  const why = 'open, and not of this execution of the run';
  await putInDoubt(session, doubtful.actionId, { look: { ...reply, openAttempts: others }, why });
  return lookAt(session, doubtful);
}

/** No run ends with an unknown that nobody is asked about. */
export async function askAboutLeftOpen(session: Session, { unknowns }: RunResult): Promise<void> {
  const left = unknowns.filter(
    ({ actionId, outcome }) => outcome === 'unknown' && !isAsked(session, actionId),
  );
  if (left.length === 0 || !patched(patches.askAboutLeftOpen)) return;
  for (const { actionId } of left) {
    const look = await lookAt(session, { actionId, attemptIds: [], wantsValue: false });
    if (look.abandoned || look.openAttempts.length === 0) continue;
    const question = await putInDoubt(session, actionId, { look, why: 'open as the run ended' });
    if (question !== null) await raiseQuestion(session, question);
  }
}

/** A question that was opened may have been ended by somebody since. */
function isAsked({ unknowns, asked }: Session, actionId: string): boolean {
  if (!unknowns.has(actionId)) return false;
  return asked.has(actionId) || !patched(patches.openEndedAgain);
}

export async function putInDoubt(
  session: Session,
  actionId: string,
  { look, why }: { readonly look: InquireReply; readonly why: string },
): Promise<Question | null> {
  let { question } = look;
  for (const attemptId of look.openAttempts) {
    const reply = await ask(
      session,
      'recordFacts',
      {
        ...{ kind: 'doubt', runId: session.runId, pin: session.pin },
        ...{ actionId, attemptId, why, externalId: null },
      },
      `record that ${actionId} is in doubt`,
    );
    if (reply.kind === 'doubt') question = reply.question ?? question;
  }
  return question;
}
