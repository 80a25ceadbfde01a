// A question in words, with the answers to give: as the Web UI shows it.

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
    `last answer of the receiver: ${evidence.lastAnswer ?? '(none)'}`,
    `authority revision: ${evidence.authRevision}`,
  ];
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
