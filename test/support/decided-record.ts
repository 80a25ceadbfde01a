// The record of a run by what was decided and done in it: without ids, times, the order of what
// happens side by side, and attempts that a crowded machine made for nothing.

import type { Fact } from '../../core/facts.ts';
import { maskedRecord } from './masked-record.ts';

const byMachine: ReadonlySet<string> = new Set(['authority_unavailable', 'attempt_not_current']);
/** Numbers of facts, of attempts, and of what others did to the same account. */
const counted: ReadonlySet<string> = new Set(['seq', 'number', 'objectVersion']);

/** One line of JSON for each fact, sorted. */
export function decidedRecord(runId: string, facts: readonly Fact[]): readonly string[] {
  const vain = facts.flatMap(({ body }) => {
    if (body.kind === 'attempt_refused')
      return byMachine.has(body.verdict) ? (body.attemptId ?? []) : [];
    return body.kind === 'attempt_settled' && body.outcome === 'not_sent' ? body.attemptId : [];
  });
  return facts
    .filter(({ body }) => !('attemptId' in body && vain.some((id) => id === body.attemptId)))
    .map((fact) => lineOf(runId, fact))
    .sort();
}

/** A model is told what receivers answered, which is another answer each time. */
function lineOf(runId: string, fact: Fact): string {
  const line = JSON.stringify(maskedRecord(runId, [fact]), (name, value) =>
    counted.has(name) ? `<${name}>` : value,
  );
  const isModel = 'actionId' in fact.body && fact.body.actionId?.endsWith('.m') === true;
  return isModel ? line.replaceAll(/sha256:[0-9a-f]+/g, '<digest>') : line;
}
