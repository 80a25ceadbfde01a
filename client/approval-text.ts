// What a person is asked to approve, in words, with the JSON to paste.

import type { ApprovalQuestion } from './approvals.ts';
import { jsonLines } from './lines.ts';

/** `sent`: the input, as lines of its own. */
export function approvalLines(question: ApprovalQuestion, sent: readonly string[]): string[] {
  const { answer, evidence, run, actionId, signals } = question;
  const { tool, payloadDigest, revisions, versions, validForMs } = evidence;
  return [
    question.question,
    `run: ${run}`,
    `action: ${actionId}`,
    `tool: ${tool}`,
    `bound: ${answer.bound}`,
    `payload: ${payloadDigest ?? '(only the ledger has it)'}`,
    ...(revisions === null
      ? []
      : [`goal revision ${revisions.goal}, authority revision ${revisions.auth}`]),
    ...Object.entries(versions).map(([what, version]) => `${what}: ${version}`),
    `a decision holds: ${validForMs === null ? 'until it is used' : `${validForMs} ms`}`,
    ...sent,
    `to decide, as the signal (or update) ${signals.join(' or ')}:`,
    ...jsonLines(answer, '  '),
  ];
}
