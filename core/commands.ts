// Commands of people: the one schema file for signals, updates and the CLI. One JSON argument each.
// Further verbs (amend, approve, deny, topUp) join the union here.

import * as z from 'zod';
import { canonicalProblem, digestSchema, type Json } from './digest.ts';
import { isLargerThan } from './extent.ts';
import { limits } from './limits.ts';

/** Facts take well-formed Unicode only; what could not be recorded must not be accepted. */
const text = (charsMax: number) =>
  z
    .string()
    .min(1)
    .max(charsMax)
    .refine((value) => value.isWellFormed(), 'half a surrogate pair; send well-formed Unicode');
const note = text(limits.noteCharsMax);

/** Bounded first: megabytes of brackets take longer to look through than a workflow task lasts. */
const json = z.custom<Json>().superRefine((value, context) => {
  const max = limits.commandJsonCharsMax;
  const problem = isLargerThan(value, max)
    ? `larger than ${max} characters; keep it where it is and name the place`
    : canonicalProblem(value);
  if (problem !== null) context.addIssue({ code: 'custom', message: `not canonical: ${problem}` });
});
const id = text(limits.idCharsMax);

const commandBase = {
  /** Makes the command idempotent: the same id is applied once, for ever. */
  id: text(limits.commandIdCharsMax),
  /** Who says so. Signals do not authenticate: the server's authorizer does. */
  actor: text(limits.actorCharsMax),
  reason: note,
};

/** What a person's answer rests on. Model text is never evidence. */
export const evidenceSchema = z.strictObject({
  kind: z.enum(['receiver_query', 'object_observation', 'human_attestation']),
  /** Where it can be looked up again: a query, a log line, a ticket. */
  source: note,
  detail: note.optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

export const resolutionVerbSchema = z.enum([
  'confirm_executed',
  'confirm_not_executed',
  'authorize_retry',
  'abandon',
]);
export type ResolutionVerb = z.infer<typeof resolutionVerbSchema>;

const answerBase = {
  ...commandBase,
  actionId: id,
  /** Fact number of the action's last fact the answer was based on. */
  recordVersion: z.number().int().positive(),
};

export const resolveSchema = z.discriminatedUnion('verb', [
  z.strictObject({
    ...answerBase,
    verb: z.literal('confirm_executed'),
    evidence: evidenceSchema,
    externalId: id.optional(),
    /** The result, if it could be obtained; else it stays missing. */
    result: json.optional(),
  }),
  z.strictObject({
    ...answerBase,
    verb: z.literal('confirm_not_executed'),
    evidence: evidenceSchema,
    /** Which attempts, which receiver, until when, and why nothing can arrive later. */
    coverage: note,
    /** Only true where the old request can no longer arrive; else a retry needs authorize_retry. */
    oldRequestCannotArrive: z.boolean(),
  }),
  z.strictObject({
    ...answerBase,
    verb: z.literal('authorize_retry'),
    /** Stated by the person where the receiver does not de-duplicate. */
    acceptsPossibleDuplicate: z.boolean(),
  }),
  z.strictObject({ ...answerBase, verb: z.literal('abandon') }),
]);
export type ResolveCommand = z.infer<typeof resolveSchema>;

/** `revoke` and `cancel`: what they name besides the run is who and why. */
export const stopSchema = z.strictObject({ ...commandBase });
export type StopCommand = z.infer<typeof stopSchema>;

/** Hints only: whoever gets one reads the ledger again. */
export const lateFactSchema = z.strictObject({
  actionId: id,
  attemptId: id.nullable(),
  outcomeDigest: digestSchema.nullable(),
});
export type LateFact = z.infer<typeof lateFactSchema>;
