// A store of objects with conditional writes, over HTTP: PUT with If-Match, a version for each
// write, and the marks that the writer left. It can lose an answer, or a request.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface StoredObject {
  readonly version: string;
  readonly body: string;
  /** Key of the action that wrote it. */
  readonly writtenBy: string | null;
}

export interface ObjectStore {
  readonly url: string;
  readonly now: () => StoredObject;
  /** Every write that took effect. */
  readonly writes: () => number;
  /** By another hand, past everything. */
  overwrite(body: string): void;
  /** What becomes of the next PUT; then all is well again. */
  lose(what: 'the answer' | 'the request'): void;
}

export async function openObjectStore(body: string): Promise<ObjectStore> {
  let object: StoredObject = { version: '7', body, writtenBy: null };
  let writes = 0;
  let lost: 'the answer' | 'the request' | null = null;
  const write = (next: string, writtenBy: string | null) => {
    object = { version: String(Number(object.version) + 1), body: next, writtenBy };
    writes++;
  };
  const put = (request: IncomingMessage, response: ServerResponse, next: string) => {
    const losing = lost;
    lost = null;
    if (losing === 'the request') return response.destroy();
    if (request.headers['if-match'] !== object.version) return response.writeHead(412).end();
    write(next, String(request.headers['x-written-by']));
    if (losing === 'the answer') return response.destroy();
    return response.writeHead(200, { etag: object.version }).end();
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method === 'GET') response.end(JSON.stringify(object));
    else put(request, response, Buffer.concat(chunks).toString());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/object`,
    now: () => object,
    writes: () => writes,
    overwrite: (next) => write(next, null),
    lose: (what) => {
      lost = what;
    },
  };
}
