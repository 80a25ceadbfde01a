import { expect, test } from 'vitest';
import {
  addCost,
  type Cost,
  costSchema,
  costText,
  costTotalSchema,
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
