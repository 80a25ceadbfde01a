// A server as a child process.
//
// Owns: the process, the end of what it printed, and its death together with ours.
// Does not own: what the server stores, nor how one asks it for its health.
// INV-1 After stop() the process is gone.
// INV-2 When this process ends, however it ends, the server is told to end: a watcher holds the
//       read end of a pipe whose write end only we hold. An exit hook would miss SIGKILL.
// INV-3 Nothing is killed by name, and nothing once the server's exit was seen: its pid may be
//       another's by then.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { limits } from '../core/limits.ts';

const SAID_CHARS = 8_000;

export interface ChildServer {
  readonly pid: number;
  /** The end of what it printed; for error messages. */
  said(): string;
  hasEnded(): boolean;
  /** SIGTERM, and SIGKILL after `embeddedStopMs`. May be called again. */
  stop(): Promise<void>;
}

/** Throws when the program cannot be started. `detached`: Ctrl-C must reach us first, not it. */
export async function startChildServer(
  file: string,
  args: readonly string[],
): Promise<ChildServer> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const said = endOfOutput(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${file} does not start: ${error.message}`)));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${file} has no process id`);
  const watcher = watch(pid);
  const ended = once(child, 'exit').then(() => watcher.kill('SIGKILL'));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (hasEnded()) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), limits.embeddedStopMs);
    await ended;
    clearTimeout(timer);
  };
  for (const handle of [child, child.stdout, child.stderr]) unref(handle);
  return { pid, said, hasEnded, stop };
}

/** The watcher reads until our end of its pipe closes, then ends `pid`, be it frozen or not. */
export function watch(pid: number): ChildProcess {
  const script = 'read -r _; kill -TERM "$1"; kill -CONT "$1"';
  const watcher = spawn('/bin/sh', ['-c', script, 'holdfast-watcher', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  unref(watcher);
  unref(watcher.stdin);
  return watcher;
}

function endOfOutput(child: ChildProcess): () => string {
  let said = '';
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-SAID_CHARS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => said.trim();
}

/** A running server must not keep this process alive once its work is done. Pipes are sockets. */
function unref(handle: object | null): void {
  if (handle !== null && 'unref' in handle && typeof handle.unref === 'function') handle.unref();
}
