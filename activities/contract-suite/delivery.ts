// One request handed to the endpoint over a connection of its own, and its whole answer.

import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { limits } from '../../core/limits.ts';

export interface Delivery {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** null: the endpoint was not there, or broke off. */
  readonly reply: {
    readonly status: number;
    readonly headers: OutgoingHttpHeaders;
    readonly body: Buffer;
  } | null;
}

/** Of one connection only (RFC 9110): they are the wire's own on either side. */
const ofTheConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'];

/** Never rejects. `onSent`: the whole request has left. */
export async function deliver(
  url: URL,
  { method, headers, body }: Omit<Delivery, 'reply'>,
  onSent: () => void,
): Promise<Delivery['reply']> {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  try {
    const sending = open(url, {
      method,
      headers: { ...without(headers), ...lengthOf(body), connection: 'close' },
      agent: false,
    });
    // After the answer has begun, a break is the answer's error; it is read below.
    sending.on('error', () => undefined);
    sending.end(body, onSent);
    const [incoming] = (await once(sending, 'response')) as [IncomingMessage];
    const answer = await readBounded(incoming);
    const { statusCode = 502, headers: told } = incoming;
    return { status: statusCode, headers: without(told), body: answer };
  } catch {
    // Refused, reset, cut short: whoever sent it hears nothing, which is the truth.
    return null;
  }
}

export async function readBounded(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.receiverAnswerBytesMax) throw new Error(`more than ${bytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function lengthOf(body: Buffer): OutgoingHttpHeaders {
  return body.length === 0 ? {} : { 'content-length': body.length };
}

function without(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !ofTheConnection.includes(name));
  return Object.fromEntries(kept);
}
