// The question as it arrives: mostly from the run or an activity; anybody can start a workflow.

import * as z from 'zod';
import { resolveSchema } from './commands.ts';
import { digestSchema } from './digest.ts';
import { marksSchema } from './fact-fields.ts';
import type { Question } from './question.ts';

const id = z.string().min(1).max(1_000);

export const questionSchema = z.object({
  question: z.string(),
  run: id,
  signal: z.literal('resolve'),
  if_yes: resolveSchema,
  if_no: resolveSchema,
  more: z.array(resolveSchema),
  // From here on: what questions of earlier versions do not have.
  follows: z.record(z.string(), z.string()).optional(),
  outcomes: z.array(z.object({ outcome: z.string(), source: z.string() })).optional(),
  evidence: z.object({
    tool: z.string(),
    receiver: z.string().nullable(),
    receiverKey: z.string(),
    payloadDigest: digestSchema,
    attempts: z.array(id),
    enteredAt: z.string(),
    level: z.enum(['L0', 'L1', 'L2', 'L3']),
    closing: z.enum(['none', 'by_token', 'by_key']).optional(),
    fencing: z.enum(['none', 'honoured']).optional(),
    resendUntil: z.string().nullable().optional(),
    compensation: z.array(z.string()).optional(),
    marks: marksSchema.optional(),
    why: z.string(),
    // Questions of earlier versions do not have it.
    doubt: z.string().nullable().default(null),
    lastAnswer: z.string().nullable(),
    authRevision: z.number().int(),
  }),
  action: z.object({ runId: id, actionId: id, attemptIds: z.array(id) }),
});

/** What is wrong with it, for whoever started it; null: it is a question. */
export function questionProblem(raw: unknown): string | null {
  const parsed = questionSchema.safeParse(raw);
  return parsed.success ? null : z.prettifyError(parsed.error);
}

/** Only after `questionProblem` said null. */
export function questionIn(raw: unknown): Question {
  return questionSchema.parse(raw);
}
