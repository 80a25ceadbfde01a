// What a caller sends. An operation is identified by principal + domain + operation + version + key
// (A1), never by the key alone: two tenants may choose the same key.

import * as z from 'zod';
import {
  canonicalJson,
  type Digest,
  digestOf,
  digestOfBytes,
  digestSchema,
  type Json,
} from '../core/digest.ts';
import { type SendToken, sendTokenSchema } from '../core/ids.ts';
import { receiverLimits } from './limits.ts';

export interface Identity {
  /** Tenant or user on whose behalf; no stored answer ever crosses it. */
  readonly principal: string;
  /** Region or installation that de-duplicates together. Absent: the one this receiver serves. */
  readonly domain?: string | undefined;
  readonly operation: string;
  /** Version of the operation's contract, as the caller knows it. */
  readonly version: string;
  readonly key: string;
}

/** An identity whose domain is known. */
export interface FullIdentity extends Identity {
  readonly domain: string;
}

export interface OperationRequest extends Identity {
  readonly sendToken?: SendToken | undefined;
  /** What a fence protects, e.g. a run; needs a send token, whose epoch is compared. */
  readonly fenceScope?: string | undefined;
  /** Epoch milliseconds of the first attempt that carried this key. */
  readonly firstSentAt?: number | undefined;
  /** The caller's own digest of what it decided on; told to whoever asks about the key. */
  readonly payloadDigest?: Digest | undefined;
  readonly input: Json;
}

/** U+0000 is no text in Postgres; one rule for both stores. */
const storable = (text: string) => text.isWellFormed() && !text.includes('\0');
const UNSTORABLE = 'half a surrogate pair or U+0000';

const name = z.string().min(1).max(receiverLimits.nameCharsMax).refine(storable, UNSTORABLE);

export function isName(text: string): boolean {
  return name.safeParse(text).success;
}

const identitySchema = z.object({
  principal: name,
  domain: name.optional(),
  operation: name,
  version: name,
  key: z.string().min(1).max(receiverLimits.keyCharsMax).refine(storable, UNSTORABLE),
});

const requestSchema = identitySchema
  .extend({
    sendToken: sendTokenSchema.optional(),
    fenceScope: name.optional(),
    firstSentAt: z.number().int().nonnegative().optional(),
    payloadDigest: digestSchema.optional(),
    input: z.custom<Json>((value) => value !== undefined, 'the input is missing; send JSON'),
  })
  .refine(
    (request) => request.fenceScope === undefined || request.sendToken !== undefined,
    'a fence scope needs a send token; add it',
  );

export interface CheckedRequest extends OperationRequest, FullIdentity {
  readonly domain: string;
  readonly digest: Digest;
  readonly inputDigest: Digest;
  readonly inputText: string;
}

export type Checked<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'invalid'; readonly detail: string };

export function checkIdentity(identity: Identity, domainServed: string): Checked<FullIdentity> {
  const parsed = identitySchema.safeParse(identity);
  if (!parsed.success) return invalid(z.prettifyError(parsed.error));
  const domain = parsed.data.domain ?? domainServed;
  if (domain !== domainServed)
    return invalid(`domain "${domain}" is not served here; this receiver is "${domainServed}"`);
  return { kind: 'ok', value: { ...parsed.data, domain } };
}

/** Digest and canonical text are taken before anything is stored (A3). */
export function checkRequest(
  request: OperationRequest,
  domainServed: string,
): Checked<CheckedRequest> {
  const parsed = requestSchema.safeParse(request);
  if (!parsed.success) return invalid(z.prettifyError(parsed.error));
  const identity = checkIdentity(parsed.data, domainServed);
  if (identity.kind === 'invalid') return identity;
  const { operation, version, input } = parsed.data;
  try {
    const digest = digestOf({ operation, version, input });
    const { domain } = identity.value;
    const inputText = canonicalJson(input);
    const inputDigest = digestOfBytes(Buffer.from(inputText, 'utf8'));
    return { kind: 'ok', value: { ...parsed.data, domain, digest, inputDigest, inputText } };
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
}

function invalid(detail: string): { readonly kind: 'invalid'; readonly detail: string } {
  return { kind: 'invalid', detail };
}
