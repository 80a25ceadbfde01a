// From what an adapter returned to what is stored. Anything that is not one of the six settlements
// is no settlement: the caller treats it like a throw, as ambiguous.

import * as z from 'zod';
import { type Cost, costSchema } from '../core/cost.ts';
import { canonicalBytes, digestOfBytes } from '../core/digest.ts';
import { evaluationSchema } from '../core/fact-fields.ts';
import { limits } from '../core/limits.ts';
import type { SettleAsk } from '../core/settle.ts';
import { boundedWords } from '../core/words.ts';
import type { Performed } from './binding.ts';
import { messageOf } from './failures.ts';
import { receiverNameSchema, receiverPartsSchema } from './receiver-words.ts';

const id = receiverNameSchema;
/** What became of the operation does not hang on a bill that cannot be read. */
const cost = costSchema
  .optional()
  .catch({ kind: 'unknown', reason: 'its tool named something that is no cost' });
/** A judgement that cannot be read is none: an earlier one must not stand because of it. */
const evaluations = z
  .array(evaluationSchema.extend({ object: id, objectVersion: id }))
  .max(limits.evaluationsMax)
  .optional();
const told = { code: z.string().min(1), message: z.string() };

const settlementSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('executed'),
    result: z.unknown(),
    externalId: id.optional(),
    objectVersion: id.optional(),
    evaluates: evaluations,
    cost,
  }),
  z.object({
    kind: z.literal('partial'),
    parts: receiverPartsSchema,
    externalId: id.optional(),
    cost,
  }),
  z.object({ kind: z.literal('accepted'), externalId: id, cost }),
  z.object({ kind: z.literal('refused'), ...told, cost }),
  z.object({
    kind: z.literal('not_taken'),
    ...told,
    retryAfterMs: z.number().nonnegative().optional(),
  }),
]);

export interface Settled {
  readonly ask: SettleAsk;
  readonly retryAfterMs: number | null;
}

export interface AttemptRef {
  readonly actionId: string;
  readonly attemptId: string;
}

/** Null when it is no settlement. */
export function settledOf(attempt: AttemptRef, performed: Performed): Settled | null {
  const parsed = settlementSchema.safeParse(performed.settlement);
  if (!parsed.success) return null;
  const said = parsed.data;
  const retryAfterMs = said.kind === 'not_taken' ? (said.retryAfterMs ?? null) : null;
  const { calls, payloads } = performed;
  const ask: SettleAsk = {
    ...emptyAsk(attempt),
    outcome: said.kind,
    parts: said.kind === 'partial' ? said.parts : [],
    externalId: 'externalId' in said ? (said.externalId ?? null) : null,
    objectVersion: 'objectVersion' in said ? (said.objectVersion ?? null) : null,
    ...('evaluates' in said ? { evaluates: said.evaluates } : {}),
    refusal:
      'code' in said
        ? { code: boundedWords(said.code, limits.labelCharsMax), message: bounded(said.message) }
        : null,
    cost: costOf(said, performed),
    calls,
    payloads,
  };
  return { ask: said.kind === 'executed' ? withResult(ask, said.result) : ask, retryAfterMs };
}

/** Only the delivery that entered may say so: nothing has left. */
export function notSentAsk(attempt: AttemptRef): SettleAsk {
  return { ...emptyAsk(attempt), outcome: 'not_sent' };
}

/** The effect counts, its result does not fit: recorded by digest, never repeated. */
export function withoutResult(ask: SettleAsk, why: string): SettleAsk {
  const digest = ask.result === null ? '' : `; it was ${ask.result.digest}`;
  return {
    ...ask,
    result: null,
    resultMissing: bounded(`${why}${digest}`),
    calls: [],
    payloads: [],
  };
}

function withResult(ask: SettleAsk, result: unknown): SettleAsk {
  try {
    const bytes = canonicalBytes(result);
    const ref = { digest: digestOfBytes(bytes), bytes: bytes.length };
    const stored = { ...ask, result: ref };
    if (ask.calls.length > limits.callsStoredMax)
      return withoutResult(stored, `${ask.calls.length} proposed calls are more than can be kept`);
    if (bytes.length > limits.ledgerPayloadBytesMax)
      return withoutResult(stored, `${bytes.length} bytes are more than can be stored`);
    return { ...stored, payloads: [...ask.payloads, { digest: ref.digest, bytes }] };
  } catch (error) {
    return withoutResult(ask, `the result is not JSON: ${messageOf(error)}`);
  }
}

/** What was reserved for is only released by a cost that is named, or by an attempt not taken. */
function costOf(said: z.infer<typeof settlementSchema>, { reserved }: Performed): Cost {
  if ('cost' in said && said.cost !== undefined) return said.cost;
  if (!reserved || said.kind === 'not_taken') return NO_COST;
  return { kind: 'unknown', reason: 'its tool reserves a cost and named none' };
}

const NO_COST: Cost = { kind: 'none' };

function emptyAsk({ actionId, attemptId }: AttemptRef): SettleAsk {
  return {
    actionId,
    attemptId,
    outcome: 'not_sent',
    result: null,
    resultMissing: null,
    parts: [],
    externalId: null,
    objectVersion: null,
    refusal: null,
    calls: [],
    cost: NO_COST,
    source: 'execution',
    payloads: [],
  };
}

function bounded(text: string): string {
  return boundedWords(text, limits.noteCharsMax);
}
