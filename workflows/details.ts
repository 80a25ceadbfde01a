// What an operator reads on the pages of a run and of a question. At most ten short lines where a
// worker answers; the question and its answers to paste also stand in input and static details,
// which need none.

import { workflowInfo } from '@temporalio/workflow';
import { unknownIdOf } from '../core/ids.ts';
import { codeSpan, escaped, fencedJson, summaryText } from '../core/markdown.ts';
import { marksText } from '../core/marks-text.ts';
import type { RunResult } from '../core/outcome.ts';
import { approvalTo, distinctTo, topUpTo } from '../core/paste.ts';
import type { Question } from '../core/question.ts';
import type { Session } from './session.ts';

export interface QuestionProgress {
  readonly asked: number;
  readonly canAsk: boolean;
  readonly waitsForPerson: boolean;
  readonly lastRejection: string | null;
  readonly disputed: boolean;
  /** The record version an answer has to name, where it is no longer the input's. */
  readonly movedOnTo: number | null;
}

/** A timeline shows 300, but a bar is seldom that long. */
const summaryCharsMax = 180;

/** For `startChild`: survives without a worker. */
export function staticQuestionOf(question: Question): {
  readonly staticSummary: string;
  readonly staticDetails: string;
} {
  const { evidence, action } = question;
  return {
    staticSummary: summaryText(
      `unknown: ${evidence.tool.split(' ')[0] ?? ''} ${action.actionId}`,
      summaryCharsMax,
    ),
    staticDetails: [
      `**${escaped(question.question)}**`,
      `Run ${runLink(question.run)}; level ${evidence.level}; ` +
        `receiver: ${escaped(evidence.receiver ?? 'not named')}`,
      'Send the signal `resolve` (More Actions) with one of these, every `FILL IN` replaced.',
      ...outcomeLines(question),
      'It happened:',
      fencedJson(question.if_yes),
      'It did not happen:',
      fencedJson(question.if_no),
    ].join('\n\n'),
  };
}

/** The child's current details. */
export function questionDetails(question: Question, progress: QuestionProgress): string {
  const { lastRejection } = progress;
  return [
    `**${escaped(question.question)}**`,
    ...(lastRejection === null ? [] : [`**Last answer rejected:** ${escaped(lastRejection, 400)}`]),
    stateLine(progress),
    `Run ${runLink(question.run)}, authority revision ${question.evidence.authRevision}.`,
    ...(progress.disputed ? disputeLines(question) : unknownLines(question, progress)),
  ].join('\n\n');
}

function unknownLines(question: Question, progress: QuestionProgress): string[] {
  const { why, lastAnswer, resendUntil } = question.evidence;
  return [
    `Why unknown: ${escaped(why)}`,
    ...doubtLine(question),
    ...marksLine(question),
    `Last answer of the receiver: ${escaped(lastAnswer ?? 'none yet')}`,
    ...(resendUntil == null ? [] : [`Its key is kept until ${escaped(resendUntil)}.`]),
    'Signal `resolve`: paste `if_yes`, `if_no` or one of `more` from this page’s Input, ' +
      'as one whole JSON object, every `FILL IN` replaced.',
    ...movedOn(question, progress),
  ];
}

/** The answers stand here: those in the input may be from before the dispute. */
function disputeLines(question: Question): string[] {
  return [
    ...outcomeLines(question),
    'Signal `resolve`, every `FILL IN` replaced. It took effect:',
    fencedJson(question.if_yes),
    'It did not:',
    fencedJson(question.if_no),
  ];
}

function outcomeLines({ outcomes = [] }: Question): string[] {
  return outcomes.map(
    ({ outcome, source }) => `- ${escaped(outcome, 200)}, says ${escaped(source, 300)}`,
  );
}

function doubtLine({ evidence }: Question): string[] {
  // A question of an earlier version has none.
  return evidence.doubt == null ? [] : [`In doubt: ${escaped(evidence.doubt, 1_000)}`];
}

function marksLine({ evidence: { marks } }: Question): string[] {
  return marks === undefined ? [] : [`To be recognised by: ${escaped(marksText(marks), 1_000)}`];
}

/** The input never changes, but what an answer has to be based on does. */
function movedOn(question: Question, { movedOnTo: recordVersion }: QuestionProgress): string[] {
  if (recordVersion === null) return [];
  const id = `${unknownIdOf(question.action.actionId)}/${recordVersion}/answer`;
  return [
    'The record has moved on since. In what you paste, set:',
    fencedJson({ id, recordVersion }),
  ];
}

function stateLine({ asked, canAsk, waitsForPerson, disputed }: QuestionProgress): string {
  if (disputed) return 'Two answers contradict each other. Waiting for a person.';
  const receiver = canAsk
    ? `The receiver was asked ${asked} times`
    : 'The receiver cannot be asked';
  return `${receiver}. ${waitsForPerson ? 'Waiting for a person.' : 'It is asked again.'}`;
}

const unknownsShown = 4;
/** Besides the one whose JSON is shown; the next one's comes when that is decided. */
const othersShown = 3;
const lateShown = 3;

