// Why a command cannot be read, in words for the person who sent it.

import type * as z from 'zod';
import { limits } from '../core/limits.ts';
import { boundedWords } from '../core/words.ts';
import { UNDECODABLE } from './payload-converter.ts';

const ISSUES_SHOWN = 5;
/** It may quote the whole payload. */
const REASON_CHARS_MAX = 400;

/** Null when it is well-formed. */
export function problemOf(schema: z.ZodType, raw: unknown): string | null {
  if (raw === undefined) return 'no argument; paste one JSON object';
  if (isUndecodable(raw)) {
    const why = boundedWords(raw[UNDECODABLE], REASON_CHARS_MAX);
    return `its payload cannot be decoded (${why}); send JSON`;
  }
  if (Array.isArray(raw)) return 'an array arrived; paste the one JSON object without brackets';
  const parsed = schema.safeParse(raw);
  if (parsed.success) return null;
  const issues = parsed.error.issues.slice(0, ISSUES_SHOWN);
  const text = issues.map(({ path, message }) => `${path.join('.') || 'command'}: ${message}`);
  return boundedWords(text.join('; '), limits.noteCharsMax);
}

/** Anybody can send an object with this key: only what the converter makes has a text there. */
function isUndecodable(raw: unknown): raw is { readonly [UNDECODABLE]: string } {
  if (typeof raw !== 'object' || raw === null) return false;
  return UNDECODABLE in raw && typeof raw[UNDECODABLE] === 'string';
}
