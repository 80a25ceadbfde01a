// A program of another project, as a process of its own: `node <file>` in that project's folder.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const READY_WITHIN_MS = 60_000;

export interface InstalledProgram {
  /** What stood behind READY. */
  readonly ready: string;
  /** SIGTERM; returns when the process is gone. Rejects when its exit status is not 0. */
  stop(): Promise<void>;
}

/** Waits for its line `READY …`. Rejects, with what it wrote, when it ends before or takes long. */
export async function startInstalled(
  file: string,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<InstalledProgram> {
  const child = spawn(process.execPath, [file], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  const late = setTimeout(() => child.kill('SIGKILL'), READY_WITHIN_MS);
  const ready = await new Promise<string | null>((resolve) => {
    const look = (chunk: Buffer) => {
      written += chunk.toString('utf8');
      const line = /^READY *(.*)\n/m.exec(written);
      if (line !== null) resolve(line[1] ?? '');
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('close', () => resolve(null));
  });
  clearTimeout(late);
  if (ready === null) throw new Error(`${file} ended before it was ready: ${written}`);
  const stop = async () => {
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null;
    child.kill('SIGTERM');
    await gone;
    if (child.exitCode !== 0)
      throw new Error(`${file} ended with ${child.exitCode ?? child.signalCode}: ${written}`);
  };
  return { ready, stop };
}
