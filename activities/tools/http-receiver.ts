// Adapter for receivers that speak our HTTP binding: key, send token and first send as headers, the
// inquiry, the closing inquiry. What an answer settles is one table; the rest is ambiguous.

import * as z from 'zod';
import type { ContractInput } from '../../core/contract.ts';
import { canonicalJson, type Json } from '../../core/digest.ts';
import type { Principal } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import {
  type Attempt,
  type FenceAsk,
  type Inquiry,
  type InquiryAnswer,
  KeyRefusedError,
  type Settlement,
  type ToolDefinition,
} from '../tool.ts';
import {
  closingAnswerOf,
  type HttpReply,
  inquiryAnswerOf,
  isOfAnother,
  keyRefusalOf,
  settlementOf,
} from './http-answers.ts';

export interface HttpReceiverOptions {
  /** e.g. `http://127.0.0.1:8080` */
  readonly baseUrl: string;
  readonly operation: string;
  /** Version of the operation's contract, as the receiver names it. */
  readonly operationVersion: string;
  /** What this receiver promises; the parts that the binding itself gives are filled in. */
  readonly contract: Pick<ContractInput, 'scope' | 'retentionMs'> & Partial<ContractInput>;
  /** One request, ms. Default: shorter than an attempt, so that its end is seen here. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export type HttpReceiver<I, R> = Required<
  Pick<ToolDefinition<I, R>, 'receiver' | 'implementation' | 'execute' | 'inquire'>
> &
  Pick<ToolDefinition<I, R>, 'fence'>;

const REQUEST_SHARE = 0.5;

/** Spread into a tool: `defineTool({ name, …, replay: 'keyed', ...httpReceiver({ … }) })`. */
export function httpReceiver<I, R extends Json>(options: HttpReceiverOptions): HttpReceiver<I, R> {
  const receiver: ContractInput = {
    identity: { travelsAs: 'header Idempotency-Key' },
    inquiry: { consistency: 'strong', settleMs: 0 },
    closing: 'by_token',
    ...options.contract,
  };
  const { baseUrl, operation, operationVersion } = options;
  return {
    receiver,
    implementation: `http-receiver/1 ${canonicalJson({ baseUrl, operation, operationVersion })}`,
    execute: (input, attempt) =>
      execute(options, receiver, { input, attempt }) as Promise<Settlement<R>>,
    inquire: (inquiry) => inquire(options, receiver, inquiry) as Promise<InquiryAnswer<R>>,
    ...(receiver.fencing === 'honoured' ? { fence: (ask) => fence(options, ask) } : {}),
  };
}

/** A newer epoch there shuts this one out: then what it would read is not for it to act on. */
async function fence(
  options: HttpReceiverOptions,
  { runId, principal, sendToken }: FenceAsk,
): Promise<void> {
  const url = `${options.baseUrl}/fences/${encodeURIComponent(runId)}`;
  const headers = identityHeaders(options, principal);
  const body = JSON.stringify({ epoch: sendToken.epoch });
  const reply = await send(options, { url, method: 'POST', headers, body });
  if (reply.status !== 200)
    throw new Error(`${options.operation}: the fence of ${runId} was not raised: ${reply.status}`);
}

async function execute(
  options: HttpReceiverOptions,
  receiver: ContractInput,
  { input, attempt }: { readonly input: unknown; readonly attempt: Attempt },
): Promise<Settlement<Json>> {
  const body = canonicalJson(input);
  const headers = {
    ...identityHeaders(options, attempt.principal),
    'Idempotency-Key': quoted(attempt.receiverKey),
    'Holdfast-Send-Token': `${attempt.sendToken.epoch}.${attempt.sendToken.number}`,
    'Holdfast-First-Sent-At': new Date(attempt.firstSentAt).toISOString(),
    'Holdfast-Payload-Digest': attempt.payloadDigest,
    ...(receiver.fencing === 'honoured' ? { 'Holdfast-Fence-Scope': text(attempt.runId) } : {}),
  };
  const url = `${options.baseUrl}/operations/${encodeURIComponent(options.operation)}`;
  attempt.beforeSend();
  const reply = await send(options, { url, method: 'POST', headers, body, signal: attempt.signal });
  const settlement = settlementOf(reply);
  if (settlement === null) {
    const refusal = keyRefusalOf(reply);
    if (refusal !== null) throw new KeyRefusedError(`${options.operation}: ${refusal}`);
    const said = reply.idempotencyStatus ?? 'without Idempotency-Status';
    throw new Error(`${options.operation}: ${reply.status} ${said} settles nothing`);
  }
  return settlement;
}

async function inquire(
  options: HttpReceiverOptions,
  receiver: ContractInput,
  inquiry: Inquiry,
): Promise<InquiryAnswer<Json>> {
  const { receiverKey, sendToken } = inquiry;
  const operation = encodeURIComponent(options.operation);
  const url = `${options.baseUrl}/operations/${operation}/keys/${encodeURIComponent(receiverKey)}`;
  const headers = askerHeaders(options, receiver, inquiry);
  const { closing = 'none' } = receiver;
  const body = closing === 'by_token' ? JSON.stringify({ sendToken }) : '{}';
  const reply =
    closing === 'none'
      ? await send(options, { url, method: 'GET', headers })
      : await send(options, { url: `${url}/close`, method: 'POST', headers, body });
  // What was done under the key is not what this action was to do.
  if (isOfAnother(reply, inquiry))
    return { verdict: 'conflict', detail: 'the key belongs to another payload' };
  return closing === 'none' ? inquiryAnswerOf(reply) : closingAnswerOf(reply);
}

/** Whoever asks for a claim that a newer one has replaced is not to learn anything (rule B7). */
function askerHeaders(
  options: HttpReceiverOptions,
  { fencing }: ContractInput,
  { principal, asker }: Inquiry,
) {
  const headers = identityHeaders(options, principal);
  if (fencing !== 'honoured' || asker === undefined) return headers;
  const { runId, epoch } = asker;
  return {
    ...headers,
    'Holdfast-Send-Token': `${epoch}.1`,
    'Holdfast-Fence-Scope': text(runId),
  };
}

function identityHeaders({ operationVersion }: HttpReceiverOptions, principal: Principal) {
  return {
    'Content-Type': 'application/json',
    'Holdfast-Principal': text(principalText(principal)),
    'Holdfast-Operation-Version': text(operationVersion),
  };
}

/** The run's user and workspace as one name; two different principals never share one. */
function principalText({ workspace, user, account }: Principal): string {
  const parts = account === undefined ? [workspace, user] : [workspace, user, account];
  return parts.map(encodeURIComponent).join('/');
}

interface Sending {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

const bodySchema = z.record(z.string(), z.json());

async function send(options: HttpReceiverOptions, sending: Sending): Promise<HttpReply> {
  const { url, method, headers, body, signal } = sending;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? limits.startToCloseMs * REQUEST_SHARE);
  const response = await (options.fetch ?? fetch)(url, {
    ...{ method, headers },
    ...(body === undefined ? {} : { body }),
    // A redirect would carry the request to somebody else.
    redirect: 'manual',
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  const said = await boundedText(response);
  return {
    status: response.status,
    idempotencyStatus: response.headers.get('Idempotency-Status'),
    externalId: decoded(response.headers.get('Holdfast-External-Id')),
    objectVersion: decoded(response.headers.get('Holdfast-Object-Version')),
    retryAfter: response.headers.get('Retry-After'),
    body: said === '' ? {} : bodySchema.parse(JSON.parse(said)),
  };
}

/** Throws beyond the limit: what cannot be read settles nothing. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > limits.receiverAnswerBytesMax)
      throw new Error(`the answer has more than ${limits.receiverAnswerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function decoded(header: string | null): string | null {
  return header === null ? null : decodeURIComponent(header);
}

const UNPRINTABLE_OR_PERCENT = /[^\x20-\x24\x26-\x7e]+/g;

/** Printable ASCII stays; `%` and the rest become percent-encoded UTF-8. */
function text(value: string): string {
  return value.replaceAll(UNPRINTABLE_OR_PERCENT, (part) => encodeURIComponent(part));
}

/** A structured-field string, as the Idempotency-Key draft wants it. */
function quoted(key: string): string {
  return `"${text(key).replaceAll(/[\\"]/g, '\\$&')}"`;
}
