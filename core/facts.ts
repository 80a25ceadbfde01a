// The record kinds: one append-only fact each, permanent. Fields are added, never removed or
// renamed. What one fact may say after another is in `fact-rules.ts`; what facts mean together in
// `run-state.ts`.

import * as z from 'zod';
import { addedSchema, budgetSchema, reserveSchema } from './budget-limits.ts';
import { evidenceSchema, resolutionVerbSchema, statedOutcomeSchema } from './commands.ts';
import { costSchema } from './cost.ts';
import { digestSchema } from './digest.ts';
import {
  at,
  claimScopeSchema,
  consumesSchema,
  count,
  endSchema,
  evaluationSchema,
  id,
  inquiryVerdictSchema,
  marksSchema,
  note,
  partSchema,
  payloadRefSchema,
  principalSchema,
  proposedCallSchema,
  revisionsSchema,
  settlementKindSchema,
  sourceSchema,
  versionsSchema,
} from './fact-fields.ts';
import { grantSchema } from './grants.ts';
import { positionSchema, runIdSchema, sendTokenSchema } from './ids.ts';
import { bindingSchema, onUnknownSchema, replayPolicySchema } from './tool-policy.ts';
import { refusalSchema } from './verdict.ts';

export const FACT_SCHEMA = 'holdfast/1';

/** What an approval has to name, how long it then holds, and what else was the case. */
export const approvalAskSchema = z.object({
  /** Digest of binding, payload and revisions. */
  bound: digestSchema,
  /** From the decision on; null: for ever. */
  validForMs: z.number().int().positive().nullable(),
  versions: versionsSchema,
  /** Decisions on just this that have expired; absent: none. */
  earlier: count.optional(),
});
export type ApprovalAsk = z.infer<typeof approvalAskSchema>;

const runOpened = z.object({
  kind: z.literal('run_opened'),
  claim: z.object({
    owner: id,
    scope: claimScopeSchema,
    firstExecutionRunId: id,
    /** Consumed by a takeover; null for the first opening. */
    ticket: id.nullable(),
    /** What an old executor may still do, in words; R-099. */
    oldExecutor: note,
  }),
  epoch: z.number().int().positive(),
  principal: principalSchema,
  goal: payloadRefSchema,
  revisions: revisionsSchema,
  grants: z.array(grantSchema),
  /** Bindings pinned for the run; the whole catalog is the payload. */
  catalog: payloadRefSchema,
  bindings: z.array(bindingSchema),
  scope: z.object({ installation: id, namespace: id }),
  ledger: z.object({ id, incarnation: count }),
  /** As declared at the start; absent: nothing is limited. */
  budget: budgetSchema.optional(),
});

const attemptEntered = z.object({
  kind: z.literal('attempt_entered'),
  actionId: id,
  attemptId: id,
  position: positionSchema,
  number: z.number().int().positive(),
  entryToken: id,
  resultId: id,
  payload: payloadRefSchema,
  binding: bindingSchema,
  replay: replayPolicySchema,
  onUnknown: onUnknownSchema,
  domain: z.string().nullable(),
  receiverKey: id,
  /**
   * Equal for two intents of the same principal, tool, domain and payload; null for safe and model.
   */
  intentDigest: digestSchema.nullable(),
  /** Whether a partial effect can be continued at the receiver; decides what `partial` ends. */
  continuing: z.enum(['none', 'own_protocol']),
  /** Ledger time after which a keyed resend is refused; null where no key is kept. */
  resendUntil: at.nullable(),
  revisions: revisionsSchema,
  sendToken: sendTokenSchema,
  consumes: consumesSchema,
  /** The digest of `consumes`; a later attempt may build on it. */
  rolled: digestSchema,
  permit: id.nullable(),
  verify: z.object({ method: z.enum(['inquiry', 'none']), why: note }),
  /** Command id of the approval it acts under, where its tool asks for one. */
  approval: id.optional(),
  /** The most it may cost; held until its cost is known. */
  reserve: reserveSchema.optional(),
  versions: versionsSchema.optional(),
  /** The action whose effect it undoes, and the version that its object then had. */
  compensates: z.object({ actionId: id, objectVersion: id.nullable() }).optional(),
  /** Tools that undo what its own tool does, as they were declared when it entered. */
  compensation: z.array(z.string()).optional(),
});

/** Before its effect: by what it will be recognised. What never prepared never had one. */
const attemptPrepared = z.object({
  kind: z.literal('attempt_prepared'),
  actionId: id,
  attemptId: id,
  marks: marksSchema,
});

const attemptRefused = z.object({
  kind: z.literal('attempt_refused'),
  actionId: id,
  attemptId: id,
  position: positionSchema.nullable(),
  verdict: refusalSchema,
  detail: note.nullable(),
  /** The intent that stays unsent; null where the attempt closed before its payload was known. */
  payload: payloadRefSchema.nullable(),
  tool: z.string().nullable(),
  revisions: revisionsSchema,
  /** `approval_missing`: what a person is asked to approve. */
  asks: approvalAskSchema.optional(),
  /** `twin_unknown`: the action in doubt that looks the same. */
  twin: id.optional(),
});

