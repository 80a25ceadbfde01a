// The question about one unknown action, open until the ledger knows its end. Its single input *is*
// the question, with the answers to paste. It decides nothing by a timer, and starts nothing: its
// verdict is a fact first, and a signal to the run second.

import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { InquireReply, LedgerPin } from '../core/activity-calls.ts';
import { answerIn } from '../core/answered.ts';
import { fullJitter, inquiryBackoff } from '../core/backoff.ts';
import { isActionOf, unknownIdOf } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Question } from '../core/question.ts';
import { questionIn, questionProblem } from '../core/question-shape.ts';
import { departure } from './continuing.ts';
import { installDesk, rejectOtherSignals } from './desk.ts';
import { type QuestionProgress, questionDetails } from './details.ts';
import { workflowFailure } from './failures.ts';
import { lateFactSignal } from './messages.ts';
import { questionPairs } from './search-attributes.ts';
import { allHandled, type Carried, newSession, type Session } from './session.ts';
import { lookAt } from './unknown.ts';

/** How the question ended, for whoever looks at the closed child. */
export interface QuestionEnd {
  readonly actionId: string;
  readonly end: 'settled' | 'permitted' | 'abandoned';
  readonly outcome: string | null;
}

interface Inquiring {
  readonly session: Session;
  /** What the input's answers are based on. */
  readonly inputVersion: number;
  question: Question;
  recordVersion: number;
  asked: number;
  /** How often nothing but the ledger could be looked at. */
  looked: number;
  canAsk: boolean;
  disputed: boolean;
}

/** `asked`, `pin` and `carried`: only from its own continuation. */
export async function unknownAction(
  raw: Question,
  asked = 0,
  pin: LedgerPin | null = null,
  carried: readonly Carried[] = [],
): Promise<QuestionEnd> {
  const problem = questionProblem(raw) ?? idProblem(raw);
  if (problem !== null)
    throw workflowFailure(
      'HoldfastInvalidInput',
      `${workflowInfo().workflowId}: not a question of a run (${problem}); ` +
        'questions are opened by runs, do not start one by hand',
    );
  const question = questionIn(raw);
  const { runId, actionId } = question.action;
  const session = newSession({ continueAs: null, pin, runId });
  const { recordVersion } = question.if_yes;
  const at: Inquiring = {
    ...{ session, question, asked, recordVersion, inputVersion: recordVersion },
    ...{ looked: 0, canAsk: true, disputed: false },
  };
  const about = { actionId, recordVersion: () => at.recordVersion };
  rejectOtherSignals(installDesk(session, about), ['resolve', 'lateFact']);
  session.show = () => show(at);
  session.workOff(carried);
  // Temporal's cancel of this workflow is no answer: the question stays open.
  return CancellationScope.nonCancellable(() => untilKnown(at));
}

function idProblem({ action, run }: Question): string | null {
  if (!isActionOf(action.runId, action.actionId) || run !== action.runId)
    return `${action.actionId} is no action of run ${action.runId}`;
  const expected = unknownIdOf(action.actionId);
  const { workflowId } = workflowInfo();
  return workflowId === expected ? null : `its workflow id has to be ${expected}`;
}

async function untilKnown(at: Inquiring): Promise<QuestionEnd> {
  const { session, question } = at;
  const { actionId } = question.action;
  let mode: 'look' | 'ask' = 'look';
  let state = '';
  for (;;) {
    const seen = session.hints.get(actionId);
    const reply = await inquire(at, mode);
    const end = endOf(actionId, reply);
    if (end !== null) return conclude(at, end, reply);
    const now = waitsForPerson(at) ? 'waiting_human' : 'unknown';
    if (now !== state) upsertSearchAttributes(questionPairs(at.question, now));
    state = now;
    show(at);
    await continueIfLong(at);
    const awake = () => session.hints.get(actionId) !== seen;
    const waitMs = fullJitter(inquiryBackoff, at.asked + 1, Math.random());
    const summary = at.canAsk ? 'ask the receiver again' : 'look at the ledger again';
    const hinted = await condition(awake, waitOf(at, waitMs), { summary });
    mode = !hinted && at.canAsk ? 'ask' : 'look';
  }
}

/** Where the receiver cannot be asked only the ledger is looked at, and ever more seldom. */
function waitOf(at: Inquiring, waitMs: number): number {
  if (at.canAsk) return waitMs;
  return Math.min(limits.inquiryBackoffMaxMs * 2 ** at.looked++, limits.reaskMaxMs);
}

async function inquire(at: Inquiring, mode: 'look' | 'ask'): Promise<InquireReply> {
  const { session, question } = at;
  const { actionId, attemptIds } = question.action;
  const reply = await lookAt(session, { actionId, attemptIds, wantsValue: false }, mode);
  if (mode === 'ask') at.asked++;
  at.canAsk = reply.canAsk;
  at.disputed = reply.disputed;
  at.recordVersion = reply.recordVersion;
  if (reply.question !== null) at.question = reply.question;
  return reply;
}

/** A dispute is not an end: a person has to say which of two outcomes holds. */
function endOf(actionId: string, reply: InquireReply): QuestionEnd | null {
  const end = answerIn(reply);
  if (end === 'open' || end === 'disputed') return null;
  return { actionId, end, outcome: reply.outcome?.kind ?? null };
}

function waitsForPerson({ asked, canAsk, disputed }: Inquiring): boolean {
  return disputed || !canAsk || asked >= limits.inquiriesBeforeEscalation;
}

/** The ledger has the verdict; a run that is gone reads it there when it is resumed. */
async function conclude(
  at: Inquiring,
  end: QuestionEnd,
  { outcome }: InquireReply,
): Promise<QuestionEnd> {
  const { session, question } = at;
  const { runId, actionId } = question.action;
  await condition(() => allHandled(session));
  upsertSearchAttributes(questionPairs(at.question, 'completed'));
  const outcomeDigest = outcome !== null && 'digest' in outcome ? outcome.digest : null;
  const fact = { actionId, attemptId: null, outcomeDigest };
  try {
    await getExternalWorkflowHandle(runId).signal(lateFactSignal, fact);
  } catch (error) {
    log.info('the run is gone; it reads the ledger when it is resumed', {
      run: runId,
      action: actionId,
      why: error instanceof Error ? error.message : String(error),
    });
  }
  session.phase = 'ended';
  await condition(() => allHandled(session));
  return end;
}

async function continueIfLong(at: Inquiring): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await departure(at.session);
  const { pin, carried } = at.session;
  await continueAsNew<typeof unknownAction>(at.question, at.asked, pin, carried);
}

function show(at: Inquiring): void {
  const { session, question, asked, canAsk, disputed, recordVersion, inputVersion } = at;
  const { lastRejection } = session;
  const progress: QuestionProgress = {
    ...{ asked, canAsk, disputed, lastRejection, waitsForPerson: waitsForPerson(at) },
    movedOnTo: recordVersion === inputVersion ? null : recordVersion,
  };
  setCurrentDetails(questionDetails(question, progress));
}