/** The run's current details. */
export function runDetails(session: Session): string {
  const { runId, phase, stop, waitingFor, scheduled, unknowns, lastRejection, opened } = session;
  const { result } = session;
  const { goal = 0, auth = 0 } = opened?.authority.revisions ?? {};
  const open = [...unknowns.keys()];
  const lines = [
    `**${escaped(runId)}**: ${stop === null ? phase : `stopped (${stop})`}`,
    // Above what is to be pasted: below it would be out of sight.
    ...(lastRejection === null
      ? []
      : [`**Last command rejected:** ${escaped(lastRejection, 400)}`]),
    `Authority revision ${auth}${goal > 1 ? `, goal revision ${goal}` : ''}. ` +
      `Scheduled: ${scheduled.size}. Open questions: ${open.length}${oldestOf(session)}.`,
    ...open.slice(0, unknownsShown).map((actionId) => `- ${questionLink(actionId)}`),
  ];
  if (open.length > unknownsShown) lines.push(`- and ${open.length - unknownsShown} more`);
  lines.push(...approvalLines(session), ...twinLines(session), ...budgetLines(session));
  if (waitingFor !== null) lines.push(`Waiting for ${escaped(waitingFor)}`);
  if (result !== null) lines.push(...endLines(result));
  return lines.join('\n\n');
}

function oldestOf({ unknowns, unknownSince }: Session): string {
  const since = [...unknowns.keys()].flatMap((actionId) => unknownSince.get(actionId) ?? []);
  const [oldest] = since.sort();
  return oldest === undefined ? '' : `, the oldest since ${escaped(oldest)}`;
}

/** What the work came to, apart from that it has stopped. */
function endLines(result: RunResult): string[] {
  const { effectsCount, unknownsCount, lateFacts, lateFactsCount, costText } = result;
  const more = lateFactsCount - Math.min(lateFacts.length, lateShown);
  return [
    `Effects: ${effectsCount}. Unknown: ${unknownsCount}. Late results: ${lateFactsCount}. ` +
      `Nothing was undone. Cost: ${escaped(costText)}.`,
    ...lateFacts
      .slice(0, lateShown)
      .map(
        ({ actionId, outcome, authRevision }) =>
          `- late: ${escaped(actionId)}, ${outcome.replaceAll('_', ' ')}, ` +
          `under authority revision ${authRevision}`,
      ),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ];
}

/** What is asked exactly stands in the ledger: a payload never crosses history. */
function approvalLines({ approvals }: Session): string[] {
  const [first, ...others] = [...approvals].map(([actionId, asked]) => ({ actionId, ...asked }));
  if (first === undefined) return [];
  const { actionId, tool, bound, earlier } = first;
  const more = others.length - othersShown;
  return [
    `**Approve?** ${escaped(tool)}, ${escaped(actionId)}. Its input: ` +
      `${codeSpan(`holdfast approve ${actionId}`)}. Signal \`approve\` or \`deny\`:`,
    fencedJson(approvalTo(actionId, bound, earlier)),
    ...others
      .slice(0, othersShown)
      .map((other) => `- then ${escaped(other.tool)}, ${escaped(other.actionId)}`),
    ...(more > 0 ? [`- and ${more} more to approve`] : []),
  ];
}

/** Settled, the other one holds nobody back any more either. */
function twinLines({ twins }: Session): string[] {
  const [first, ...others] = [...twins].map(([actionId, each]) => ({ actionId, ...each }));
  if (first === undefined) return [];
  const { actionId, tool, twin, recordVersion } = first;
  return [
    `**Another wish?** ${escaped(tool)}, ${escaped(actionId)}, looks the same as ` +
      `${questionLink(twin)}, which is in doubt. Answer that one; or, if both are wanted, ` +
      'signal `resolve` to this run:',
    fencedJson(distinctTo(actionId, twin, recordVersion)),
    ...others
      .slice(0, othersShown)
      .map((other) => `- then ${escaped(other.tool)}, ${escaped(other.actionId)}`),
    ...(others.length > othersShown ? [`- and ${others.length - othersShown} more`] : []),
  ];
}

function budgetLines({ exhausted, runId }: Session): string[] {
  if (exhausted === null) return [];
  return [
    `**Budget exhausted:** ${escaped(exhausted, 400)}. ` +
      'Signal `topUp`; the amount is a number, without quotes:',
    fencedJson(topUpTo(runId, exhausted)),
  ];
}

function questionLink(actionId: string): string {
  return workflowLink(unknownIdOf(actionId), actionId);
}

function runLink(runId: string): string {
  return workflowLink(runId, runId);
}

/** Relative links are a 404 in the Web UI. */
function workflowLink(workflowId: string, text: string): string {
  const namespace = linkPart(workflowInfo().namespace);
  return `[${escaped(text)}](/namespaces/${namespace}/workflows/${linkPart(workflowId)})`;
}

/** `encodeURIComponent` leaves what would end a Markdown link. */
function linkPart(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
