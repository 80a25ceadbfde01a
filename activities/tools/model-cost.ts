// What a model request may cost at most, and what its answer says that it cost. Unknown is never 0:
// some services answer with zeros where they counted nothing.

import type { generateText, ModelMessage } from 'ai';
import type { Reserve } from '../../core/budget-limits.ts';
import type { Cost } from '../../core/cost.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { estimateOf, type PriceTable } from '../../core/prices.ts';
import { boundedWords } from '../../core/words.ts';

/** What calls of one model are counted and priced by. */
export interface ModelSpending {
  /** Null: nothing has a price. */
  readonly prices: PriceTable | null;
  readonly maxOutputTokens: number;
}

export interface Request {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** As the service is told of them. */
  readonly tools: Json;
}

/** No tokenizer makes more tokens of a text than it has bytes; JSON's own are for the template. */
export function requestReserve(
  model: string,
  request: Request,
  { prices, maxOutputTokens: outputTokens }: ModelSpending,
): Reserve {
  const inputTokens = Buffer.byteLength(JSON.stringify(request));
  const price = estimateOf(prices, model, { inputTokens, outputTokens });
  return {
    requests: 1,
    tokens: inputTokens + outputTokens,
    money: price && { currency: price.currency, micros: price.micros },
  };
}

export interface Answered {
  readonly reply: Awaited<ReturnType<typeof generateText>>;
  /** The service's own name for the call; empty where it gave none. */
  readonly callId: string;
  /** Of the attempt: what an aborted call says of its usage is not all of it. */
  readonly signal: AbortSignal;
  readonly model: string;
  readonly prices: PriceTable | null;
}

export function costOf({ reply, callId, signal, model, prices }: Answered): Cost {
  if (signal.aborted) return unknown('the call was aborted before its answer');
  const { inputTokens, outputTokens } = reply.usage;
  if (!isCount(inputTokens) || !isCount(outputTokens))
    return unknown('the service reported no usage');
  const said = reply.text !== '' || reply.toolCalls.length > 0 || !!reply.reasoningText;
  if (said && (inputTokens === 0 || outputTokens === 0))
    return unknown('the service reported a usage of 0 for its answer');
  const estimate = estimateOf(prices, model, { inputTokens, outputTokens });
  const id = boundedWords(callId, limits.labelCharsMax);
  return {
    kind: 'known',
    usage: { requests: 1, inputTokens, outputTokens },
    ...(estimate === null ? {} : { estimate }),
    ...(id === '' ? {} : { callId: id }),
    purpose: 'generation',
  };
}

function unknown(reason: string): Cost {
  return { kind: 'unknown', reason };
}

function isCount(value: number | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
