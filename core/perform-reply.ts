// The shape of performAction's reply. Parsed by the workflow, because an operator can complete an
// activity with any JSON (`temporal activity complete`).

import * as z from 'zod';
import type { PerformReply } from './activity-calls.ts';
import { digestOf, type Json, jsonSchema } from './digest.ts';
import { count, id, revisionsSchema, settlementKindSchema } from './fact-fields.ts';
import { approvalAskSchema, headSchema } from './facts.ts';
import { type Outcome, outcomeSchema } from './outcome.ts';
import { refusalSchema } from './verdict.ts';

export const authoritySchema = z.object({
  epoch: count,
  revisions: revisionsSchema,
  revoked: z.boolean(),
  canceled: z.boolean(),
  topUps: count.optional(),
});
export const pinSchema = z.object({ id: z.string(), incarnation: count, head: headSchema });

const performReplySchema = z.object({
  verdict: refusalSchema,
  detail: z.string().nullable(),
  outcome: outcomeSchema.nullable(),
  settled: settlementKindSchema.nullable(),
  retryAfterMs: z.number().nonnegative().nullable(),
  value: jsonSchema.optional(),
  asks: approvalAskSchema.optional(),
  waits: z.object({ actionId: id, recordVersion: count }).optional(),
  authority: authoritySchema,
  pin: pinSchema,
});

/** Null when it is none about `actionId`: what really happened has to be asked of the ledger. */
export function performReplyOf(raw: unknown, actionId: string): PerformReply | null {
  const parsed = performReplySchema.safeParse(raw);
  if (!parsed.success) return null;
  if (!isAbout(parsed.data, actionId)) return null;
  const { value, asks, waits, ...rest } = parsed.data;
  return {
    ...rest,
    ...(value === undefined ? {} : { value }),
    ...(asks === undefined ? {} : { asks }),
    ...(waits === undefined ? {} : { waits }),
  };
}

/**
 * Whether outcome and value are the action's: another action's outcome, truly recorded, would agree
 * with the ledger at the next gate, and so would a made-up value beside a true digest.
 */
export function isAbout(
  { outcome, value }: { readonly outcome: Outcome | null; readonly value?: Json | undefined },
  actionId: string,
): boolean {
  if (outcome !== null && outcome.actionId !== actionId) return false;
  if (value === undefined) return true;
  return outcome?.kind === 'executed' && digestOf(value) === outcome.result.digest;
}
