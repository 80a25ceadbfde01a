// What `act()` answers and what a run answers.

import * as z from 'zod';
import { costTotalSchema } from './cost.ts';
import { type Digest, digestOf, digestSchema } from './digest.ts';
import {
  endSchema,
  id,
  type Part,
  partSchema,
  payloadRefSchema,
  proposedCallSchema,
} from './fact-fields.ts';

/** Reasons for `not_executed`: a refusal of the gate, of the receiver, or of a person. */
const reason = z.string().min(1);

/** The wire form of an action's outcome: references only. */
export const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('executed'),
    actionId: id,
    digest: digestSchema,
    result: payloadRefSchema,
    externalId: id.nullable(),
    calls: z.array(proposedCallSchema),
  }),
  z.object({
    kind: z.literal('executed_result_missing'),
    actionId: id,
    digest: digestSchema,
    reason,
    externalId: id.nullable(),
  }),
  z.object({
    kind: z.literal('not_executed'),
    actionId: id,
    /**
     * Of a receiver's refusal, which is final; null where the action simply has no effect so far.
     */
    digest: digestSchema.nullable(),
    reason,
    message: z.string(),
  }),
  z.object({
    kind: z.literal('partial'),
    actionId: id,
    digest: digestSchema,
    parts: z.array(partSchema),
    externalId: id.nullable(),
  }),
  z.object({ kind: z.literal('accepted'), actionId: id, externalId: id.nullable() }),
  z.object({ kind: z.literal('unknown'), actionId: id, reason, abandoned: z.boolean() }),
]);
export type Outcome = z.infer<typeof outcomeSchema>;

/** Typed answer of `act()` in a workflow; `unknown` only with `onUnknown: 'continue'`. */
export type ActOutcome<R> =
  | {
      kind: 'executed';
      actionId: string;
      result: R;
      externalId: string | null;
    }
  | {
      kind: 'executed_result_missing';
      actionId: string;
      reason: string;
      externalId: string | null;
    }
  | { kind: 'not_executed'; actionId: string; reason: string; message: string }
  | {
      kind: 'partial';
      actionId: string;
      parts: { name: string; state: 'confirmed' | 'unconfirmed' }[];
      externalId: string | null;
    }
  | { kind: 'accepted'; actionId: string; externalId: string | null }
  | { kind: 'unknown'; actionId: string; reason: string }
  | { kind: 'stopped'; actionId: string; reason: string };

export interface FinalContent {
  readonly kind: 'executed' | 'executed_result_missing' | 'partial' | 'refused' | 'not_executed';
  readonly result: Digest | null;
  readonly parts: readonly Part[];
  readonly externalId: string | null;
}

/** Digest of (action id, kind, result digest or parts, external id) of a final outcome. */
export function outcomeDigest(actionId: string, content: FinalContent): Digest {
  return digestOf({
    actionId,
    kind: content.kind,
    result: content.result,
    parts: content.parts.map(({ name, state }) => ({ name, state })),
    externalId: content.externalId,
  });
}

/** One line of a run result. */
const effectLineSchema = z.object({
  actionId: id,
  tool: z.string(),
  outcome: z.enum([
    'executed',
    'executed_result_missing',
    'partial',
    'accepted',
    'unknown',
    'not_executed',
  ]),
  externalId: id.nullable(),
  authRevision: z.number().int(),
  /** Tools that undo it, where it had an effect: options, each a new action. */
  compensation: z.array(z.string()).optional(),
});
export type EffectLine = z.infer<typeof effectLineSchema>;

export const runResultSchema = z.object({
  runId: z.string(),
  end: endSchema,
  answer: payloadRefSchema.nullable(),
  /** At most limits.resultListMax each; the counts are always whole. */
  effects: z.array(effectLineSchema),
  effectsCount: z.number().int(),
  unknowns: z.array(effectLineSchema),
  unknownsCount: z.number().int(),
  /** Results that came after the run had stopped waiting for them, under their old revision. */
  lateFacts: z.array(effectLineSchema),
  lateFactsCount: z.number().int(),
  cost: costTotalSchema,
  costText: z.string(),
  /** Ending a run undoes nothing. */
  undone: z.literal(false),
});
export type RunResult = z.infer<typeof runResultSchema>;
