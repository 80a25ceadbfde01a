// Cost of attempts. Unknown cost is never 0: a sum says "at least" and how many are unknown.

import * as z from 'zod';
import { currencySchema } from './budget-limits.ts';
import { exactSum } from './exact-sum.ts';

const count = z.number().int().nonnegative();

const usageSchema = z.strictObject({
  requests: count,
  inputTokens: count,
  outputTokens: count,
});
export type Usage = z.infer<typeof usageSchema>;

/** Micros: millionths of the currency's unit. */
export const estimateSchema = z.strictObject({
  currency: currencySchema,
  micros: count,
  tableDate: z.string().min(1),
});
export type Estimate = z.infer<typeof estimateSchema>;

export const purposeSchema = z.enum(['generation', 'evaluation', 'reflection']);

export const costSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('known'),
    usage: usageSchema,
    /** By the price table of that date; what is billed is for the service's own invoice to say. */
    estimate: estimateSchema.optional(),
    /** What the service calls this call, to find it in its own trace. */
    callId: z.string().min(1).optional(),
    /** What it was for. */
    purpose: purposeSchema.optional(),
  }),
  z.strictObject({ kind: z.literal('unknown'), reason: z.string().min(1) }),
  /** The attempt has no bill of its own, e.g. a file read. */
  z.strictObject({ kind: z.literal('none') }),
]);
export type Cost = z.infer<typeof costSchema>;

const moneySchema = z.strictObject({ currency: currencySchema, micros: count });
export type Money = z.infer<typeof moneySchema>;

export const costTotalSchema = z.strictObject({
  atLeast: usageSchema,
  unknownAttempts: count,
  /** Estimates, one line per currency; absent: nothing was priced. */
  money: z.array(moneySchema).optional(),
  /** Attempts of known usage for which there was no price; absent: none. */
  unpriced: count.optional(),
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
      ...total,
      atLeast: { ...total.atLeast, requests: exactSum(total.atLeast.requests, 1) },
      unknownAttempts: total.unknownAttempts + 1,
    };
  const { usage } = cost;
  return withMoney(
    {
      ...total,
      atLeast: {
        requests: exactSum(total.atLeast.requests, usage.requests),
        inputTokens: exactSum(total.atLeast.inputTokens, usage.inputTokens),
        outputTokens: exactSum(total.atLeast.outputTokens, usage.outputTokens),
      },
    },
    cost,
  );
}

function withMoney(total: CostTotal, cost: Cost & { kind: 'known' }): CostTotal {
  const { estimate } = cost;
  if (estimate !== undefined) return { ...total, money: addMoney(total.money ?? [], estimate) };
  const { requests, inputTokens, outputTokens } = cost.usage;
  if (requests + inputTokens + outputTokens === 0) return total;
  return { ...total, unpriced: (total.unpriced ?? 0) + 1 };
}

function addMoney(lines: readonly Money[], { currency, micros }: Money): Money[] {
  const known = lines.some((line) => line.currency === currency);
  if (!known) return [...lines, { currency, micros }];
  return lines.map((line) =>
    line.currency === currency ? { currency, micros: exactSum(line.micros, micros) } : line,
  );
}

/** "at least 1200 tokens in 3 requests, USD 0.0123, 1 of unknown cost" */
export function costText(total: CostTotal): string {
  const tokens = exactSum(total.atLeast.inputTokens, total.atLeast.outputTokens);
  const { money = [], unpriced = 0, unknownAttempts } = total;
  const parts = [`${tokens} tokens in ${total.atLeast.requests} requests`];
  for (const line of money) parts.push(moneyText(line));
  if (money.length > 0 && unpriced > 0) parts.push(`${unpriced} without a price`);
  if (unknownAttempts > 0) parts.push(`${unknownAttempts} of unknown cost`);
  const isWhole = unknownAttempts === 0 && (money.length === 0 || unpriced === 0);
  return `${isWhole ? '' : 'at least '}${parts.join(', ')}`;
}

/** "USD 0.0123": whole cents at least, no more digits than it has. */
export function moneyText({ currency, micros }: Money): string {
  const fraction = String(micros % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${currency} ${Math.floor(micros / 1_000_000)}.${fraction}`;
}
