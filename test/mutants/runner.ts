// Runs named tests in a copy of the tree, and reads what the test runner reports of them.
//
// INV-1 A runner is the leader of a group of its own, and ended by its pid; `endRunners` ends all.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { bareTitle, escaped, type Report } from './mutant.ts';
import { REPORT_VARIABLE } from './reporter.ts';

const reportSchema: z.ZodType<Report> = z.object({
  tests: z.array(
    z.object({
      file: z.string(),
      title: z.string(),
      passed: z.boolean(),
      failures: z.array(z.string()),
    }),
  ),
  problem: z.string().nullable(),
});

/** A give-up limit: a guard that is gone may leave a test that waits for ever. */
const ENDS_WITHIN_MS = 300_000;

const running = new Set<ChildProcess>();

/** With everything that they started: their workers and servers are of the same group. */
export function endRunners(): void {
  for (const { pid } of running) killGroup(pid);
}

export interface Named {
  readonly test: string;
  readonly red: string;
}

export async function runTests(root: string, named: readonly Named[]): Promise<Report> {
  const files = [...new Set(named.map(({ test }) => test))];
  const titles = [...new Set(named.map(({ red }) => escaped(bareTitle(red))))];
  const output = join(root, 'report.json');
  await rm(output, { force: true });
  const child = spawn(
    process.execPath,
    [
      ...['node_modules/vitest/vitest.mjs', 'run', ...files, '-t', `(?:${titles.join('|')})$`],
      ...['--reporter', './test/mutants/reporter.ts', '--cache=false', '--no-color'],
    ],
    {
      cwd: root,
      env: { ...process.env, [REPORT_VARIABLE]: output },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const said = await endOf(child);
  const text = await readFile(output, 'utf8').catch(() => null);
  return text === null
    ? { tests: [], problem: `no report; ${said}` }
    : reportSchema.parse(JSON.parse(text));
}

/** The last words of its errors. */
async function endOf(child: ChildProcess): Promise<string> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2_000);
  });
  const late = setTimeout(() => killGroup(child.pid), ENDS_WITHIN_MS);
  running.add(child);
  await once(child, 'close');
  running.delete(child);
  clearTimeout(late);
  return said.trim();
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
