// What every ledger must do, as a list of checks that any adapter can run against itself. Bring
// your own test runner, or none: `conformanceFailures` runs them and says what failed.
//
// SIGKILL takes a process's memory and leaves the operating system's: the checks find a store that
// answers before it has written, not one that leaves out fsync: that is the adapter's to state.

import { processChecks } from './conformance/process-checks.ts';
import { viewChecks } from './conformance/view-checks.ts';
import { writeChecks } from './conformance/write-checks.ts';
import type { WriterCommand } from './conformance/writer-process.ts';
import type { Ledger } from './port.ts';

export { serveWriter } from './conformance/writer.ts';

export interface LedgerAdapter {
  readonly name: string;
  /** A place where no ledger is yet. */
  newLocation(): Promise<string>;
  /** Creates the ledger where there is none. `clock` stands in for the machine's. */
  open(location: string, clock?: () => number): Promise<Ledger>;
  /** A program that opens the ledger there and calls `serveWriter` with its standard streams. */
  writerProcess(location: string): WriterCommand;
}

export interface Check {
  /** Which invariant of the port, and what happens. */
  readonly name: string;
  run(adapter: LedgerAdapter, random: () => number): Promise<void>;
}

export const conformanceChecks: readonly Check[] = [
  ...writeChecks,
  ...viewChecks,
  ...processChecks,
];

/** What vitest, jest, mocha and node:test have in common. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  /** `timeoutMs` is what a slow machine needs, not what a fast one takes. */
  it(name: string, body: () => Promise<void>, timeoutMs: number): void;
}

const CHECK_TIMEOUT_MS = 120_000;

/** Declares one test per check. `seed` decides when writers are killed. */
export function ledgerConformance(adapter: LedgerAdapter, runner: TestRunner, seed: number): void {
  runner.describe(`${adapter.name} keeps the ledger's contract (seed ${seed})`, () => {
    for (const check of conformanceChecks)
      runner.it(check.name, () => check.run(adapter, randomFrom(seed)), CHECK_TIMEOUT_MS);
  });
}

export interface ConformanceFailure {
  readonly check: string;
  readonly error: unknown;
}

/** Runs the checks, all or those whose name has `only` in it; empty when the adapter conforms. */
export async function conformanceFailures(
  adapter: LedgerAdapter,
  { seed, only = '' }: { seed: number; only?: string },
): Promise<ConformanceFailure[]> {
  const failures: ConformanceFailure[] = [];
  for (const check of conformanceChecks.filter(({ name }) => name.includes(only))) {
    try {
      await check.run(adapter, randomFrom(seed));
    } catch (error) {
      failures.push({ check: check.name, error });
    }
  }
  return failures;
}

/** mulberry32: numbers in [0, 1), the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
