// Receivers of the examples, as processes: they listen on a port of their own, can be made to lose
// replies, and keep a log that is counted in the end. The support desk has two of them: the ticket
// system, which keeps keys and answers questions, and the mail gateway, which does neither.

import { join } from 'node:path';
import type { Effect, Fault, Sent } from '../../receiver/index.ts';
import { type Child, startChild } from './child.ts';

const READY_MS = 30_000;

export interface ServiceProcess {
  readonly url: string;
  readonly child: Child;
  arm(fault: Fault): Promise<void>;
  /** Calls that an armed fault has hit so far. */
  faultHits(): Promise<number>;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
}

export interface ServiceOptions {
  /** Its program and arguments; prints READY {"port":n} when it listens. */
  readonly script: readonly [string, ...string[]];
  readonly logPath: string;
}

export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  const child = await startChild(options);
  const { port } = JSON.parse(await child.line('READY ', READY_MS)) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    child,
    get: (path) => call(url, 'GET', path),
    post: (path, body) => call(url, 'POST', path, body),
    arm: async (fault) => void (await call(url, 'POST', '/faults', fault)),
    async faultHits() {
      const { armed } = await call<{ armed: { hits: number }[] }>(url, 'GET', '/faults');
      return armed.reduce((total, { hits }) => total + hits, 0);
    },
  };
}

export interface ReceiverProcess extends ServiceProcess {
  /** Its own log: what happened there, whoever asked for it. */
  effects(): Promise<readonly Effect[]>;
  /** The log of a dumb one. */
  sent(): Promise<readonly Sent[]>;
}

export interface ReceiverOptions {
  readonly kind: 'reference' | 'dumb';
  readonly directory: string;
  /** The program, where it stands built; default: its source. */
  readonly program?: string;
}

export async function startReceiver(options: ReceiverOptions): Promise<ReceiverProcess> {
  const { kind, directory, program = 'receiver/main.ts' } = options;
  const store = join(directory, `${kind}-receiver.${kind === 'dumb' ? 'jsonl' : 'db'}`);
  const service = await startService({
    script: [program, '--store', store, '--port', '0', '--kind', kind, '--faults'],
    logPath: join(directory, `${kind}-receiver.log`),
  });
  return {
    ...service,
    effects: async () => (await service.get<{ effects: Effect[] }>('/effects')).effects,
    sent: async () => (await service.get<{ log: Sent[] }>('/log')).log,
  };
}

async function call<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}
