// HTTP binding of a receiver.
//
//   POST /operations/:operation                  Idempotency-Key, JSON body: the request
//   GET  /operations/:operation/keys/:key        the plain inquiry
//   POST /operations/:operation/keys/:key/close  the closing inquiry; body {} or {"sendToken":{..}}
//   POST /fences/:scope                          body {"epoch":n}
//   GET  /capabilities /effects /requests /objects/:operation
//
// Holdfast-Principal and Holdfast-Operation-Version are needed wherever an operation is named.

import * as z from 'zod';
import type { Json } from '../core/digest.ts';
import { sendTokenSchema } from '../core/ids.ts';
import {
  type HttpAnswer,
  httpOfAnswer,
  httpOfClosing,
  httpOfFencing,
  httpOfInquiry,
  json,
  problem,
  problemTable,
} from './problem.ts';
import type { Receiver } from './receiver.ts';
import type { Checked } from './request.ts';
import type { Handler, HttpCall } from './transport.ts';
import {
  decodeText,
  headerNames,
  readAsker,
  readIdentity,
  readKey,
  readSendMarks,
} from './wire.ts';

const closeBodySchema = z.strictObject({ sendToken: sendTokenSchema.optional() });
const fenceBodySchema = z.strictObject({ epoch: z.int().positive() });

export function receiverHandler(receiver: Receiver): Handler {
  return async (call) => {
    const [head, name, keys, key, verb] = call.path;
    const parts = call.path.length;
    if (head === 'operations' && name !== undefined) {
      if (parts === 2 && call.method === 'POST') return execute(receiver, call, name);
      if (keys === 'keys' && key !== undefined) {
        if (parts === 4 && call.method === 'GET') return inquire(receiver, call, name, key);
        if (parts === 5 && verb === 'close' && call.method === 'POST')
          return close(receiver, call, name, key);
      }
    }
    if (head === 'fences' && name !== undefined && parts === 2 && call.method === 'POST')
      return fence(receiver, call, name);
    return look(receiver, call);
  };
}

async function look(receiver: Receiver, call: HttpCall): Promise<HttpAnswer> {
  const [head, name] = call.path;
  if (call.method === 'GET' && call.path.length === 1) {
    if (head === 'capabilities') return json(200, receiver.capabilities());
    if (head === 'effects') return json(200, { effects: await receiver.effects() });
    if (head === 'requests') return json(200, { requests: await receiver.requests() });
  }
  if (call.method === 'GET' && head === 'objects' && name !== undefined && call.path.length === 2) {
    const seen = await receiver.observe(name);
    if (seen !== undefined) return json(200, seen);
  }
  const detail = `no ${call.method} /${call.path.join('/')} here; see GET /capabilities`;
  return problem({ ...problemTable.invalid, status: 404 }, detail);
}

async function execute(receiver: Receiver, call: HttpCall, operation: string): Promise<HttpAnswer> {
  const key = readKey(call.headers);
  if (key.kind === 'invalid') return httpOfAnswer(key);
  const identity = readIdentity(call.headers, operation, key.value);
  if (identity.kind === 'invalid') return httpOfAnswer(identity);
  const marks = readSendMarks(call.headers);
  if (marks.kind === 'invalid') return httpOfAnswer(marks);
  const input = readJson(call.body);
  if (input.kind === 'invalid') return httpOfAnswer(input);
  const request = { ...identity.value, ...marks.value, input: input.value };
  return httpOfAnswer(await receiver.execute(request));
}

async function inquire(
  receiver: Receiver,
  call: HttpCall,
  operation: string,
  key: string,
): Promise<HttpAnswer> {
  const identity = readIdentity(call.headers, operation, key);
  if (identity.kind === 'invalid') return httpOfInquiry(identity);
  const asker = readAsker(call.headers);
  if (asker.kind === 'invalid') return httpOfInquiry(asker);
  return httpOfInquiry(await receiver.inquire(identity.value, asker.value));
}

async function close(
  receiver: Receiver,
  call: HttpCall,
  operation: string,
  key: string,
): Promise<HttpAnswer> {
  const identity = readIdentity(call.headers, operation, key);
  if (identity.kind === 'invalid') return httpOfClosing(identity);
  const asker = readAsker(call.headers);
  if (asker.kind === 'invalid') return httpOfClosing(asker);
  const body = readBody(call.body, closeBodySchema);
  if (body.kind === 'invalid') return httpOfClosing(body);
  return httpOfClosing(await receiver.close(identity.value, body.value.sendToken, asker.value));
}

async function fence(receiver: Receiver, call: HttpCall, scope: string): Promise<HttpAnswer> {
  const header = headerNames.principal;
  const raw = call.headers[header.toLowerCase()];
  const principal = typeof raw === 'string' ? decodeText(raw) : undefined;
  if (principal === undefined || principal === null) {
    const why = principal === null ? 'is not percent-encoded UTF-8' : 'is missing';
    const detail = `header ${header} ${why}; name the principal that owns the scope`;
    return httpOfFencing({ kind: 'invalid', detail });
  }
  const body = readBody(call.body, fenceBodySchema);
  if (body.kind === 'invalid') return httpOfFencing(body);
  return httpOfFencing(await receiver.fence({ principal, scope, epoch: body.value.epoch }));
}

/** Refuses bytes that are not UTF-8: replaced characters would be another payload. */
function readJson(body: Buffer): Checked<Json> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { kind: 'ok', value: JSON.parse(text) as Json };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'invalid', detail: `the body is not JSON in UTF-8: ${why}` };
  }
}

export function readBody<T>(body: Buffer, schema: z.ZodType<T>): Checked<T> {
  const value = readJson(body);
  if (value.kind === 'invalid') return value;
  const parsed = schema.safeParse(value.value);
  if (parsed.success) return { kind: 'ok', value: parsed.data };
  return { kind: 'invalid', detail: z.prettifyError(parsed.error) };
}
