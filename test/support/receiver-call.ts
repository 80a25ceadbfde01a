// The smallest caller of a receiver's HTTP binding, for tests: no retries, no opinion.

import type { Json } from '../../core/digest.ts';
import type { SendToken } from '../../core/ids.ts';
import {
  encodeHeaderText,
  encodeKeyHeader,
  headerNames,
  sendTokenText,
} from '../../receiver/index.ts';

export interface Call {
  readonly operation: string;
  readonly key: string;
  readonly input?: Json;
  /** `u1` when absent. */
  readonly principal?: string;
  /** `1` when absent. */
  readonly version?: string;
  readonly sendToken?: SendToken;
  readonly firstSentAt?: number;
  readonly fenceScope?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as sent; '' for none. */
  readonly text: string;
  /** The body as JSON; null for none. */
  readonly body: { readonly [member: string]: Json } | null;
}

function identityHeaders(call: Call): Record<string, string> {
  return {
    [headerNames.principal]: encodeHeaderText(call.principal ?? 'u1'),
    [headerNames.version]: call.version ?? '1',
  };
}

function sendHeaders(call: Call): Record<string, string> {
  const { sendToken, firstSentAt, fenceScope } = call;
  return {
    ...identityHeaders(call),
    [headerNames.key]: encodeKeyHeader(call.key),
    ...(sendToken === undefined ? {} : { [headerNames.sendToken]: sendTokenText(sendToken) }),
    ...(firstSentAt === undefined
      ? {}
      : { [headerNames.firstSentAt]: new Date(firstSentAt).toISOString() }),
    ...(fenceScope === undefined ? {} : { [headerNames.fenceScope]: encodeHeaderText(fenceScope) }),
  };
}

async function reply(response: Response): Promise<Reply> {
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, body: text === '' ? null : JSON.parse(text) };
}

/** Rejects when the connection breaks, as fetch does: then nothing is known. */
export async function send(url: string, call: Call): Promise<Reply> {
  const path = `${url}/operations/${encodeURIComponent(call.operation)}`;
  const headers = sendHeaders(call);
  const body = JSON.stringify(call.input ?? null);
  return reply(await fetch(path, { method: 'POST', headers, body }));
}

function keyPath(url: string, call: Call): string {
  const operation = encodeURIComponent(call.operation);
  return `${url}/operations/${operation}/keys/${encodeURIComponent(call.key)}`;
}

export async function inquire(url: string, call: Call): Promise<Reply> {
  return reply(await fetch(keyPath(url, call), { headers: identityHeaders(call) }));
}

/** With the call's send token, or without one: the whole key. */
export async function close(url: string, call: Call): Promise<Reply> {
  const headers = identityHeaders(call);
  const { sendToken } = call;
  const body = JSON.stringify(sendToken === undefined ? {} : { sendToken });
  return reply(await fetch(`${keyPath(url, call)}/close`, { method: 'POST', headers, body }));
}
