// The wire between adapter and endpoint: what happens to a request on its way is the probe's
// choice. Loopback only.
//
// INV-1  A reply is dropped only after the endpoint has given it.
// INV-2  A held request that is not released never arrives.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Delivery, deliver, readBounded } from './delivery.ts';

export interface PassingRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export type Treatment =
  | { readonly kind: 'pass' }
  /** Kept back until `release`. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'drop_request' }
  /** It arrives and is answered; nobody hears of it. */
  | { readonly kind: 'drop_reply'; meanwhile?(): Promise<void> }
  /** Delivered again after its first answer; the second answer is passed on. */
  | { readonly kind: 'twice' }
  | { readonly kind: 'strip'; readonly header: string };

export interface HeldRequest {
  /** Delivers it so many times, one after the other; resolves when each was answered or broke. */
  release(times: number): Promise<void>;
}

export interface Wire {
  /** The endpoint's address as the adapter is told it. */
  readonly url: string;
  /** Requests kept back so far. */
  readonly held: readonly HeldRequest[];
  stop(): Promise<void>;
}

export interface WireOptions {
  /** Read anew for each delivery: an endpoint may move when it is started again. */
  target(): string;
  readonly treatment: Treatment;
  isEffect(request: PassingRequest): boolean;
  /** A treated request is with the endpoint, whole. */
  onSent(): void;
}

/** null: the connection breaks without an answer. */
type Reply = Delivery['reply'];
type Send = (headers?: IncomingHttpHeaders) => Promise<Reply>;

export async function startWire(options: WireOptions): Promise<Wire> {
  const held: HeldRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    try {
      const body = await readBounded(incoming);
      const isTreated = options.isEffect({ method, path, headers });
      const send: Send = (other = headers) =>
        deliver(new URL(path, options.target()), { method, headers: other, body }, () => {
          if (isTreated) options.onSent();
        });
      const treatment: Treatment = isTreated ? options.treatment : { kind: 'pass' };
      answer(response, await treated(treatment, { headers, send, held }));
    } catch {
      // The adapter hung up, or sent what nobody takes: to it the wire is simply broken.
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${new URL(options.target()).pathname.replace(/\/$/, '')}`,
    held,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Passing {
  readonly headers: IncomingHttpHeaders;
  readonly send: Send;
  readonly held: HeldRequest[];
}

async function treated(treatment: Treatment, { headers, send, held }: Passing): Promise<Reply> {
  switch (treatment.kind) {
    case 'pass':
      return send();
    case 'hold':
      return new Promise((resolve) => {
        held.push({
          async release(times) {
            for (let n = 1; n <= times; n++) resolve(await send());
          },
        });
      });
    case 'drop_request':
      return null;
    case 'drop_reply':
      await send();
      await treatment.meanwhile?.();
      return null;
    case 'twice':
      await send();
      return send();
    case 'strip': {
      const { [treatment.header.toLowerCase()]: _, ...others } = headers;
      return send(others);
    }
  }
}

function answer(response: ServerResponse, reply: Reply): void {
  if (reply === null) return void response.destroy();
  if (response.destroyed) return;
  response.writeHead(reply.status, reply.headers);
  response.end(reply.body);
}
