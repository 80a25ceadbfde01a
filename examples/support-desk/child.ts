// A process of ours, watched by its own pid: its lines, its death, and that it dies with us.
//
// INV-1 After kill() and stop() the process is gone, frozen or not: signal 0 finds nobody.
// INV-2 Nothing is ever killed by name.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { watch } from '../../workers/child-server.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LF = 0x0a;
const STOP_MS = 10_000;
const SAID_CHARS = 2_000;

export interface ChildOptions {
  /** TypeScript or JavaScript file from the root of the project, and its arguments. */
  readonly script: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  /** Its stderr is added to this file. */
  readonly logPath: string;
}

export interface Child {
  readonly pid: number;
  /** The first line so far, or to come, that begins with `start`, without it; at most once each. */
  line(start: string, withinMs: number): Promise<string>;
  /** Writes a line to its stdin. */
  tell(line: string): void;
  hasEnded(): boolean;
  /** SIGSTOP: from then on it does nothing, and its connections stay open. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** SIGKILL. Throws when the process is still there afterwards. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL when it does not listen. */
  stop(): Promise<void>;
}

export async function startChild({ script, env, logPath }: ChildOptions): Promise<Child> {
  const log = openSync(logPath, 'a');
  const child = spawn(process.execPath, [...loaderOf(script[0]), ...script], {
    cwd: ROOT,
    env: { ...inherited(), ...env },
    stdio: ['pipe', 'pipe', log],
    detached: true, // Ctrl-C reaches us first, and we end it
  });
  closeSync(log);
  await once(child, 'spawn');
  const { pid, stdin, stdout } = child;
  if (pid === undefined || stdin === null || stdout === null)
    throw new Error(`${script[0]} has no process id`);
  const watcher = watch(pid);
  const exit = once(child, 'exit').then(() => watcher.kill('SIGKILL'));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const lines = linesOf(child);
  return {
    pid,
    line: (start, withinMs) =>
      lines.next(start, withinMs, () => `${script[0]} (${pid})${endOf(logPath)}`),
    tell: (line) => void stdin.write(`${line}\n`),
    hasEnded,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async kill() {
      if (!hasEnded()) child.kill('SIGKILL');
      await exit;
      assertGone(pid);
    },
    async stop() {
      if (!hasEnded()) child.kill('SIGTERM');
      child.kill('SIGCONT'); // a frozen one would hear of it only then
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exit;
      clearTimeout(timer);
      assertGone(pid);
    },
  };
}

function loaderOf(file: string): readonly string[] {
  return file.endsWith('.ts') ? ['--import', 'tsx'] : [];
}

/** Settings of an installation on this machine are none of ours; where the binaries are kept is. */
function inherited(): NodeJS.ProcessEnv {
  const ours = (name: string) => name === 'HOLDFAST_CACHE' || !name.startsWith('HOLDFAST_');
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => ours(name)));
}

function assertGone(pid: number): void {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw error;
  }
  throw new Error(`process ${pid} is still there after it was killed`);
}

/** Lines of stdout as they come. Split at LF only: readline would also break at U+2028. */
function linesOf(child: ChildProcess) {
  const lines: string[] = [];
  let rest = Buffer.alloc(0);
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const go of waiting) go();
    waiting.clear();
  };
  child.stdout?.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF)) {
      lines.push(rest.subarray(0, end).toString('utf8'));
      rest = rest.subarray(end + 1);
    }
    wake();
  });
  // Only then all that it said has been read: it may have ended before that.
  let isSilent = false;
  child.once('close', () => {
    isSilent = true;
    wake();
  });
  const next = async (start: string, withinMs: number, who: () => string): Promise<string> => {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const index = lines.findIndex((line) => line.startsWith(start));
      if (index !== -1) return lines.splice(index, 1)[0]?.slice(start.length) ?? '';
      if (isSilent) throw new Error(`ended before it said ${start.trim()}: ${who()}`);
      if (Date.now() >= deadline)
        throw new Error(`did not say ${start.trim()} within ${withinMs} ms: ${who()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        waiting.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  };
  return { next };
}

function endOf(logPath: string): string {
  const said = readFileSync(logPath, 'utf8').trim().slice(-SAID_CHARS);
  return said === '' ? '' : `; it said:\n${said}`;
}
