// The two receivers of the example, as processes: the ticket system, which keeps keys and answers
// questions, and the mail gateway, which does neither.

import { join } from 'node:path';
import type { Effect, Fault, Sent } from '../../receiver/index.ts';
import { type Child, startChild } from './child.ts';

const READY_MS = 30_000;

export interface ReceiverProcess {
  readonly url: string;
  readonly child: Child;
  arm(fault: Fault): Promise<void>;
  /** Calls that an armed fault has hit so far. */
  faultHits(): Promise<number>;
  /** Its own log: what happened there, whoever asked for it. */
  effects(): Promise<readonly Effect[]>;
  /** The log of a dumb one. */
  sent(): Promise<readonly Sent[]>;
}

export interface ReceiverOptions {
  readonly kind: 'reference' | 'dumb';
  readonly directory: string;
}

export async function startReceiver(options: ReceiverOptions): Promise<ReceiverProcess> {
  const { kind, directory } = options;
  const store = join(directory, `${kind}-receiver.${kind === 'dumb' ? 'jsonl' : 'db'}`);
  const child = await startChild({
    script: ['receiver/main.ts', '--store', store, '--port', '0', '--kind', kind, '--faults'],
    logPath: join(directory, `${kind}-receiver.log`),
  });
  const { port } = JSON.parse(await child.line('READY ', READY_MS)) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    child,
    arm: async (fault) => void (await call(url, 'POST', '/faults', fault)),
    async faultHits() {
      const { armed } = await call<{ armed: { hits: number }[] }>(url, 'GET', '/faults');
      return armed.reduce((total, { hits }) => total + hits, 0);
    },
    effects: async () => (await call<{ effects: Effect[] }>(url, 'GET', '/effects')).effects,
    sent: async () => (await call<{ log: Sent[] }>(url, 'GET', '/log')).log,
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
