// The wire in front of a receiver: writes down every request as it came, byte by byte, and does to
// some of them what a test wants: answers in the place of the receiver, keeps a request of which
// the sender hears nothing more, or leads it to another receiver.
//
// INV-1 close() ends every connection; what was kept and not let go never arrives.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Wire {
  readonly kind: 'execute' | 'inquire' | 'close' | 'fence' | 'other';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Act =
  /** The receiver never sees it. */
  | {
      readonly answer: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: object;
    }
  /** The sender's connection breaks; the request waits until `release`. */
  | { readonly keep: 'forgotten' }
  /** As `keep`, and the sender is answered meanwhile. */
  | { readonly keep: number; readonly headers: Readonly<Record<string, string>>; body: object }
  /** Somebody else answers. */
  | { readonly to: string };

interface Rule {
  readonly on: Wire['kind'];
  readonly about: string;
  readonly act: Act;
  left: number;
}

export interface WireTap {
  readonly url: string;
  /** In the order in which they came, about one run or action. */
  wires(about: string): readonly Wire[];
  /** The next `times` requests of the kind about something; what it returns ends that. */
  next(on: Wire['kind'], about: string, act: Act, times?: number): () => void;
  /** Sends what was kept `copies` times over; the statuses that the receiver answers. */
  release(about: string, copies?: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

export async function startWireTap(target: string): Promise<WireTap> {
  const seen: Wire[] = [];
  const kept: Wire[] = [];
  const rules: Rule[] = [];
  const server = createServer((incoming, response) => {
    void pass(incoming, response).catch(() => response.destroy());
  });
  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const wire = await wireOf(incoming);
    seen.push(wire);
    const rule = rules.find((each) => each.left > 0 && hits(each, wire));
    if (rule !== undefined) rule.left--;
    const act = rule?.act ?? { to: target };
    if ('keep' in act) kept.push(wire);
    if ('keep' in act && act.keep === 'forgotten') return void response.destroy();
    if ('to' in act) return answer(response, await sent(act.to, wire));
    const status = 'keep' in act ? act.keep : act.answer;
    const { headers = {}, body = {} } = act as Extract<Act, { answer: number }>;
    answer(response, { status: Number(status), headers, body: JSON.stringify(body) });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    wires: (about) => seen.filter((wire) => isAbout(wire, about)),
    next(on, about, act, times = 1) {
      const rule = { on, about, act, left: times };
      rules.push(rule);
      return () => {
        rule.left = 0;
      };
    },
    async release(about, copies = 1) {
      const statuses: number[] = [];
      for (const wire of kept.filter((each) => isAbout(each, about)))
        for (let copy = 0; copy < copies; copy++) statuses.push((await sent(target, wire)).status);
      return statuses;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function hits({ on, about }: Rule, wire: Wire): boolean {
  return wire.kind === on && isAbout(wire, about);
}

/** The end counts, too: `run-1.t1` is not `run-1.t10`. */
function isAbout({ path, headers }: Wire, about: string): boolean {
  const where = `${decodeURIComponent(path)} ${headers['idempotency-key'] ?? ''}`;
  return new RegExp(`/${about.replaceAll('.', '\\.')}(?![\\w-])`).test(where);
}

async function wireOf(incoming: IncomingMessage): Promise<Wire> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const { method = '', url: path = '' } = incoming;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = Buffer.concat(chunks).toString('utf8');
  return { kind: kindOf(method, path), method, path, headers, body };
}

function kindOf(method: string, path: string): Wire['kind'] {
  const parts = path.split('/').slice(1);
  if (parts[0] === 'fences') return 'fence';
  if (parts[0] !== 'operations') return 'other';
  if (parts.length === 2 && method === 'POST') return 'execute';
  return parts.length === 5 ? 'close' : 'inquire';
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const OF_THE_CONNECTION = /^(connection|keep-alive|host|content-length|transfer-encoding)$/;

async function sent(to: string, { method, path, headers, body }: Wire): Promise<Answered> {
  const own = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.test(name));
  const response = await fetch(`${to}${path}`, {
    method,
    headers: Object.fromEntries(own),
    ...(method === 'GET' ? {} : { body }),
  });
  const said = [...response.headers].filter(([name]) => !OF_THE_CONNECTION.test(name));
  const text = await response.text();
  return { status: response.status, headers: Object.fromEntries(said), body: text };
}

function answer(response: ServerResponse, { status, headers, body }: Answered): void {
  response.writeHead(status, { ...headers });
  response.end(status === 204 ? undefined : body);
}
