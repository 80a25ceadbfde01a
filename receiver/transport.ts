// node:http around a plain function. A handler sees a whole request and returns a whole answer.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receiverLimits } from './limits.ts';
import { type HttpAnswer, problem, problemTable } from './problem.ts';

export interface HttpCall {
  readonly method: string;
  /** Path segments, percent-decoded, without the query. */
  readonly path: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Contract: may throw; the caller is then told that the outcome is not known. */
export type Handler = (call: HttpCall) => Promise<HttpAnswer>;

/** null: it cannot be read as a request; the answer has been sent. */
export async function readCall(
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<HttpCall | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= receiverLimits.bodyBytesMax) chunks.push(chunk);
  }
  if (bytes > receiverLimits.bodyBytesMax) {
    const detail = `body of ${bytes} bytes; the most is ${receiverLimits.bodyBytesMax}`;
    writeAnswer(response, problem({ ...problemTable.invalid, status: 413 }, detail));
    return null;
  }
  const path = pathOf(incoming.url ?? '/');
  if (path === null) {
    writeAnswer(response, problem(problemTable.invalid, 'the path is not percent-encoded UTF-8'));
    return null;
  }
  const { method = 'GET', headers } = incoming;
  return { method, path, headers, body: Buffer.concat(chunks) };
}

function pathOf(url: string): readonly string[] | null {
  try {
    const [path = ''] = url.split('?');
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    // URIError: the caller answers 400.
    return null;
  }
}

export function writeAnswer(response: ServerResponse, answer: HttpAnswer): void {
  // The caller has gone; there is nobody to tell.
  if (response.destroyed) return;
  response.writeHead(answer.status, answer.headers);
  if (answer.body === null) response.end();
  else response.end(answer.body);
}

export function listenerOf(handler: Handler): RequestListener {
  return (incoming, response) => {
    void answerCall(handler, incoming, response);
  };
}

async function answerCall(
  handler: Handler,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const call = await readCall(incoming, response);
    if (call !== null) writeAnswer(response, await handler(call));
  } catch (error) {
    // A request that broke off while it was read has no one to answer to.
    if (response.destroyed || incoming.destroyed) return;
    const detail = error instanceof Error ? error.message : String(error);
    writeAnswer(response, problem(problemTable.unknown, detail));
  }
}

export interface Served {
  readonly port: number;
  readonly url: string;
  /** Stops listening, lets requests at work finish for the grace, then cuts them. */
  stop(graceMs?: number): Promise<void>;
}

/** Loopback only: the binding has no authentication, whoever reaches it is believed. */
export async function serve(listener: RequestListener, port: number): Promise<Served> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    stop: (graceMs = receiverLimits.shutdownGraceMs) => stopServer(server, graceMs),
  };
}

function stopServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}
