// What a check prints: what was played, what happened, what was said, and each violation with all
// that is known about it.

import type { Claim } from './checker.ts';
import { type Play, strikeKinds, toolRows } from './operations.ts';
import { factsOf, type Report } from './play.ts';
import type { ClaimStage } from './stage.ts';

const SAID = ['executed', 'not_executed', 'partial', 'unknown'] as const;

export function reportText({ ops }: Play, report: Report): string {
  const said = new Map(report.claims.filter(isOfLedger).map((claim) => [claim.op, claim.said]));
  const rows = Object.entries(toolRows).map(([tool, { level }]) => {
    const own = ops.filter((op) => op.tool === tool).map(({ id }) => said.get(id));
    const counts = SAID.map((word) => own.filter((each) => each === word).length);
    return [`${level} ${tool}`, own.length, ...counts];
  });
  const totals = SAID.map((word) => [...said.values()].filter((each) => each === word).length);
  return [
    line(['operations', 'all', ...SAID]),
    ...rows.map(line),
    line(['together', ops.length, ...totals]),
    ...[...report.faults].sort(byKind).map(([kind, count]) => line([kind, count])),
    ...counted(report.ends).map(([end, count]) => line([`run ${end}`, count])),
    line(['effects', report.effects.length]),
    line(['violations', report.violations.length]),
    ...report.problems.map((problem) => `PROBLEM ${problem}`),
    '',
  ].join('\n');
}

export async function violationText(
  stage: ClaimStage,
  { ops }: Play,
  { violations, effects }: Report,
): Promise<string> {
  const lines: string[] = [];
  for (const op of new Set(violations.map((each) => each.op))) {
    const { tool, requests, asks } = ops.find(({ id }) => id === op) ?? {};
    const keys = effects.filter((effect) => effect.op === op).map(({ key }) => key ?? 'no key');
    for (const { kind, text } of violations.filter((each) => each.op === op))
      lines.push(`FALSE ${kind} ${op} (${tool ?? 'nobody asked for it'}): ${text}`);
    lines.push(`    played: ${JSON.stringify({ requests, asks })}`);
    lines.push(`    effects at the receiver: ${keys.join(', ') || 'none'}`);
    lines.push(...(await factsOf(stage, op)).map((fact) => `    ${fact}`), '');
  }
  return lines.join('\n');
}

function isOfLedger({ by }: Claim): boolean {
  return by === 'ledger';
}

function line([name, ...counts]: readonly (string | number)[]): string {
  return `${String(name).padEnd(24)}${counts.map((each) => String(each).padStart(13)).join('')}`;
}

function counted(words: readonly string[]): readonly (readonly [string, number])[] {
  return [...new Set(words)].map((word) => [word, words.filter((each) => each === word).length]);
}

/** What happened to processes comes first. */
function byKind([left]: readonly [string, number], [right]: readonly [string, number]): number {
  const rank = (kind: string) => ((strikeKinds as readonly string[]).includes(kind) ? 0 : 1);
  return rank(left) - rank(right) || left.localeCompare(right);
}
