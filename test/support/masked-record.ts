// The record of a run without what differs from run to run by its nature, to compare two runs.

import type { Json } from '../../core/digest.ts';
import type { Fact } from '../../core/facts.ts';

/** Drawn, timed, or made from ids that were. Everything else has to be equal. */
export const maskedFields: ReadonlySet<string> = new Set([
  'at',
  'resendUntil',
  'prev',
  'entryToken',
  'firstExecutionRunId',
  'owner',
  'ledger',
  // Digests over action ids.
  'base',
  'rolled',
  // What the receiver calls it, and its answer with that name in it.
  'externalId',
  'result',
]);

export function maskedRecord(runId: string, facts: readonly Fact[]): Json {
  const masked = (value: Json, key: string): Json => {
    if (maskedFields.has(key)) return `<${key}>`;
    if (typeof value === 'string') return withoutIds(value, key, runId);
    if (Array.isArray(value)) return value.map((each) => masked(each, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, masked(each, name)]),
    );
  };
  return masked(JSON.parse(JSON.stringify(facts)) as Json, '');
}

function withoutIds(text: string, key: string, runId: string): string {
  // An outcome that is consumed is a digest over its action's id.
  if (key === 'outcome' && text.startsWith('sha256:')) return '<outcome digest>';
  return text.replaceAll(runId, '<run>').replaceAll(/~[0-9a-f]{16}/g, '~<attempt>');
}
