// One call of the adapter, as an activity would make it, and no longer than the author's patience.

import { randomUUID } from 'node:crypto';
import { digestOf, type Json } from '../../core/digest.ts';
import type { Marks, Principal } from '../../core/fact-fields.ts';
import { attemptIdOf, type SendToken } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import { boundedWords } from '../../core/words.ts';
import type { AnyTool } from '../registry.ts';
import type { InquiryAnswer, OpenAttempt, Settlement } from '../tool.ts';
import { type Sent, sentOf } from './sent.ts';
import { SubjectError } from './subject.ts';

export interface Order {
  readonly runId: string;
  readonly actionId: string;
  readonly receiverKey: string;
  readonly principal: Principal;
  readonly input: Json;
  readonly firstSentAt: number;
  /** What its calls have prepared so far; the suite is their ledger. */
  readonly open: OpenAttempt[];
}

export async function execute(
  tool: AnyTool,
  order: Order,
  { token, patienceMs }: { readonly token: SendToken; readonly patienceMs: number },
): Promise<Sent> {
  const { runId, actionId, receiverKey, principal, firstSentAt, input } = order;
  const parsed = await tool.input.safeParseAsync(input);
  if (!parsed.success)
    throw new SubjectError(`${tool.name} does not take its own input: ${parsed.error.message}`);
  const canceled = new AbortController();
  const { number } = token;
  const attemptId = attemptIdOf(actionId, randomUUID());
  const attempt = {
    ...{ runId, actionId, attemptId, receiverKey, principal, firstSentAt, number },
    sendToken: token,
    payloadDigest: digestOf(input),
    signal: canceled.signal,
    async prepare(prepared: Marks) {
      order.open.push({ attemptId, number, sendToken: token, enteredAt: Date.now(), prepared });
    },
    beforeSend: () => undefined,
  };
  try {
    const settlement = await inTime(patienceMs, () => tool.execute(parsed.data, attempt));
    return sentOf(settlement as Settlement<Json>);
  } catch (error) {
    return { kind: 'ambiguous', why: wordsOf(error) };
  } finally {
    canceled.abort();
  }
}

export async function inquire(
  tool: AnyTool,
  order: Order,
  asking: { readonly token: SendToken; readonly patienceMs: number; readonly now: number },
): Promise<InquiryAnswer<Json>> {
  const { actionId, receiverKey, principal, firstSentAt, input } = order;
  const { token, patienceMs, now } = asking;
  const inquiry = {
    ...{ actionId, receiverKey, principal, input, now },
    sendToken: token,
    externalId: null,
    payloadDigest: digestOf(input),
    lastSentAt: firstSentAt,
    open: order.open,
  };
  try {
    const ask = async () => tool.inquire?.(inquiry);
    const answer = await inTime(patienceMs, ask);
    if (answer === undefined) throw new SubjectError(`${tool.name} has no inquire`);
    return answer as InquiryAnswer<Json>;
  } catch (error) {
    if (error instanceof SubjectError) throw error;
    return { verdict: 'unavailable', detail: wordsOf(error) };
  }
}

export async function raise(tool: AnyTool, order: Order, sendToken: SendToken): Promise<void> {
  if (tool.fence === undefined) throw new SubjectError(`${tool.name} has no fence`);
  const { runId, principal } = order;
  const open = order.open.filter((each) => each.sendToken.epoch < sendToken.epoch);
  await tool.fence({ runId, principal, sendToken, open });
}

/** What an adapter does after its time is not waited for; it may still send, as in real life. */
async function inTime<T>(ms: number, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([call(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function wordsOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return boundedWords(text, limits.labelCharsMax);
}
