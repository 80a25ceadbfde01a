// What a run may use up, as it is declared, added to, and reserved: shapes only. What is used and
// whether an attempt fits is computed in `budget.ts`.

import * as z from 'zod';

const whole = z.number().int().nonnegative();
const some = z.number().int().positive();

/** ISO 4217 code; amounts are in micros: millionths of its unit. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/, 'an ISO 4217 code, e.g. "USD"');

/** What a `topUp` adds; micros are of the budget's own currency. */
export const addedSchema = z.strictObject({
  requests: some.optional(),
  tokens: some.optional(),
  micros: some.optional(),
  wallTimeMs: some.optional(),
});
export type Added = z.infer<typeof addedSchema>;

export const budgetSchema = z.strictObject({
  /** Model calls, lost ones and retries included. */
  requests: whole.optional(),
  /** Input and output together. */
  tokens: whole.optional(),
  money: z.strictObject({ currency: currencySchema, micros: whole }).optional(),
  /** Since the run opened, waiting for people included. */
  wallTimeMs: some.optional(),
  /** `ask`: wait for a `topUp`. `end`: stop with the reason `budget`. */
  onExhausted: z.enum(['ask', 'end']).default('ask'),
});
export type Budget = z.infer<typeof budgetSchema>;
export type BudgetInput = z.input<typeof budgetSchema>;

/** The most that one attempt may cost; written with its intent. */
export const reserveSchema = z.strictObject({
  requests: whole,
  tokens: whole,
  /** Null: there is no price for it. */
  money: z.strictObject({ currency: currencySchema, micros: whole }).nullable(),
});
export type Reserve = z.infer<typeof reserveSchema>;
