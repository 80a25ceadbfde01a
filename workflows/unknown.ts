// The run's side of an unknown action: its question is open as a child of its own, and the run
// waits for hints that the ledger knows more. What it waits for is in the ledger, never in the
// child.

import {
  type ChildWorkflowOptions,
  condition,
  log,
  ParentClosePolicy,
  patched,
  startChild,
} from '@temporalio/workflow';
import type { InquireReply } from '../core/activity-calls.ts';
import { answerIn } from '../core/answered.ts';
import { fullJitter, inquiryBackoff } from '../core/backoff.ts';
import { unknownIdOf } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Question } from '../core/question.ts';
import { continueIfLong } from './continuing.ts';
import { staticQuestionOf } from './details.ts';
import { UNKNOWN_ACTION } from './messages.ts';
import { patches } from './patches.ts';
import { questionAttributes } from './search-attributes.ts';
import { ask, hint, type Session } from './session.ts';

export interface Doubtful {
  readonly actionId: string;
  readonly attemptIds: readonly string[];
  readonly wantsValue: boolean;
}

export function lookAt(
  session: Session,
  { actionId, attemptIds, wantsValue }: Doubtful,
  mode: 'look' | 'ask' = 'look',
): Promise<InquireReply> {
  const { runId, pin } = session;
  const call = { runId, pin, actionId, mode, attemptIds, wantsValue };
  return ask(session, 'inquire', call, `${mode === 'ask' ? 'ask about' : 'look at'} ${actionId}`);
}

/** Waits until it is no longer open, whatever becomes of the child. Null: the run stopped first. */
export async function settlementOf(
  session: Session,
  doubtful: Doubtful,
  first: Question | null,
): Promise<InquireReply | null> {
  const { actionId } = doubtful;
  const child: Child = { state: 'none', starts: 0 };
  session.unknowns.set(actionId, unknownIdOf(actionId));
  session.phase = 'waiting';
  session.show();
  let question = first;
  let woken: Woken = 'at once';
  for (let waits = 0; ; waits++) {
    if (question === null || woken !== 'at once') {
      const reply = await lookAt(session, doubtful);
      if (answerIn(reply) !== 'open') return leave(session, actionId, reply);
      question = reply.question;
    }
    if (question !== null) showSince(session, question);
    if (question !== null && mayOpen(child, woken)) {
      child.state = await openQuestion(session, question, () => {
        child.state = 'none';
        hint(session, actionId);
      });
      if (child.state !== 'adopted') child.starts++;
    }
    // Only now: the question is open before the run stops waiting for its answer.
    if (session.stop !== null) return null;
    woken = await nextWake(session, actionId, waits);
    session.progressed = true;
    await continueIfLong(session);
  }
}

type Woken = 'at once' | 'hint' | 'timer';

interface Child {
  /** `adopted`: somebody else had opened it, and nobody here will hear of its end. */
  state: 'none' | 'started' | 'adopted';
  starts: number;
}

/**
 * A question that somebody ended comes back at once, but one that cannot live only by the timer.
 */
function mayOpen({ state, starts }: Child, woken: Woken): boolean {
  if (state === 'started') return false;
  if (state === 'adopted') return patched(patches.openEndedAgain);
  return starts < 2 || woken === 'timer';
}

/** Opens the question without waiting for its answer: for steps that go on over an unknown. */
export async function raiseQuestion(session: Session, question: Question): Promise<void> {
  const { actionId } = question.action;
  session.unknowns.set(actionId, unknownIdOf(actionId));
  showSince(session, question);
  await openQuestion(session, question, () => hint(session, actionId));
}

function showSince(session: Session, { action, evidence }: Question): void {
  session.unknownSince.set(action.actionId, evidence.enteredAt);
  session.show();
}

/**
 * The receiver owns it: asked until it is final, never sent again. Null: stopped, or nobody to ask.
 */
export async function polled(session: Session, doubtful: Doubtful): Promise<InquireReply | null> {
  session.phase = 'waiting';
  session.show();
  for (let asked = 1; ; asked++) {
    const reply = await lookAt(session, doubtful, 'ask');
    if (answerIn(reply) !== 'open') return leave(session, doubtful.actionId, reply);
    if (session.stop !== null || !reply.canAsk) return null;
    const seen = session.hints.get(doubtful.actionId);
    const waitMs = fullJitter(inquiryBackoff, asked, Math.random());
    const awake = () => session.stop !== null || session.hints.get(doubtful.actionId) !== seen;
    await condition(awake, waitMs, { summary: `ask about ${doubtful.actionId} again` });
    session.progressed = true;
    await continueIfLong(session);
  }
}

function leave(session: Session, actionId: string, reply: InquireReply): InquireReply {
  session.unknowns.delete(actionId);
  session.unknownSince.delete(actionId);
  if (session.unknowns.size === 0) session.phase = 'running';
  session.show();
  return reply;
}

async function nextWake(
  session: Session,
  actionId: string,
  waits: number,
): Promise<'hint' | 'timer'> {
  const seen = session.hints.get(actionId);
  const awake = () => session.stop !== null || session.hints.get(actionId) !== seen;
  const summary = `look at ${actionId} again`;
  const waitMs = Math.min(limits.reaskMs * 2 ** waits, limits.reaskMaxMs);
  return (await condition(awake, waitMs, { summary })) ? 'hint' : 'timer';
}

/** One that is open already is adopted; one that ended is opened again. `none`: neither. */
async function openQuestion(
  session: Session,
  question: Question,
  onEnd: () => void,
): Promise<Child['state']> {
  const { actionId } = question.action;
  const workflowId = unknownIdOf(actionId);
  const options: ChildWorkflowOptions & { args: [Question] } = {
    workflowId,
    args: [question],
    // It outlives the run, its continuation and its revocation.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    typedSearchAttributes: questionAttributes(question),
    ...staticQuestionOf(question),
  };
  try {
    const child = await startChild(UNKNOWN_ACTION, options);
    session.asked.add(actionId);
    const ended = () => {
      session.asked.delete(actionId);
      onEnd();
    };
    child.result().then(ended, ended);
    return 'started';
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Its answer then comes as a signal, like any other hint; the timer covers a lost one.
    if (error.name === 'WorkflowExecutionAlreadyStartedError') return 'adopted';
    if (!error.name.endsWith('Failure')) throw error;
    log.warn('the question could not be opened; it is tried again', {
      workflowId,
      run: session.runId,
      why: error.message,
    });
    return 'none';
  }
}
