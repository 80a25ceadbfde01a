// Headers of the HTTP binding: names, reading, writing.

import type { IncomingHttpHeaders } from 'node:http';
import { type Digest, digestSchema } from '../core/digest.ts';
import type { SendToken } from '../core/ids.ts';
import type { Asker } from './inquiry.ts';
import type { Checked, Identity } from './request.ts';

export const headerNames = {
  key: 'Idempotency-Key',
  principal: 'Holdfast-Principal',
  version: 'Holdfast-Operation-Version',
  domain: 'Holdfast-Domain',
  sendToken: 'Holdfast-Send-Token',
  firstSentAt: 'Holdfast-First-Sent-At',
  fenceScope: 'Holdfast-Fence-Scope',
  payloadDigest: 'Holdfast-Payload-Digest',
  externalId: 'Holdfast-External-Id',
  objectVersion: 'Holdfast-Object-Version',
  status: 'Idempotency-Status',
  replayed: 'Idempotent-Replayed',
} as const;

const UNPRINTABLE_OR_PERCENT = /[^\x20-\x24\x26-\x7e]+/g;
const PRINTABLE = /^[\x20-\x7e]*$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;

/** Printable ASCII stays; `%` and everything else become percent-encoded UTF-8. */
export function encodeHeaderText(text: string): string {
  return text.replaceAll(UNPRINTABLE_OR_PERCENT, (part) => encodeURIComponent(part));
}

/** A structured-field string (RFC 9651), as the Idempotency-Key draft wants it. */
export function encodeKeyHeader(key: string): string {
  return `"${encodeHeaderText(key).replaceAll(/[\\"]/g, '\\$&')}"`;
}

/** null: not a structured-field string, or not percent-encoded UTF-8 inside. */
export function decodeKeyHeader(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header.trim());
  return quoted === null ? null : decodeText((quoted[1] ?? '').replaceAll(/\\(["\\])/g, '$1'));
}

/**
 * null: malformed, or bytes beyond ASCII as they are. Those come in as Latin-1, and the same text,
 * encoded in a path, would be another one: a closing would miss what a request had done.
 */
export function decodeText(encoded: string): string | null {
  if (!PRINTABLE.test(encoded)) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The caller names the header in its refusal.
    return null;
  }
}

export function sendTokenText(token: SendToken): string {
  return `${token.epoch}.${token.number}`;
}

/** `epoch.number`, both positive decimal integers; null when it is anything else. */
export function parseSendToken(header: string): SendToken | null {
  const parts = /^([1-9]\d{0,15})\.([1-9]\d{0,15})$/.exec(header.trim());
  const [epoch, number] = [Number(parts?.[1]), Number(parts?.[2])];
  return Number.isSafeInteger(epoch) && Number.isSafeInteger(number) ? { epoch, number } : null;
}

function one(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(', ') : value;
}

function decoded(headers: IncomingHttpHeaders, name: string): Checked<string | undefined> {
  const raw = one(headers, name);
  if (raw === undefined) return { kind: 'ok', value: undefined };
  const value = decodeText(raw);
  return value === null ? bad(name, 'is not percent-encoded UTF-8') : { kind: 'ok', value };
}

function bad(name: string, why: string): { readonly kind: 'invalid'; readonly detail: string } {
  return { kind: 'invalid', detail: `header ${name} ${why}` };
}

/** Everything of an identity but the key, which POST has in a header and GET in the path. */
export function readIdentity(
  headers: IncomingHttpHeaders,
  operation: string,
  key: string,
): Checked<Identity> {
  const principal = decoded(headers, headerNames.principal);
  if (principal.kind === 'invalid') return principal;
  if (principal.value === undefined)
    return bad(headerNames.principal, 'is missing; name the principal that owns the key');
  const version = decoded(headers, headerNames.version);
  if (version.kind === 'invalid') return version;
  // No default: after an upgrade a default would make the retry of an old request a new operation.
  if (version.value === undefined)
    return bad(headerNames.version, 'is missing; name the contract version, see GET /capabilities');
  const domain = decoded(headers, headerNames.domain);
  if (domain.kind === 'invalid') return domain;
  const value = { operation, key, principal: principal.value, version: version.value };
  return { kind: 'ok', value: { ...value, domain: domain.value } };
}

export function readKey(headers: IncomingHttpHeaders): Checked<string> {
  const raw = one(headers, headerNames.key);
  if (raw === undefined) return bad(headerNames.key, 'is missing; nothing runs without a key');
  const key = decodeKeyHeader(raw);
  if (key === null)
    return bad(headerNames.key, 'is not quoted and percent-encoded, such as "order-1"');
  return { kind: 'ok', value: key };
}

export interface SendMarks {
  readonly sendToken?: SendToken | undefined;
  readonly firstSentAt?: number | undefined;
  readonly fenceScope?: string | undefined;
  readonly payloadDigest?: Digest | undefined;
}

export function readSendMarks(headers: IncomingHttpHeaders): Checked<SendMarks> {
  const token = one(headers, headerNames.sendToken);
  const sendToken = token === undefined ? undefined : parseSendToken(token);
  if (sendToken === null) return bad(headerNames.sendToken, 'is not "epoch.number", such as 1.2');
  const first = one(headers, headerNames.firstSentAt);
  const firstSentAt = first === undefined ? undefined : instantMs(first);
  if (firstSentAt === null)
    return bad(headerNames.firstSentAt, 'is not a UTC time such as 2030-01-31T09:00:00.000Z');
  const scope = decoded(headers, headerNames.fenceScope);
  if (scope.kind === 'invalid') return scope;
  const digest = digestSchema.optional().safeParse(one(headers, headerNames.payloadDigest));
  if (!digest.success) return bad(headerNames.payloadDigest, 'is not "sha256:" and 64 hex digits');
  const value = { sendToken, firstSentAt, fenceScope: scope.value, payloadDigest: digest.data };
  return { kind: 'ok', value };
}

/** Who asks, for inquiries and closings; undefined: it names no scope, so nothing is compared. */
export function readAsker(headers: IncomingHttpHeaders): Checked<Asker | undefined> {
  const marks = readSendMarks(headers);
  if (marks.kind === 'invalid') return marks;
  const { sendToken, fenceScope } = marks.value;
  if (fenceScope === undefined) return { kind: 'ok', value: undefined };
  if (sendToken === undefined) return bad(headerNames.fenceScope, 'needs a send token beside it');
  return { kind: 'ok', value: { sendToken, fenceScope } };
}

function instantMs(header: string): number | null {
  const ms = INSTANT.test(header.trim()) ? Date.parse(header.trim()) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
