// One question to a receiver about an action with an open attempt, with the original binding: the
// tool's name and version and the receiver's domain must be those of the attempt.

import * as z from 'zod';
import { undecidedAttempts } from '../core/action-status.ts';
import { domainOf } from '../core/contract.ts';
import { canonicalBytes, digestOfBytes } from '../core/digest.ts';
import type { InquiryAsk } from '../core/inquiry.ts';
import { limits } from '../core/limits.ts';
import type { ActionState, AttemptState, RunState } from '../core/run-state.ts';
import { boundedWords } from '../core/words.ts';
import { readPayload } from './answers.ts';
import type { ActivityDeps } from './deps.ts';
import { errorTypeOf, messageOf } from './failures.ts';
import { receiverNameSchema, receiverPartsSchema } from './receiver-words.ts';
import type { RegisteredTool } from './registry.ts';
import type { Inquiry, OpenAttempt } from './tool.ts';

export interface Asking {
  readonly tool: RegisteredTool;
  readonly inquire: NonNullable<RegisteredTool['inquire']>;
  readonly run: RunState;
  readonly action: ActionState;
  readonly last: AttemptState;
  /** Ledger time. */
  readonly now: number;
}

/** Null where there is nothing to ask about, or nobody who may be asked. */
export function askingOf(
  { registry }: ActivityDeps,
  { run, reply: action, at }: { run: RunState; reply: ActionState | undefined; at: number },
): Asking | null {
  if (action === undefined || action.final !== null) return null;
  const last = undecidedAttempts(action).at(-1);
  if (last === undefined || run.grants?.includes('query') !== true) return null;
  const { binding, domain } = last.entry;
  const tool = registry.tools.get(binding.tool);
  if (tool?.inquire === undefined) return null;
  const { policy, inquire } = tool;
  if (policy.binding.version !== binding.version || domainOf(policy.contract) !== domain)
    return null;
  return { tool, inquire, run, action, last, now: at };
}

const answerSchema = z.discriminatedUnion('verdict', [
  z.object({
    verdict: z.literal('executed'),
    /** Without `optional` zod takes a key that is left out for a wrong answer. */
    result: z.unknown().optional(),
    externalId: receiverNameSchema.optional(),
    objectVersion: receiverNameSchema.optional(),
    detail: z.string().optional(),
  }),
  z.object({
    verdict: z.literal('not_executed'),
    proof: z.enum(['closed_token', 'closed_key', 'settled']),
    detail: z.string().optional(),
  }),
  z.object({
    verdict: z.literal('partial'),
    parts: receiverPartsSchema,
    externalId: receiverNameSchema.optional(),
  }),
  z.object({
    verdict: z.literal('processing'),
    detail: z.string().optional(),
    externalId: receiverNameSchema.optional(),
  }),
  z.object({
    verdict: z.enum(['no_record', 'conflict', 'unavailable', 'forbidden']),
    detail: z.string().optional(),
  }),
]);
type Answer = z.infer<typeof answerSchema>;

/**
 * Never throws for the receiver's sake: a question that fails is `unavailable` and proves nothing.
 */
export async function askReceiver(deps: ActivityDeps, asking: Asking): Promise<InquiryAsk> {
  const { tool, action, last, now } = asking;
  const answer = await answerOf(deps, asking);
  const result = answer.verdict === 'executed' ? storedResult(answer.result) : null;
  return {
    actionId: action.actionId,
    contract: tool.policy.contract,
    verdict: answer.verdict,
    proof: answer.verdict === 'not_executed' ? answer.proof : null,
    detail: detailOf(answer),
    result: result && { digest: result.digest, bytes: result.bytes.length },
    parts: answer.verdict === 'partial' ? answer.parts : [],
    externalId: 'externalId' in answer ? (answer.externalId ?? null) : null,
    objectVersion: 'objectVersion' in answer ? (answer.objectVersion ?? null) : null,
    payloads: result === null ? [] : [result],
    upToNumber: last.entry.number,
    marked: openOf(action).flatMap((each) => (each.prepared === null ? [] : [each.attemptId])),
    askedAt: now,
    sendWindowMs: deps.sendWindowMs,
  };
}

async function answerOf(deps: ActivityDeps, asking: Asking): Promise<Answer> {
  const { action, last, run } = asking;
  try {
    const inquiry = await inquiryOf(deps, asking);
    await answered(fenced(asking));
    const parsed = answerSchema.safeParse(await answered(asking.inquire(inquiry)));
    if (parsed.success) return parsed.data;
    return { verdict: 'unavailable', detail: 'the adapter gave no answer of the known kinds' };
  } catch (error) {
    deps.log.warn('the receiver could not be asked', {
      ...{ run: run.runId, action: action.actionId, tool: last.entry.binding.tool },
      errorType: errorTypeOf(error),
    });
    return { verdict: 'unavailable', detail: messageOf(error) };
  }
}

/** An adapter that never answers would never be asked about again, and no person either. */
async function answered<T>(asking: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const ms = limits.inquiryTimeoutMs;
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Before what an older epoch came to is read, nothing of it may arrive any more (rule B6). Throws
 * where the receiver cannot be fenced: then nothing is read either.
 */
async function fenced({ tool, run, action }: Asking): Promise<void> {
  const { opened, runId } = run;
  if (tool.fence === undefined || opened === null) return;
  const { epoch, principal } = opened;
  const open = openOf(action).filter(({ sendToken }) => sendToken.epoch < epoch);
  if (open.length === 0) return;
  await tool.fence({ runId, principal, sendToken: { epoch, number: 1 }, open });
}

function openOf(action: ActionState): OpenAttempt[] {
  return undecidedAttempts(action).map(({ attemptId, entry, enteredAt, prepared }) => {
    const { number, sendToken } = entry;
    return { attemptId, number, sendToken, enteredAt, prepared };
  });
}

async function inquiryOf(
  { ledger }: ActivityDeps,
  { run, action, last, now }: Asking,
): Promise<Inquiry> {
  const { receiverKey, sendToken, payload } = last.entry;
  const { opened, runId } = run;
  if (opened === null) throw new Error(`${runId}: no principal; the run is not open`);
  const { principal, epoch } = opened;
  return {
    ...{ receiverKey, sendToken, principal, now, asker: { runId, epoch } },
    actionId: action.actionId,
    externalId: externalIdOf(action),
    payloadDigest: payload.digest,
    input: await readPayload(ledger, payload.digest),
    lastSentAt: last.enteredAt,
    open: openOf(action),
  };
}

/** What the receiver has called it so far, in a settlement or an earlier answer. */
function externalIdOf(action: ActionState): string | null {
  const settled = action.attempts.map((attempt) => attempt.settled?.externalId ?? null);
  const observed = action.observations.map((observation) => observation.externalId);
  return [...settled, ...observed].findLast((id) => id !== null) ?? null;
}

/** Left out, or no JSON: the effect is proved, its result is missing. */
function storedResult(result: unknown) {
  if (result === undefined) return null;
  try {
    const bytes = canonicalBytes(result);
    if (bytes.length > limits.ledgerPayloadBytesMax) return null;
    return { digest: digestOfBytes(bytes), bytes };
  } catch {
    // An answer that is no JSON proves the effect all the same.
    return null;
  }
}

function detailOf(answer: Answer): string {
  const words = 'detail' in answer && answer.detail ? `: ${answer.detail}` : '';
  const proof = answer.verdict === 'not_executed' ? ` (${answer.proof})` : '';
  return boundedWords(`the receiver says ${answer.verdict}${proof}${words}`, limits.noteCharsMax);
}
