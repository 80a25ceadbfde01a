// What an adapter's receiver really promises, tried out on the real endpoint: `checkContract` says
// what it found of each field of the contract, `assertContract` throws where more is declared.
//
// The probes send real requests and cause real effects: point it at a test account. What it finds
// broken is broken; what held is no proof that it always does.

import { contractSchema } from '../core/contract.ts';
import { type Bench, openBench } from './contract-suite/bench.ts';
import { agingClosings, closingProbes } from './contract-suite/closing-probes.ts';
import { fencingProbes } from './contract-suite/fencing-probes.ts';
import { type ContractField, notChecked, type Probe } from './contract-suite/finding.ts';
import { identityProbes } from './contract-suite/identity-probes.ts';
import { inquiryProbes } from './contract-suite/inquiry-probes.ts';
import { agingProbes, recordProbes } from './contract-suite/record-probes.ts';
import { type ContractReport, type ProbeResult, reportOf } from './contract-suite/report.ts';
import { scopeProbes } from './contract-suite/scope-probes.ts';
import { sentText } from './contract-suite/sent.ts';
import { type ContractSubject, SubjectError } from './contract-suite/subject.ts';

export type { ContractField, Instead } from './contract-suite/finding.ts';
export type { ContractProblem, ContractReport, FieldReport } from './contract-suite/report.ts';
export { type ContractSubject, type EffectOf, SubjectError } from './contract-suite/subject.ts';
export type { PassingRequest } from './contract-suite/wire.ts';

/** In the order in which they are tried: the key first, and last what moves the time. */
export const contractProbes: readonly Probe[] = [
  ...identityProbes,
  ...scopeProbes,
  ...recordProbes,
  ...inquiryProbes,
  ...closingProbes,
  ...fencingProbes,
  ...agingProbes,
  ...agingClosings,
];

/**
 * Rejects with SubjectError where the set-up is wrong (an input that is not taken, a count that
 * counts nothing), and with whatever the author's own callbacks threw.
 */
export async function checkContract(subject: ContractSubject): Promise<ContractReport> {
  const bench = openBench(subject);
  try {
    const declared = contractSchema.parse(bench.tool.receiver ?? {});
    await checkSetUp(bench);
    const results: ProbeResult[] = [];
    const broken = new Set<ContractField>();
    for (const probe of contractProbes) {
      const missing = probe.missing?.(bench, broken) ?? null;
      const finding = missing === null ? await probe.run(bench, declared) : notChecked(missing);
      if (finding.kind === 'broken') broken.add(probe.field);
      results.push({ probe, finding });
    }
    return reportOf(bench.tool.name, declared, results);
  } finally {
    await bench.stop();
  }
}

/** An order that nobody disturbs is executed, and the author's count sees it. */
async function checkSetUp(bench: Bench): Promise<void> {
  const order = bench.order();
  const before = await bench.count(order);
  if (before !== 0)
    throw new SubjectError(`effects() counts ${before} of a request that was never sent`);
  const sent = await bench.send(order);
  const count = await bench.count(order);
  if (sent.kind !== 'done' || count !== 1)
    throw new SubjectError(
      `an ordinary request came to ${sentText(sent)} and effects() counts ${count}; ` +
        'it has to be executed and counted once before anything can be said',
    );
}

export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly report: ContractReport;
  constructor(report: ContractReport) {
    const lines = report.problems.flatMap(({ field, declared, saw, instead }) => [
      `  ${field}: declared ${JSON.stringify(declared)}; declare ${JSON.stringify(instead)}`,
      ...saw.map((line) => `    ${line}`),
    ]);
    const { tool, problems, declaredLevel, level } = report;
    super(
      `tool "${tool}" declares more than its receiver does in ${problems.length} field(s): ` +
        `${declaredLevel} by its declaration, ${level} by what was found\n${lines.join('\n')}`,
    );
    this.report = report;
  }
}

/** Throws ContractError where more is declared than was found; less is only a note. */
export function assertContract(report: ContractReport): void {
  if (report.problems.length > 0) throw new ContractError(report);
}
