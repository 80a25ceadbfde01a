// What a model's usage is worth by a dated table of prices. An estimate: what is billed is for the
// service's own invoice to say. A name is looked up as it is written; there is no price 0 for one
// that is not there.

import * as z from 'zod';
import { currencySchema } from './budget-limits.ts';
import type { Estimate, Usage } from './cost.ts';

/** A unit of the currency for a single token; beyond it something was entered in wrong units. */
const RATE_MAX = 1_000_000_000_000;
const rate = z.number().int().nonnegative().max(RATE_MAX);

export const priceTableSchema = z.strictObject({
  /** When the prices were looked up; every estimate carries it. */
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}$/, 'a day, e.g. "2026-11-01"'),
  currency: currencySchema,
  /** By the exact name of the model at its service. */
  models: z.record(
    z.string().min(1),
    z.strictObject({ inputMicrosPerMillion: rate, outputMicrosPerMillion: rate }),
  ),
});
export type PriceTable = z.infer<typeof priceTableSchema>;

const MILLION = 1_000_000n;

/** Rounded up to a whole micro. Null: the table has no price for a model of this name. */
export function estimateOf(
  table: PriceTable | null,
  model: string,
  { inputTokens, outputTokens }: Pick<Usage, 'inputTokens' | 'outputTokens'>,
): Estimate | null {
  if (table === null || !Object.hasOwn(table.models, model)) return null;
  const price = table.models[model] as PriceTable['models'][string];
  // Tokens times a rate pass what a number holds exactly.
  const millionths =
    BigInt(inputTokens) * BigInt(price.inputMicrosPerMillion) +
    BigInt(outputTokens) * BigInt(price.outputMicrosPerMillion);
  const micros = Number((millionths + MILLION - 1n) / MILLION);
  if (!Number.isSafeInteger(micros)) return null;
  return { currency: table.currency, micros, tableDate: table.date };
}
