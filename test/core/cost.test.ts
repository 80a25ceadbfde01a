import { expect, test } from 'vitest';
import {
  addCost,
  type Cost,
  costSchema,
  costText,
  costTotalSchema,
  moneyText,
  zeroTotal,
} from '../../core/cost.ts';

const known = (requests: number, inputTokens: number, outputTokens: number): Cost => ({
  kind: 'known',
  usage: { requests, inputTokens, outputTokens },
});
const lost: Cost = { kind: 'unknown', reason: 'the reply was lost' };
const sum = (...costs: Cost[]) => costs.reduce(addCost, zeroTotal);

test.each([
  [[], '0 tokens in 0 requests', 0],
  [[known(1, 100, 20)], '120 tokens in 1 requests', 0],
  [[known(1, 100, 20), known(2, 10, 1)], '131 tokens in 3 requests', 0],
  [[{ kind: 'none' } as const], '0 tokens in 0 requests', 0],
  [[lost], 'at least 0 tokens in 1 requests, 1 of unknown cost', 1],
  [
    [known(1, 1_000, 200), lost, known(1, 0, 0), lost],
    'at least 1200 tokens in 4 requests, 2 of unknown cost',
    2,
  ],
])('R-008 R-131 %j is said as "%s"', (costs, text, unknown) => {
  const total = sum(...costs);
  expect(costText(total)).toBe(text);
  expect(total.unknownAttempts).toBe(unknown);
  expect(costTotalSchema.parse(total)).toEqual(total);
});

test('R-008 R-131 an unknown cost is never taken for 0, and counts as a request', () => {
  expect(sum(known(1, 5, 5), lost)).not.toEqual(sum(known(1, 5, 5)));
  expect(sum(known(1, 5, 5), lost).atLeast).toEqual({
    requests: 2,
    inputTokens: 5,
    outputTokens: 5,
  });
});

test.each([
  [{ kind: 'unknown' }],
  [{ kind: 'unknown', reason: '' }],
  [{ kind: 'unknown', reason: 'x', usage: { requests: 0, inputTokens: 0, outputTokens: 0 } }],
  [{ kind: 'known' }],
  [{ kind: 'known', usage: { requests: -1, inputTokens: 0, outputTokens: 0 } }],
  [{ kind: 'known', usage: { requests: 1 } }],
  [0],
  [null],
])('R-008 %j is no cost', (cost) => {
  expect(costSchema.safeParse(cost).success).toBe(false);
});

const estimated = (micros: number, currency = 'USD', tableDate = '2026-11-01'): Cost => ({
  kind: 'known',
  usage: { requests: 1, inputTokens: 10, outputTokens: 0 },
  estimate: { currency, micros, tableDate },
});

test.each<[Cost[], string]>([
  [[estimated(12_300)], '10 tokens in 1 requests, USD 0.0123'],
  [[estimated(12_300), estimated(700)], '20 tokens in 2 requests, USD 0.013'],
  [[estimated(5), estimated(7, 'EUR')], '20 tokens in 2 requests, USD 0.000005, EUR 0.000007'],
  [
    [estimated(5), estimated(7, 'EUR'), estimated(1, 'EUR')],
    '30 tokens in 3 requests, USD 0.000005, EUR 0.000008',
  ],
  [
    [estimated(12_300), known(1, 10, 0)],
    'at least 20 tokens in 2 requests, USD 0.0123, 1 without a price',
  ],
  [[estimated(12_300), lost], 'at least 10 tokens in 2 requests, USD 0.0123, 1 of unknown cost'],
  [[estimated(0), known(0, 0, 0)], '10 tokens in 1 requests, USD 0.00'],
  [[known(1, 10, 0)], '10 tokens in 1 requests'],
])('R-132 K-121 %j is said as "%s"', (costs, text) => {
  const total = sum(...costs);
  expect(costText(total)).toBe(text);
  expect(costTotalSchema.parse(total)).toEqual(total);
});

test.each([
  [0, 'USD 0.00'],
  [1, 'USD 0.000001'],
  [10_000, 'USD 0.01'],
  [1_500_000, 'USD 1.50'],
  [12_345_678, 'USD 12.345678'],
])('%i micros are %s', (micros, text) => {
  expect(moneyText({ currency: 'USD', micros })).toBe(text);
});

test('R-132 a row keeps the date of the table it was priced by, and no bill stands in it', () => {
  const [old, later] = [estimated(100), estimated(120, 'USD', '2026-12-01')];
  for (const cost of [old, later]) expect(costSchema.parse(cost)).toEqual(cost);
  expect(sum(old, later).money).toEqual([{ currency: 'USD', micros: 220 }]);
  const { estimate: _, ...rest } = old as Extract<Cost, { kind: 'known' }>;
  const undated = { ...rest, estimate: { currency: 'USD', micros: 100 } };
  const billed = { ...rest, billed: { currency: 'USD', micros: 100 } };
  for (const wrong of [undated, billed]) expect(costSchema.safeParse(wrong).success).toBe(false);
});

test('R-133 an entry names the call as its service does, and one of three purposes', () => {
  const entry = { ...known(1, 5, 5), callId: 'resp_1', purpose: 'evaluation' };
  expect(costSchema.parse(entry)).toEqual(entry);
  expect(costSchema.safeParse({ ...entry, purpose: 'fun' }).success).toBe(false);
});