const attemptSettled = z.object({
  kind: z.literal('attempt_settled'),
  actionId: id,
  attemptId: id,
  resultId: id,
  outcome: settlementKindSchema,
  /** Null: the result is missing, `resultMissing` says why. */
  result: payloadRefSchema.nullable(),
  resultMissing: note.nullable(),
  parts: z.array(partSchema),
  externalId: id.nullable(),
  objectVersion: id.nullable(),
  evaluates: z.array(evaluationSchema).optional(),
  /** Of a refusal or not_taken: the receiver's code and words. */
  refusal: z.object({ code: z.string().min(1), message: z.string() }).nullable(),
  calls: z.array(proposedCallSchema),
  cost: costSchema,
  /** The revision the attempt was decided under; a late result keeps it. */
  revisions: revisionsSchema,
});

const actionInDoubt = z.object({
  kind: z.literal('action_in_doubt'),
  actionId: id,
  attemptIds: z.array(id).min(1),
  why: note,
  revisions: revisionsSchema,
});

const observation = z.object({
  kind: z.literal('observation'),
  actionId: id,
  attemptId: id.nullable(),
  about: z.enum(['inquiry', 'settlement_after_final', 'second_effect', 'orphan_result', 'note']),
  verdict: inquiryVerdictSchema.nullable(),
  /** Why a `not_executed` is final for this attempt (`closed_key`: for the action). */
  proof: z.enum(['closed_token', 'closed_key', 'settled']).nullable(),
  detail: note,
  externalId: id.nullable(),
  objectVersion: id.nullable(),
  cost: costSchema,
  /** Of what the receiver had accepted and has now ended. */
  result: payloadRefSchema.optional(),
  parts: z.array(partSchema).optional(),
});

const resolution = z.object({
  kind: z.literal('resolution'),
  actionId: id,
  commandId: id,
  verb: resolutionVerbSchema,
  actor: id,
  reason: note,
  evidence: evidenceSchema.nullable(),
  coverage: note.nullable(),
  recordVersion: count,
  externalId: id.nullable(),
  result: payloadRefSchema.nullable(),
  /** `confirm_not_executed` only: the old request can no longer arrive. */
  oldRequestCannotArrive: z.boolean(),
  /** `authorize_retry` only. */
  acceptsPossibleDuplicate: z.boolean(),
  /** Single-use permit for one more attempt, or null. */
  permit: id.nullable(),
  /** `confirm_distinct`: the action that looks the same and is another wish. */
  distinctFrom: id.optional(),
  /** `settle_dispute`: what holds. */
  states: statedOutcomeSchema.optional(),
});

const authorityChanged = z.object({
  kind: z.literal('authority_changed'),
  change: z.enum(['revoke', 'amend', 'approve', 'deny', 'top_up', 'cancel', 'permit']),
  commandId: id,
  actor: id,
  reason: note,
  /** Where in the walk it took effect; null when it came before or without a walk. */
  position: positionSchema.nullable(),
  /** After the change. */
  revisions: revisionsSchema,
  /** Takeover ticket of `resume` (change = permit). */
  ticket: id.nullable(),
  /** After the change, where it changed them. */
  grants: z.array(grantSchema).optional(),
  /** `amend`: the goal of the new revision. */
  goal: payloadRefSchema.optional(),
  /** `approve` and `deny`: what was decided on, and until when it holds (absent: for ever). */
  actionId: id.optional(),
  bound: digestSchema.optional(),
  validUntil: at.optional(),
  /** `top_up`. */
  added: addedSchema.optional(),
});

const commandRejected = z.object({
  kind: z.literal('command_rejected'),
  commandId: id.nullable(),
  name: z.string().min(1).max(200),
  why: note,
});

const runEnded = z.object({
  kind: z.literal('run_ended'),
  end: endSchema,
  epoch: z.number().int().positive(),
  openUnknowns: z.array(id),
  /**
   * What the run answers: the payload of the last model text or of the wrapped workflow's value.
   */
  answer: payloadRefSchema.nullable(),
});

const payloadErased = z.object({
  kind: z.literal('payload_erased'),
  digest: digestSchema,
  actor: id,
  reason: note,
});

export const factBodySchema = z.discriminatedUnion('kind', [
  runOpened,
  attemptEntered,
  attemptPrepared,
  attemptRefused,
  attemptSettled,
  actionInDoubt,
  observation,
  resolution,
  authorityChanged,
  commandRejected,
  runEnded,
  payloadErased,
]);
export type FactBody = z.infer<typeof factBodySchema>;
export type FactKind = FactBody['kind'];
export type BodyOf<K extends FactKind> = Extract<FactBody, { kind: K }>;

/** What a decision wants written; the ledger adds number, time and chain. */
export interface NewFact {
  readonly source: z.infer<typeof sourceSchema>;
  readonly body: FactBody;
}

export const factSchema = z.object({
  schema: z.literal(FACT_SCHEMA),
  runId: runIdSchema,
  /** 1, 2, 3 … without a gap, per run. */
  seq: z.number().int().positive(),
  /** Ledger time in ms since the epoch; never steps back within an incarnation. */
  at,
  source: sourceSchema,
  body: factBodySchema,
  /** Digest of the previous fact's exact bytes; of the run id for the first. */
  prev: digestSchema,
});
export type Fact = z.infer<typeof factSchema>;

/** The end of a run's chain; stored apart and carried by every reply. `count` 0: no facts yet. */
export const headSchema = z.object({ count, hash: digestSchema });
export type Head = z.infer<typeof headSchema>;
