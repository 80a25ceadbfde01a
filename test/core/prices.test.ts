import { describe, expect, test } from 'vitest';
import { estimateOf, priceTableSchema } from '../../core/prices.ts';

const table = priceTableSchema.parse({
  date: '2026-11-01',
  currency: 'USD',
  models: {
    'model-4-5': { inputMicrosPerMillion: 3_000_000, outputMicrosPerMillion: 15_000_000 },
    free: { inputMicrosPerMillion: 0, outputMicrosPerMillion: 0 },
    dear: { inputMicrosPerMillion: 1_000_000_000_000, outputMicrosPerMillion: 0 },
  },
});
const of = (model: string, inputTokens: number, outputTokens: number) =>
  estimateOf(table, model, { inputTokens, outputTokens });

describe('R-132 an estimate is priced by a dated table', () => {
  test.each([
    ['model-4-5', 1_000_000, 1_000_000, 18_000_000],
    ['model-4-5', 1_000, 200, 6_000],
    ['model-4-5', 1, 0, 3],
    ['model-4-5', 0, 0, 0],
    ['free', 1_000, 1_000, 0],
  ])('%s, %i in, %i out: %i micros', (model, input, output, micros) => {
    expect(of(model, input, output)).toEqual({ currency: 'USD', micros, tableDate: '2026-11-01' });
  });

  test('what is less than a micro is one', () => {
    const small = { inputMicrosPerMillion: 1, outputMicrosPerMillion: 0 };
    const cheap = { ...table, models: { small } };
    const micros = (inputTokens: number) =>
      estimateOf(cheap, 'small', { inputTokens, outputTokens: 0 })?.micros;
    expect([micros(0), micros(1), micros(1_000_000), micros(1_000_001)]).toEqual([0, 1, 1, 2]);
  });

  test.each(['model-4.5', 'MODEL-4-5', 'model-4-5 ', 'constructor', '__proto__'])(
    'K-122 %j has no price, and not the price 0',
    (model) => {
      expect(of(model, 1_000, 200)).toBeNull();
    },
  );

  test('without a table, or beyond what can be counted, there is no price', () => {
    expect(estimateOf(null, 'model-4-5', { inputTokens: 1, outputTokens: 1 })).toBeNull();
    expect(of('dear', Number.MAX_SAFE_INTEGER, 0)).toBeNull();
  });
});

test.each<[string, object]>([
  ['no date', { date: undefined }],
  ['a date that is none', { date: 'November' }],
  ['a currency that is none', { currency: 'dollar' }],
  ['a negative price', { models: { a: { inputMicrosPerMillion: -1, outputMicrosPerMillion: 0 } } }],
  ['half a price', { models: { a: { inputMicrosPerMillion: 1 } } }],
  [
    'a price that is no number',
    { models: { a: { inputMicrosPerMillion: '3', outputMicrosPerMillion: 0 } } },
  ],
  [
    'a model without a name',
    { models: { '': { inputMicrosPerMillion: 1, outputMicrosPerMillion: 1 } } },
  ],
  ['an unknown field', { model: {} }],
])('R-132 a table with %s is none', (_name, over) => {
  expect(priceTableSchema.safeParse({ ...table, ...over }).success).toBe(false);
});
