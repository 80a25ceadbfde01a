// Why a command cannot be read, in words for the person who sent it.

import type * as z from 'zod';
import { limits } from '../core/limits.ts';
import { boundedWords } from '../core/words.ts';
import { UNDECODABLE } from './payload-converter.ts';

const ISSUES_SHOWN = 5;

/** Null when it is well-formed. */
export function problemOf(schema: z.ZodType, raw: unknown): string | null {
  if (raw === undefined) return 'no argument; paste one JSON object';
  if (typeof raw === 'object' && raw !== null && UNDECODABLE in raw)
    return `its payload cannot be decoded (${String(raw[UNDECODABLE])}); send JSON`;
  if (Array.isArray(raw)) return 'an array arrived; paste the one JSON object without brackets';
  const parsed = schema.safeParse(raw);
  if (parsed.success) return null;
  const issues = parsed.error.issues.slice(0, ISSUES_SHOWN);
  const text = issues.map(({ path, message }) => `${path.join('.') || 'command'}: ${message}`);
  return boundedWords(text.join('; '), limits.noteCharsMax);
}
