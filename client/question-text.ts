// A question in words, with the answers to give: as the Web UI shows it.

import type { ResolveCommand } from '../core/commands.ts';
import type { Json } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import { marksText } from '../core/marks-text.ts';
import type { Question } from '../core/question.ts';
import type { DistinctQuestion } from './distinctions.ts';
import { jsonLines } from './lines.ts';

export function questionLines(question: Question): string[] {
  const { evidence, action } = question;
  return [
    question.question,
    `run: ${question.run}`,
    `action: ${action.actionId}`,
    `record version: ${question.if_yes.recordVersion}`,
    `tool: ${evidence.tool}, level ${evidence.level}${promisesText(evidence)}`,
    `receiver: ${evidence.receiver ?? '(none stated)'}`,
    `key at the receiver: ${evidence.receiverKey}`,
    `payload: ${evidence.payloadDigest}`,
    `entered: ${evidence.enteredAt} (${evidence.attempts.join(', ')})`,
    `verification: ${evidence.why}`,
    ...(evidence.resendUntil == null ? [] : [`the key is kept until: ${evidence.resendUntil}`]),
    ...undoLines(evidence.compensation),
    ...(evidence.marks === undefined ? [] : [`to be recognised by: ${marksText(evidence.marks)}`]),
    ...(evidence.doubt == null ? [] : [`in doubt: ${evidence.doubt}`]),
    `last answer of the receiver: ${evidence.lastAnswer ?? '(none)'}`,
    `authority revision: ${evidence.authRevision}`,
    ...outcomeLines(question),
  ];
}

function promisesText({ closing, fencing }: Question['evidence']): string {
  // Questions of earlier versions do not say.
  if (closing === undefined || fencing === undefined) return '';
  return ` (closing: ${closing}, fencing: ${fencing})`;
}

function undoLines(compensation: readonly string[] = []): string[] {
  if (compensation.length === 0) return [];
  return [`if it took effect, it could be undone by: ${compensation.join(', ')}`];
}

/** Of a dispute: what contradicts what. */
export function outcomeLines({ outcomes = [] }: Question): string[] {
  return outcomes.map(({ outcome, source }) => `  ${outcome}, says ${source}`);
}

/** What waits because it looks like another one in doubt. */
export function distinctLines(question: DistinctQuestion, sent: readonly string[]): string[] {
  const { actionId, run, twin, answer, evidence, follows } = question;
  return [
    question.question,
    ...[`run: ${run}`, `action: ${actionId}`, `record version: ${answer.recordVersion}`],
    `the other one: ${twin}; see: holdfast resolve ${twin}`,
    `payload: ${evidence.payloadDigest ?? '(only the ledger tells)'}`,
    ...sent,
    `if both are wanted${followsText(follows, answer)}:`,
    ...jsonLines(answer, '  '),
  ];
}

function followsText(follows: Question['follows'], { verb }: ResolveCommand): string {
  const words = follows?.[verb];
  return words === undefined ? '' : ` (${words})`;
}

/** What the receiver was sent: with it a person finds the effect in the receiver's own records. */
export function sentLines(sent: Json, title = 'sent'): string[] {
  if (sent === null) return [`${title}: (only the ledger has it; name it with --ledger)`];
  const lines = jsonLines(sent, '  ');
  const more = lines.length - limits.sentLinesMax;
  const shown = lines.slice(0, limits.sentLinesMax);
  return [`${title}:`, ...shown, ...(more > 0 ? [`  … ${more} more lines; see --json`] : [])];
}

/** The answers as JSON, for `--json-command` or for pasting into the Web UI. */
export function answerLines({ if_yes, if_no, more, follows }: Question): string[] {
  const titled = (title: string, answer: ResolveCommand) => [
    `${title}${followsText(follows, answer)}:`,
    ...jsonLines(answer, '  '),
  ];
  return [
    ...titled('if yes', if_yes),
    ...titled('if no', if_no),
    ...more.flatMap((answer) => titled('or', answer)),
  ];
}
