// The replies of the activities without effects, as the workflow takes them: an operator can
// complete an activity with any JSON, and what is no reply must not fail the workflow task.

import * as z from 'zod';
import type { HoldfastActivities } from './activity-calls.ts';
import { digestSchema, type Json, jsonSchema } from './digest.ts';
import { count, id, inquiryVerdictSchema, payloadRefSchema } from './fact-fields.ts';
import { approvalAskSchema } from './facts.ts';
import { type Outcome, outcomeSchema, runResultSchema } from './outcome.ts';
import { authoritySchema, isAbout, pinSchema } from './perform-reply.ts';
import { questionSchema } from './question-shape.ts';
import { bindingSchema, toolPolicySchema } from './tool-policy.ts';
import { refusalSchema } from './verdict.ts';

type Infrastructure = Omit<HoldfastActivities, 'performAction'>;
type InfraName = keyof Infrastructure;
type Call<K extends InfraName> = Parameters<Infrastructure[K]>[0];
type Reply<K extends InfraName> = Awaited<ReturnType<Infrastructure[K]>>;

const headed = { authority: authoritySchema, pin: pinSchema };
const outcome = outcomeSchema.nullable();
const question = questionSchema.nullable();
const ended = z.object({ kind: z.literal('ended'), result: runResultSchema });

const walkEntrySchema = z.object({
  actionId: id,
  position: z.string(),
  binding: bindingSchema.nullable(),
  payload: payloadRefSchema.nullable(),
  outcome,
  openAttempts: z.array(id),
  attemptsEntered: count,
  rolled: digestSchema.nullable(),
});

const schemas: { readonly [K in InfraName]: z.ZodType } = {
  openRun: z.discriminatedUnion('kind', [
    ended,
    z.object({
      ...{ kind: z.literal('open'), ...headed },
      catalog: z.array(toolPolicySchema),
      model: toolPolicySchema.nullable(),
      walk: z.array(walkEntrySchema),
      walkNext: id.nullable(),
      base: digestSchema,
      amended: jsonSchema.optional(),
    }),
    z.object({
      kind: z.literal('refused'),
      reason: z.enum(['other_goal', 'needs_resume', 'unknown_tool', 'ledger_mismatch', 'invalid']),
      message: z.string(),
    }),
  ]),
  inquire: z.object({
    ...{ outcome, question, ...headed },
    openAttempts: z.array(id),
    permitted: z.boolean(),
    disputed: z.boolean(),
    abandoned: z.boolean(),
    recordVersion: count,
    verdict: inquiryVerdictSchema.nullable(),
    canAsk: z.boolean(),
    value: jsonSchema.optional(),
    asks: approvalAskSchema.optional(),
    continuable: z.literal(true).optional(),
  }),
  recordFacts: z.discriminatedUnion('kind', [
    z.object({
      ...{ kind: z.literal('doubt'), outcome, question, ...headed },
      state: z.enum(['in_doubt', 'closed', 'settled']),
    }),
    z.object({
      ...{ kind: z.literal('applied'), ...headed },
      what: z.enum(['applied', 'duplicate', 'rejected', 'disputed']),
      why: z.string().nullable(),
    }),
  ]),
  endRun: z.discriminatedUnion('kind', [
    ended,
    z.object({
      ...{ kind: z.literal('refused'), ...headed },
      verdict: refusalSchema,
      detail: z.string().nullable(),
    }),
  ]),
};

/** Null when it is none, or is about something else: then the activity is called again. */
export function infraReplyOf<K extends InfraName>(
  name: K,
  call: Call<K>,
  raw: unknown,
): Reply<K> | null {
  if (!schemas[name].safeParse(raw).success) return null;
  return isAboutCall(call, raw as Told) ? (raw as Reply<K>) : null;
}

interface Told {
  readonly kind?: string;
  readonly outcome?: Outcome | null;
  readonly value?: Json;
  readonly result?: { readonly runId: string };
}

function isAboutCall(call: Call<InfraName>, told: Told): boolean {
  if (told.result !== undefined && told.result.runId !== call.runId) return false;
  const asksDoubt = 'kind' in call && call.kind === 'doubt';
  if ('kind' in call && (told.kind === 'doubt') !== asksDoubt) return false;
  return (
    !('actionId' in call) || isAbout({ ...told, outcome: told.outcome ?? null }, call.actionId)
  );
}
