// What answers of the HTTP binding mean: one table from (status, Idempotency-Status, state) to the
// settlement. Everything that is not listed is ambiguous: null.

import { digestOf, type Json } from '../../core/digest.ts';
import type { Inquiry, InquiryAnswer, Settlement } from '../tool.ts';
import { retryAfterOf } from './retry-after.ts';

export interface HttpReply {
  readonly status: number;
  readonly idempotencyStatus: string | null;
  readonly externalId: string | null;
  readonly objectVersion: string | null;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, Json>>;
}

interface AnswerRow {
  readonly status: number;
  /** `Idempotency-Status`; null: without the header, from something before the receiver. */
  readonly said: string | null;
  /** `operation_state` of the body; null: there is none. */
  readonly state: string | null;
  readonly settles: 'executed' | 'refused' | 'not_taken' | 'closed';
}

const row = (
  status: number,
  said: string | null,
  state: string | null,
  settles: AnswerRow['settles'],
): AnswerRow => ({ status, said, state, settles });

/**
 * Not listed, and so ambiguous: 409 in_progress, 412 outside_window, 422 key_reused (the key has
 * been used, for something else), 500 unknown, every other status, every answer without the header.
 */
export const answerTable: readonly AnswerRow[] = [
  row(200, 'executed', 'executed', 'executed'),
  row(200, 'replayed', 'executed', 'executed'),
  row(204, 'executed', null, 'executed'),
  row(204, 'replayed', null, 'executed'),
  row(409, 'rejected', 'rejected', 'refused'),
  row(400, 'rejected', 'invalid', 'refused'),
  row(410, 'rejected', 'closed', 'closed'),
  row(409, 'rejected', 'fenced', 'not_taken'),
  row(503, 'rejected', 'not_taken', 'not_taken'),
  row(401, null, null, 'not_taken'),
  row(429, null, null, 'not_taken'),
];

export function settlementOf(reply: HttpReply): Settlement<Json> | null {
  const state = textOf(reply.body['operation_state']);
  const found = answerTable.find(
    ({ status, said, state: wanted }) =>
      status === reply.status && said === reply.idempotencyStatus && wanted === state,
  );
  switch (found?.settles) {
    case undefined:
      return null;
    case 'executed':
      return executedOf(reply);
    case 'refused':
      return { kind: 'refused', ...toldOf(reply, state) };
    case 'closed':
      // The whole key is burnt: going on would be another operation. Else a later token may come.
      return {
        kind: reply.body['through'] === null ? 'refused' : 'not_taken',
        ...toldOf(reply, state),
      };
    case 'not_taken': {
      const retryAfterMs = retryAfterOf(reply.retryAfter);
      const again = retryAfterMs === null ? {} : { retryAfterMs };
      return { kind: 'not_taken', ...toldOf(reply, state), ...again };
    }
  }
}

/** 204: the operation has no result, which is what its caller gets: null. */
function executedOf(reply: HttpReply): Settlement<Json> {
  return { kind: 'executed', result: reply.body['result'] ?? null, ...idsOf(reply) };
}

/** Why nothing is sent under the key any more; null: it is not the key's fault. */
export function keyRefusalOf({ status, body }: HttpReply): string | null {
  const state = textOf(body['operation_state']);
  if (status === 422 && state === 'key_reused') return 'the key belongs to another payload';
  if (status === 412 && state === 'outside_window') return 'the key is too old to be known';
  return null;
}

/** Whether the key stands for another payload there, by what the receiver tells of it. */
export function isOfAnother(
  { body }: HttpReply,
  { payloadDigest, input }: Pick<Inquiry, 'payloadDigest' | 'input'>,
): boolean {
  const named = textOf(body['payload_digest']);
  if (named !== null) return named !== payloadDigest;
  const came = textOf(body['input_digest']);
  return came !== null && came !== digestOf(input);
}

/** Answers to the plain inquiry; `no_record` is not "not executed". */
export function inquiryAnswerOf(reply: HttpReply): InquiryAnswer<Json> {
  const state = textOf(reply.body['operation_state']);
  const detail = textOf(reply.body['detail']) ?? `status ${reply.status}`;
  if (reply.status === 401 || reply.status === 403) return { verdict: 'forbidden', detail };
  if (reply.status === 202) return { verdict: 'processing', detail };
  if (reply.status !== 200) return { verdict: 'unavailable', detail };
  switch (state) {
    case 'executed': {
      const result = reply.body['result'];
      return { verdict: 'executed', result: result ?? null, ...idsOf(reply) };
    }
    case 'rejected':
      return { verdict: 'not_executed', proof: 'settled' };
    case 'no_record':
      return { verdict: 'no_record', detail };
    default:
      return { verdict: 'unavailable', detail };
  }
}

/** Answers to the closing inquiry: those of the plain one, and the closed door. */
export function closingAnswerOf(reply: HttpReply): InquiryAnswer<Json> {
  const closed = reply.status === 200 && reply.body['operation_state'] === 'not_executed';
  if (!closed || reply.body['closed'] !== true) return inquiryAnswerOf(reply);
  const proof = reply.body['through'] === null ? 'closed_key' : 'closed_token';
  return { verdict: 'not_executed', proof };
}

function idsOf({ body, externalId, objectVersion }: HttpReply) {
  const id = textOf(body['external_id']) ?? externalId;
  const version = textOf(body['object_version']) ?? objectVersion;
  return {
    ...(id === null ? {} : { externalId: id }),
    ...(version === null ? {} : { objectVersion: version }),
  };
}

function toldOf({ body, status }: HttpReply, state: string | null) {
  const code = textOf(body['code']) ?? state ?? String(status);
  const message = textOf(body['detail']) ?? textOf(body['title']) ?? `status ${status}`;
  return { code, message };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
