// A writer of files (`file-writer.ts`) under strace: what it calls on which of its threads, and a
// kill on entry of any one of these calls. Calls are counted for each thread, from the moment at
// which strace is attached; with one thread for the work their order is the same each time.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PerformCall } from '../../core/activity-calls.ts';
import { type Child, startChild } from '../../examples/support-desk/child.ts';
import { EXECUTION } from './activity-rig.ts';
import { builtProgram } from './built-program.ts';
import type { FileRig } from './file-rig.ts';

const WITHIN_MS = 60_000;
const CALLS = 'openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink';

export interface TracedCall {
  readonly name: string;
  /** 1: the first of that name on its thread. */
  readonly nth: number;
  /** Of the process's threads in the order in which they began; 0 is the main one. */
  readonly thread: number;
  readonly text: string;
}

/** Linux has no higher process ids. */
const PID_MAX = 2 ** 22;

async function startWriter({ root, ledgerPath }: FileRig): Promise<Child> {
  const settings = { root, ledgerPath, firstExecutionRunId: EXECUTION };
  const child = await startChild({
    script: [await builtProgram('test/support/file-writer.ts')],
    env: { UV_THREADPOOL_SIZE: '1', WRITER_SETTINGS: JSON.stringify(settings) },
    logPath: join(root, 'writer.log'),
  });
  await child.line('READY', WITHIN_MS);
  return child;
}

/** Ids are given in order, and from the beginning again after the last: then they are lower. */
function threadsOf({ pid }: Child): number[] {
  const age = (tid: number) => (tid < pid ? tid + PID_MAX : tid);
  return readdirSync(`/proc/${pid}/task`)
    .map(Number)
    .sort((one, other) => age(one) - age(other));
}

/** Resolves when it traces; it ends with what it traces. */
async function attached(args: readonly string[]): Promise<ChildProcess> {
  const strace = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  for await (const chunk of strace.stderr) {
    said.push(String(chunk));
    if (said.join('').includes('attached')) return strace;
  }
  throw new Error(`strace did not attach: ${said.join('')}`);
}

/** What one call of the writer does, from its beginning to its end. */
export async function tracedCalls(rig: FileRig, call: PerformCall): Promise<TracedCall[]> {
  const writer = await startWriter(rig);
  const threads = threadsOf(writer);
  const out = join(rig.root, 'trace');
  const of = ['-f', '-y', '-s', '0', '-o', out, '-e', `trace=${CALLS}`, '-p', String(writer.pid)];
  const strace = await attached(of);
  writer.tell(JSON.stringify(call));
  await writer.line('DONE entered executed', WITHIN_MS);
  await writer.kill();
  if (strace.exitCode === null && strace.signalCode === null) await once(strace, 'exit');
  const counts = new Map<string, number>();
  return readFileSync(out, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, tid, name, text] = /^(\d+) +(\w+)\((.*)$/.exec(line) ?? [];
      if (tid === undefined || name === undefined || text === undefined) return [];
      const key = `${tid} ${name}`;
      const nth = (counts.get(key) ?? 0) + 1;
      counts.set(key, nth);
      return [{ name, nth, thread: threads.indexOf(Number(tid)), text }];
    });
}

/** `alone`: the call is not made; `failing`: it also has an error for whoever lives to see it. */
export type Kill = 'alone' | 'failing';

/** Throws where the process did not come to its end by this kill, on entry of this very call. */
export async function killedAt(
  rig: FileRig,
  call: PerformCall,
  { name, nth, thread, text }: TracedCall,
  kill: Kill,
): Promise<void> {
  const writer = await startWriter(rig);
  const tid = threadsOf(writer)[thread];
  const error = kill === 'failing' ? ':error=EIO' : '';
  const inject = `inject=${name}${error}:signal=SIGKILL:when=${nth}`;
  const out = join(rig.root, 'kill');
  const of = ['-y', '-s', '0', '-o', out, '-e', `trace=${name}`, '-e', inject, '-p', String(tid)];
  const strace = await attached(of);
  writer.tell(JSON.stringify(call));
  const lived = await writer.line('DONE', WITHIN_MS).then(
    (end) => end,
    () => null,
  );
  const hasEnded = writer.hasEnded();
  await writer.kill();
  if (strace.exitCode === null && strace.signalCode === null) await once(strace, 'exit');
  const seen = readFileSync(out, 'utf8');
  const met = seen.split('\n').filter((line) => line.startsWith(`${name}(`))[nth - 1] ?? '';
  if (
    !hasEnded ||
    !seen.includes('killed by SIGKILL') ||
    likeness(met) !== likeness(`${name}(${text}`)
  )
    throw new Error(`${name} ${nth} on thread ${thread} was not met: ${lived}, ${seen}`);
}

/** Without its end, and what is another each time: directories, drafts, descriptors. */
function likeness(line: string): string {
  return line.replace(/\) .*$/, '').replaceAll(/holdfast-test-\w+|-[0-9a-f]{8}\b|\d+</g, '');
}
