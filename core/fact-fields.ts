// Fields that record kinds share. Add-only, like the kinds themselves.

import * as z from 'zod';
import { digestSchema } from './digest.ts';
import { limits } from './limits.ts';

export const id = z.string().min(1).max(limits.idCharsMax);
export const note = z.string().min(1).max(limits.noteCharsMax);
export const count = z.number().int().nonnegative();
export const at = z.number().int().nonnegative();

export const sourceSchema = z.enum([
  'history',
  'execution',
  'late_result',
  'receiver_inquiry',
  'object_observation',
  'human',
]);
export type Source = z.infer<typeof sourceSchema>;

export const revisionsSchema = z.strictObject({ goal: count, auth: count });
export type Revisions = z.infer<typeof revisionsSchema>;

/**
 * What an attempt depends on besides its payload, each as a version its tool can name: the object
 * it changes, the methods it is made of, the credential it acts with (identity and scope).
 */
export const versionsSchema = z.strictObject({
  object: id.optional(),
  dependencies: id.optional(),
  credentials: id.optional(),
});
export type Versions = z.infer<typeof versionsSchema>;

export const principalSchema = z.strictObject({
  user: id,
  workspace: id,
  account: id.optional(),
});
export type Principal = z.infer<typeof principalSchema>;

export const payloadRefSchema = z.strictObject({ digest: digestSchema, bytes: count });
export type PayloadRef = z.infer<typeof payloadRefSchema>;

/** What an attempt had received before it was decided on; see `consumes.ts`. */
const pairSchema = z.strictObject({
  actionId: id,
  outcome: z.union([digestSchema, z.literal('open'), z.literal('not_executed')]),
});
export type Pair = z.infer<typeof pairSchema>;
export const consumesSchema = z.strictObject({
  base: digestSchema,
  pairs: z.array(pairSchema).max(limits.consumesPairsMax),
});
export type Consumes = z.infer<typeof consumesSchema>;

export const partSchema = z.strictObject({
  name: z.string().min(1),
  state: z.enum(['confirmed', 'unconfirmed']),
});
export type Part = z.infer<typeof partSchema>;

/**
 * By what an inquiry recognises the effect of one attempt: short names and values of its tool, for
 * people too, e.g. the inode of a draft. No secrets.
 */
export const marksSchema = z
  .record(z.string().min(1).max(limits.labelCharsMax), z.string().max(limits.markCharsMax))
  .refine((marks) => Object.keys(marks).length <= limits.marksMax, {
    error: `more than ${limits.marksMax} marks`,
  });
export type Marks = Readonly<Record<string, string>>;

/** What a check, a test run or a review found about an object, at one version of it. */
export const evaluationSchema = z.strictObject({
  /** The external id that the tool gave which wrote it. */
  object: id,
  /** Of what was looked at, e.g. the digest of the bytes that were tested. */
  objectVersion: id,
  verdict: z.enum(['accepted', 'rejected']),
});
export type Evaluation = z.infer<typeof evaluationSchema>;

/** A tool call a stored model reply proposes; `input` is the stored payload. */
export const proposedCallSchema = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  input: payloadRefSchema,
});
export type ProposedCall = z.infer<typeof proposedCallSchema>;

export const settlementKindSchema = z.enum([
  'executed',
  'partial',
  'accepted',
  'refused',
  'not_taken',
  'not_sent',
]);
export type SettlementKind = z.infer<typeof settlementKindSchema>;

export const claimScopeSchema = z.enum(['facts', 'effects']);

export const inquiryVerdictSchema = z.enum([
  'executed',
  'not_executed',
  'processing',
  'no_record',
  'partial',
  'conflict',
  'unavailable',
  'forbidden',
]);
export type InquiryVerdict = z.infer<typeof inquiryVerdictSchema>;

const stopReasons = [
  'revoked',
  'canceled',
  'budget',
  'payload_conflict',
  'predecessor_mismatch',
  'binding_changed',
  'disputed',
  'claim_stale',
  'ledger_mismatch',
  /** What the run builds on was not executed, or in part: a plan's step, the model's own call. */
  'blocked',
] as const;
export const endSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('completed') }),
  z.strictObject({ kind: z.literal('stopped'), reason: z.enum(stopReasons) }),
  z.strictObject({ kind: z.literal('ended_with_unknown') }),
]);
export type End = z.infer<typeof endSchema>;
export type StopReason = (typeof stopReasons)[number];
