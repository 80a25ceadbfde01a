// Canonical bytes and digests. Pure JavaScript, because workflows digest too and have no
// node:crypto.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import * as z from 'zod';
import { limits } from './limits.ts';

/** `sha256:` + 64 hex digits over the exact bytes named by the field that holds it. */
export type Digest = `sha256:${string}`;

export const digestSchema = z.custom<Digest>(
  (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value),
  'a digest is "sha256:" and 64 hex digits',
);

/** JSON as the digest understands it: no undefined, no class instances, no unsafe integers. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

export class NotCanonicalError extends Error {
  override readonly name = 'NotCanonicalError';
  readonly path: string;
  constructor(path: string, why: string) {
    super(`payload at ${path}: ${why}`);
    this.path = path;
  }
}

export function digestOfBytes(bytes: Uint8Array): Digest {
  return `sha256:${bytesToHex(sha256(bytes))}`;
}

/** Digest of the canonical text (RFC 8785). Throws NotCanonicalError naming the path. */
export function digestOf(value: unknown): Digest {
  return digestOfBytes(utf8ToBytes(canonicalJson(value)));
}

/**
 * RFC 8785 text of `value`. Refuses what JSON.stringify would change silently, so that two values
 * that differ in meaning never share a digest. Throws NotCanonicalError naming the path.
 */
export function canonicalJson(value: unknown): string {
  refuseLossy(value, '$', 0);
  return canonicalize(value) as string;
}

export function canonicalBytes(value: unknown): Uint8Array {
  return utf8ToBytes(canonicalJson(value));
}

/** Why `value` has no canonical form, or null. Bounded in depth, unlike a recursive schema. */
export function canonicalProblem(value: unknown): string | null {
  try {
    refuseLossy(value, '$', 0);
    return null;
  } catch (error) {
    if (error instanceof NotCanonicalError) return error.message;
    throw error;
  }
}

/** JSON that can be stored, as it is: `z.json()` recurses to any depth, and drops a `__proto__`. */
export const jsonSchema = z.custom<Json>().superRefine((value, context) => {
  const problem = canonicalProblem(value);
  if (problem !== null) context.addIssue({ code: 'custom', message: `not canonical: ${problem}` });
});

function refuseLossy(value: unknown, path: string, depth: number): asserts value is Json {
  if (depth > limits.payloadDepthMax)
    throw new NotCanonicalError(path, `nested deeper than ${limits.payloadDepthMax}`);
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') return refuseLoneSurrogate(value, path);
  if (typeof value === 'number') return refuseLossyNumber(value, path);
  if (typeof value !== 'object')
    throw new NotCanonicalError(path, `${typeof value} has no JSON form; leave the field out`);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) refuseLossy(value[i], `${path}[${i}]`, depth + 1);
    return;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new NotCanonicalError(path, 'only plain objects; convert dates, maps and classes first');
  if (Object.getOwnPropertySymbols(value).length > 0)
    throw new NotCanonicalError(path, 'symbol keys have no JSON form; leave them out');
  for (const [key, member] of Object.entries(value)) {
    refuseLoneSurrogate(key, `${path}.${key}`);
    refuseLossy(member, `${path}.${key}`, depth + 1);
  }
}

function refuseLossyNumber(value: number, path: string): void {
  if (!Number.isFinite(value)) throw new NotCanonicalError(path, `${value} is not a JSON number`);
  if (Object.is(value, -0)) throw new NotCanonicalError(path, '-0 would become 0; send 0');
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new NotCanonicalError(path, 'integer beyond 2^53-1; send it as a string');
}

function refuseLoneSurrogate(value: string, path: string): void {
  if (!value.isWellFormed())
    throw new NotCanonicalError(path, 'half a surrogate pair; send well-formed Unicode');
}
