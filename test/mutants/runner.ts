// Runs named tests in a copy of the tree, and reads what is reported of them.
//
// Owns: one test process per copy, started when it is first needed and kept: the tests of a mutant
// take less than the start of the test runner.
// INV-1 A test process leads a group of its own, and is ended by its pid; `endRunners` ends all.
// INV-2 What stands up once per start (a server, a bundle of the workflows) is made of the tree as
//       it was then: tests that need it have a process of their own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as z from 'zod';
import { bareTitle, escaped, type Report } from './mutant.ts';
import type { Tree } from './tree.ts';

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

export const requestSchema = z.object({
  files: z.array(z.string()),
  /** A regular expression. */
  titles: z.string(),
  /** Files that are other than at the request before. */
  changed: z.array(z.string()).readonly(),
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

/** INV-2: such a test cannot be run by a process that was started before its file was patched. */
export function isApart(test: string): boolean {
  return test.endsWith('.server.test.ts');
}

/** In a process of their own. */
export async function runApart({ root }: Tree, named: readonly Named[]): Promise<Report> {
  const own = startTestProcess(root);
  const report = await own.report({ ...requestOf(named), changed: [] });
  await own.end();
  return report;
}

export interface Runner {
  run(named: readonly Named[]): Promise<Report>;
  end(): Promise<void>;
}

/** In one process from the first call to the end; in another when that one was lost. */
export function runnerIn(tree: Tree): Runner {
  let kept: TestProcess | null = null;
  return {
    async run(named) {
      if (kept === null || kept.hasEnded()) kept = startTestProcess(tree.root);
      return kept.report({ ...requestOf(named), changed: tree.written() });
    },
    end: async () => kept?.end(),
  };
}

function requestOf(named: readonly Named[]) {
  const titles = [...new Set(named.map(({ red }) => escaped(bareTitle(red))))];
  return {
    files: [...new Set(named.map(({ test }) => test))],
    titles: `(?:${titles.join('|')})$`,
  };
}

interface TestProcess {
  report(request: z.infer<typeof requestSchema>): Promise<Report>;
  hasEnded(): boolean;
  end(): Promise<void>;
}

function startTestProcess(root: string): TestProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/mutants/test-process.ts'], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  /** The last words of its errors. */
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2_000);
  });
  // There is no `close` where the channel was closed from here.
  const gone = once(child, 'exit').then(() => void running.delete(child));
  const hasEnded = () => !running.has(child);
  const ready = Promise.race([once(child, 'message'), gone]);
  return {
    hasEnded,
    async report(request) {
      const late = setTimeout(() => killGroup(child.pid), ENDS_WITHIN_MS);
      await ready;
      const told = once(child, 'message');
      if (child.connected) child.send(request);
      const answer = await Promise.race([told, gone]);
      clearTimeout(late);
      if (answer !== undefined) return reportSchema.parse(answer[0]);
      return { tests: [], problem: `no report; ${said.trim()}` };
    },
    async end() {
      const late = setTimeout(() => killGroup(child.pid), ENDS_WITHIN_MS);
      if (child.connected) child.disconnect();
      await gone;
      clearTimeout(late);
    },
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
