// A question in words, with the answers to give: as the Web UI shows it.

import type { Json } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import type { Question } from '../core/question.ts';
import { jsonLines } from './lines.ts';

export function questionLines(question: Question): string[] {
  const { evidence, action } = question;
  return [
    question.question,
    `run: ${question.run}`,
    `action: ${action.actionId}`,
    `record version: ${question.if_yes.recordVersion}`,
    `tool: ${evidence.tool}, level ${evidence.level}`,
    `receiver: ${evidence.receiver ?? '(none stated)'}`,
    `key at the receiver: ${evidence.receiverKey}`,
    `payload: ${evidence.payloadDigest}`,
    `entered: ${evidence.enteredAt} (${evidence.attempts.join(', ')})`,
    `verification: ${evidence.why}`,
    ...(evidence.doubt == null ? [] : [`in doubt: ${evidence.doubt}`]),
    `last answer of the receiver: ${evidence.lastAnswer ?? '(none)'}`,
    `authority revision: ${evidence.authRevision}`,
  ];
}

/** What the receiver was sent: with it a person finds the effect in the receiver's own records. */
export function sentLines(sent: Json, title = 'sent'): string[] {
  if (sent === null) return [`${title}: (only the ledger has it; name it with --ledger)`];
  const lines = jsonLines(sent, '  ');
  const more = lines.length - limits.sentLinesMax;
  const shown = lines.slice(0, limits.sentLinesMax);
  return [`${title}:`, ...shown, ...(more > 0 ? [`  … ${more} more lines; see --json`] : [])];
}

/** The four answers as JSON, for `--json-command` or for pasting into the Web UI. */
export function answerLines({ if_yes, if_no, more }: Question): string[] {
  return [
    'if yes:',
    ...jsonLines(if_yes, '  '),
    'if no:',
    ...jsonLines(if_no, '  '),
    'or:',
    ...more.flatMap((answer) => jsonLines(answer, '  ')),
  ];
}
