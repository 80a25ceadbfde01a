// The shape of performAction's reply. Parsed by the workflow, because an operator can complete an
// activity with any JSON (`temporal activity complete`).

import * as z from 'zod';
import type { PerformReply } from './activity-calls.ts';
import { jsonSchema } from './digest.ts';
import { count, revisionsSchema, settlementKindSchema } from './fact-fields.ts';
import { headSchema } from './facts.ts';
import { outcomeSchema } from './outcome.ts';
import { refusalSchema } from './verdict.ts';

const authoritySchema = z.object({
  epoch: count,
  revisions: revisionsSchema,
  revoked: z.boolean(),
  canceled: z.boolean(),
});
const pinSchema = z.object({ id: z.string(), incarnation: count, head: headSchema });

const performReplySchema = z.object({
  verdict: refusalSchema,
  detail: z.string().nullable(),
  outcome: outcomeSchema.nullable(),
  settled: settlementKindSchema.nullable(),
  retryAfterMs: z.number().nonnegative().nullable(),
  value: jsonSchema.optional(),
  authority: authoritySchema,
  pin: pinSchema,
});

/** Null when it is none: what really happened then has to be asked of the ledger. */
export function performReplyOf(raw: unknown): PerformReply | null {
  const parsed = performReplySchema.safeParse(raw);
  if (!parsed.success) return null;
  const { value, ...rest } = parsed.data;
  return value === undefined ? rest : { ...rest, value };
}
