// Commands of people: the one schema file for signals, updates and the CLI. One JSON argument each.

import * as z from 'zod';
import { addedSchema } from './budget-limits.ts';
import { canonicalProblem, digestSchema, type Json } from './digest.ts';
import { isLargerThan } from './extent.ts';
import { grantSchema } from './grants.ts';
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

const evidenceKinds = ['receiver_query', 'object_observation', 'human_attestation'] as const;

/** What a person's answer rests on. Model text is never evidence. */
export const evidenceSchema = z.strictObject(
  {
    kind: z.enum(evidenceKinds),
    /** Where it can be looked up again: a query, a log line, a ticket. */
    source: note,
    detail: note.optional(),
  },
  {
    // Whoever only says so has to learn what is missing.
    error: ({ code }) =>
      code === 'invalid_type'
        ? `say what it rests on: {"kind", "source"}; kind is one of ${evidenceKinds.join(', ')}, ` +
          'source is where it can be looked up again'
        : undefined,
  },
);
export type Evidence = z.infer<typeof evidenceSchema>;

export const resolutionVerbSchema = z.enum([
  'confirm_executed',
  'confirm_not_executed',
  'authorize_retry',
  'abandon',
  'confirm_distinct',
  'settle_dispute',
]);
export type ResolutionVerb = z.infer<typeof resolutionVerbSchema>;

/** How a dispute ends. */
export const statedOutcomeSchema = z.enum(['executed', 'not_executed']);
export type StatedOutcome = z.infer<typeof statedOutcomeSchema>;

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
  z.strictObject({
    ...answerBase,
    verb: z.literal('confirm_distinct'),
    /** The action in doubt that this one waits for: it looks the same, and is another wish. */
    distinctFrom: id,
  }),
  z
    .strictObject({
      ...answerBase,
      verb: z.literal('settle_dispute'),
      states: statedOutcomeSchema,
      evidence: evidenceSchema,
      externalId: id.optional(),
      /** The result, if it could be obtained; else it stays missing. */
      result: json.optional(),
    })
    .refine(({ states, result }) => states === 'executed' || result === undefined, {
      message: 'what was not executed has no result',
    }),
]);
export type ResolveCommand = z.infer<typeof resolveSchema>;

/** `cancel`, and the ticket of `resume`: what they name besides the run is who and why. */
export const stopSchema = z.strictObject({ ...commandBase });
export type StopCommand = z.infer<typeof stopSchema>;

export const revokeSchema = z.strictObject({
  ...commandBase,
  /** Left in force: receivers may still be asked what became of open actions. Default: nothing. */
  keep: z.array(z.literal('query')).max(1).optional(),
});
export type RevokeCommand = z.infer<typeof revokeSchema>;

/** A new goal, as `agentRun` takes one, or new grants in place of all the old ones, or both. */
export const amendSchema = z
  .strictObject({
    ...commandBase,
    goal: json.optional(),
    grants: z.array(grantSchema).max(grantSchema.options.length).optional(),
  })
  .refine(({ goal, grants }) => goal !== undefined || grants !== undefined, {
    message: 'it changes nothing; give a goal, or grants, or both',
  });
export type AmendCommand = z.infer<typeof amendSchema>;

/** `approve` and `deny`: one pending action, and exactly what it was asked to do. */
export const approvalSchema = z.strictObject({
  ...commandBase,
  actionId: id,
  /** As the run shows it beside what it waits for: binding, payload and revision. */
  bound: digestSchema,
});
export type ApprovalCommand = z.infer<typeof approvalSchema>;

/** Adds to the budget; what is not named stays as it is. */
export const topUpSchema = z
  .strictObject({ ...commandBase, ...addedSchema.shape })
  .refine((command) => Object.keys(addedSchema.shape).some((name) => name in command), {
    message: 'it adds nothing; give requests, tokens, micros or wallTimeMs',
  });
export type TopUpCommand = z.infer<typeof topUpSchema>;

/** What changes the authority of a run, by the name of its signal and update. */
export const authorityCommands = {
  revoke: revokeSchema,
  cancel: stopSchema,
  amend: amendSchema,
  approve: approvalSchema,
  deny: approvalSchema,
  topUp: topUpSchema,
} as const;
export type AuthorityVerb = keyof typeof authorityCommands;
export type AuthorityCommand<V extends AuthorityVerb = AuthorityVerb> = z.infer<
  (typeof authorityCommands)[V]
>;

/** Hints only: whoever gets one reads the ledger again. */
export const lateFactSchema = z.strictObject({
  actionId: id,
  attemptId: id.nullable(),
  outcomeDigest: digestSchema.nullable(),
});
export type LateFact = z.infer<typeof lateFactSchema>;
