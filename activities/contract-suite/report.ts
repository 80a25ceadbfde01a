// What was declared beside what was found, field by field, and the level that follows.

import { type Contract, type Level, levelOf } from '../../core/contract.ts';
import type { ContractField, Finding, Instead, Probe } from './finding.ts';

export interface ProbeResult {
  readonly probe: Probe;
  readonly finding: Finding;
}

export interface FieldReport {
  readonly field: ContractField;
  readonly declared: Contract[ContractField];
  /** A field that is `none` holds by promising nothing. */
  readonly found: 'held' | 'broken' | 'not checked';
  /** What was done and what was seen, a line for each probe. */
  readonly how: readonly string[];
}

/** More is declared than was found. */
export interface ContractProblem {
  readonly field: ContractField;
  readonly declared: Contract[ContractField];
  readonly saw: readonly string[];
  /** What may be declared after all. */
  readonly instead: Instead;
}

export interface ContractReport {
  readonly tool: string;
  readonly declaredLevel: Level;
  /** Of what was found; what could not be checked is taken on its author's word. */
  readonly level: Level;
  readonly fields: readonly FieldReport[];
  readonly problems: readonly ContractProblem[];
  /** Less is declared than was found, or something could not be checked. */
  readonly notes: readonly string[];
}

const fieldsInOrder: readonly ContractField[] = [
  'scope',
  'identity',
  'retentionMs',
  'requestDelayMaxMs',
  'inquiry',
  'closing',
  'fencing',
  'continuing',
];

export function reportOf(
  tool: string,
  declared: Contract,
  results: readonly ProbeResult[],
): ContractReport {
  const seen = fieldsInOrder.map((field) => ({
    field,
    declared: declared[field],
    results: results.filter(({ probe }) => probe.field === field),
  }));
  const problems = seen.flatMap(problemsOf);
  const found: Contract = Object.assign({}, declared, ...problems.map(({ instead }) => instead));
  return {
    tool,
    declaredLevel: levelOf(declared),
    level: levelOf(found),
    fields: seen.map(fieldReportOf),
    problems,
    notes: seen.flatMap(notesOf),
  };
}

interface SeenField {
  readonly field: ContractField;
  readonly declared: Contract[ContractField];
  readonly results: readonly ProbeResult[];
}

function problemsOf({ field, declared, results }: SeenField): ContractProblem[] {
  const lies = results.filter(({ finding }) => finding.kind === 'broken');
  if (declared === 'none' || lies.length === 0) return [];
  const instead = lies.flatMap(({ finding }) =>
    finding.kind === 'broken' ? [finding.instead] : [],
  );
  // Of several, the one that promises nothing.
  const least = instead.find((one) => one[field] === 'none') ?? instead[0] ?? {};
  return [{ field, declared, saw: lies.map(lineOf), instead: least }];
}

function fieldReportOf(seen: SeenField): FieldReport {
  const { field, declared, results } = seen;
  const how = results.map(lineOf);
  if (problemsOf(seen).length > 0) return { field, declared, found: 'broken', how };
  if (declared === 'none' || wasTried(seen)) return { field, declared, found: 'held', how };
  return { field, declared, found: 'not checked', how };
}

function notesOf(seen: SeenField): string[] {
  const { field, declared, results } = seen;
  if (declared !== 'none') return wasTried(seen) ? [] : [`${field}: declared, not checked`];
  const isMore = wasTried(seen) && results.every(({ finding }) => finding.kind !== 'broken');
  return isMore ? [`${field}: nothing is declared, and what was tried held`] : [];
}

function wasTried({ results }: SeenField): boolean {
  return results.some(({ finding }) => finding.kind !== 'not_checked');
}

function lineOf({ probe, finding }: ProbeResult): string {
  const saw = finding.kind === 'not_checked' ? `not checked: ${finding.why}` : finding.saw;
  return `${probe.name} (${probe.rules.join(', ')}) -> ${saw}`;
}
