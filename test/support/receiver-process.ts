// A receiver in a process of its own, for every test that counts effects where they happen.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Json } from '../../core/digest.ts';
import type { Arrival, Effect, Fault, Sent } from '../../receiver/index.ts';
import { builtProgram } from './built-program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_WITHIN_MS = 30_000;

export interface ReceiverSetup {
  /** `reference` when absent. */
  readonly kind?: 'reference' | 'dumb';
  /** Mounts the fault wrapper. */
  readonly faults?: boolean;
  /** An existing store, e.g. of a receiver that was killed; a fresh one when absent. */
  readonly store?: string;
  /** Further flags of receiver/main.ts, e.g. ['--counter-initial', '10']. */
  readonly flags?: readonly string[];
}

export interface FaultReport {
  readonly armed: readonly (Fault & { readonly hits: number; readonly spent: boolean })[];
  readonly held: readonly { readonly operation: string; readonly key: string }[];
  readonly delayed: number;
  readonly passedOn: readonly { readonly key: string; readonly status: number }[];
}

export interface ReceiverProcess {
  readonly url: string;
  readonly pid: number;
  readonly store: string;
  arm(fault: Fault): Promise<void>;
  faults(): Promise<FaultReport>;
  /** Lets held requests go; answers when the receiver has answered each of them. */
  release(keyIncludes?: string): Promise<{ readonly released: number; statuses: number[] }>;
  effects(): Promise<readonly Effect[]>;
  requests(): Promise<readonly Arrival[]>;
  /** What the objects behind an operation look like, e.g. { tickets, notifications }. */
  objects(operation: string): Promise<Json>;
  /** Of a dumb receiver. */
  log(): Promise<readonly Sent[]>;
  /** SIGKILL; returns when the process is gone. The store stays. */
  kill(): Promise<void>;
  /** SIGTERM, and removes a store made here. Rejects when the exit status is not 0. */
  stop(): Promise<void>;
}

/** Rejects, with what the process wrote, when it is not ready in time. */
export async function startReceiver(setup: ReceiverSetup = {}): Promise<ReceiverProcess> {
  const made = setup.store === undefined ? await mkdtemp(join(tmpdir(), 'receiver-')) : null;
  const store = setup.store ?? join(made ?? '', 'store');
  const child = spawn(
    process.execPath,
    [
      ...[await builtProgram('receiver/main.ts'), '--store', store, '--port', '0'],
      ...['--kind', setup.kind ?? 'reference'],
      ...(setup.faults ? ['--faults'] : []),
      ...(setup.flags ?? []),
    ],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const { port, pid } = await ready(child);
  const url = `http://127.0.0.1:${port}`;
  const get = async <T>(path: string): Promise<T> => (await call(url, 'GET', path)) as T;
  return {
    url,
    pid,
    store,
    arm: async (fault) => void (await call(url, 'POST', '/faults', fault)),
    faults: () => get<FaultReport>('/faults'),
    release: async (keyIncludes) =>
      (await call(url, 'POST', '/faults/release', keyIncludes ? { keyIncludes } : {})) as {
        released: number;
        statuses: number[];
      },
    effects: async () => (await get<{ effects: Effect[] }>('/effects')).effects,
    requests: async () => (await get<{ requests: Arrival[] }>('/requests')).requests,
    objects: (operation) => get<Json>(`/objects/${operation}`),
    log: async () => (await get<{ log: Sent[] }>('/log')).log,
    kill: () => end(child, 'SIGKILL'),
    async stop() {
      await end(child, 'SIGTERM');
      if (made !== null) await rm(made, { recursive: true });
      if (child.exitCode !== 0 && child.signalCode !== 'SIGKILL')
        throw new Error(`receiver ${pid} ended with ${child.exitCode ?? child.signalCode}`);
    },
  };
}

async function ready(child: ChildProcess): Promise<{ port: number; pid: number }> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the receiver has no pipes');
  let complaint = '';
  stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString('utf8');
  });
  const deadline = setTimeout(() => child.kill('SIGKILL'), READY_WITHIN_MS);
  const written = await new Promise<string>((resolve) => {
    let text = '';
    stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) resolve(text);
    });
    child.once('close', () => resolve(text));
  });
  clearTimeout(deadline);
  const line = /^READY (.*)\n/.exec(written);
  if (line === null) throw new Error(`the receiver ended before it was ready: ${complaint}`);
  return JSON.parse(line[1] ?? '');
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

async function call(url: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}
