// Cost of attempts. Unknown cost is never 0: a sum says "at least" and how many are unknown.

import * as z from 'zod';

const count = z.number().int().nonnegative();

const usageSchema = z.strictObject({
  requests: count,
  inputTokens: count,
  outputTokens: count,
});
export type Usage = z.infer<typeof usageSchema>;

export const costSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('known'), usage: usageSchema }),
  z.strictObject({ kind: z.literal('unknown'), reason: z.string().min(1) }),
  /** The attempt has no bill of its own, e.g. a file read. */
  z.strictObject({ kind: z.literal('none') }),
]);
export type Cost = z.infer<typeof costSchema>;

export const costTotalSchema = z.strictObject({
  atLeast: usageSchema,
  unknownAttempts: count,
});
export type CostTotal = z.infer<typeof costTotalSchema>;

export const zeroTotal: CostTotal = {
  atLeast: { requests: 0, inputTokens: 0, outputTokens: 0 },
  unknownAttempts: 0,
};

/** Adds what is known, counts what is not. */
export function addCost(total: CostTotal, cost: Cost): CostTotal {
  if (cost.kind === 'none') return total;
  if (cost.kind === 'unknown')
    return {
      atLeast: { ...total.atLeast, requests: total.atLeast.requests + 1 },
      unknownAttempts: total.unknownAttempts + 1,
    };
  return {
    atLeast: {
      requests: total.atLeast.requests + cost.usage.requests,
      inputTokens: total.atLeast.inputTokens + cost.usage.inputTokens,
      outputTokens: total.atLeast.outputTokens + cost.usage.outputTokens,
    },
    unknownAttempts: total.unknownAttempts,
  };
}

/** "at least 1,200 tokens in 3 requests, 1 of unknown cost" */
export function costText(total: CostTotal): string {
  const tokens = total.atLeast.inputTokens + total.atLeast.outputTokens;
  const base = `${tokens} tokens in ${total.atLeast.requests} requests`;
  return total.unknownAttempts === 0
    ? base
    : `at least ${base}, ${total.unknownAttempts} of unknown cost`;
}
