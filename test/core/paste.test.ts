// What an operator finds to paste: it would catch one that is taken unread, or that counts as the
// one before it.

import { expect, test } from 'vitest';
import { budgetProblem } from '../../core/budget.ts';
import { digestOf } from '../../core/digest.ts';
import { approvalTo, topUpTo, unfilledProblem } from '../../core/paste.ts';
import { open, RUN } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const bound = digestOf('what is asked');
const by = { actor: 'ada', reason: 'seen' };
const id = 'top-up/r/1';
const WHY = 'requests: 1 used, 0 held, 1 more do not fit 1';

test.each([
  ['an approval as it is shown', approvalTo('r.t1.c1', bound), true],
  ['an approval filled in', { ...approvalTo('r.t1.c1', bound), ...by }, false],
  ['a top-up as it is shown', topUpTo('r', WHY), true],
  ['a top-up whose id is left open', { ...topUpTo('r', WHY), ...by, requests: 1 }, true],
  ['a top-up filled in', { ...topUpTo('r', WHY), ...by, id, requests: 1 }, false],
  ['a mark left inside', { id, ...by, evidence: { source: 'FILL IN' } }, true],
  ['a text that ends like the mark', { id, ...by, reason: 'they said FILL IN' }, false],
])('R-134 %s', (_, command, isOpen) => {
  const problem = unfilledProblem(command);
  expect(problem).toBe(isOpen ? 'replace every "FILL IN" by your own words' : null);
});

const usd = (micros: number) => ({ currency: 'USD', micros });
const reserve = { requests: 1, tokens: 5, money: usd(7) };

test.each([
  ['requests', { requests: 0 }],
  ['tokens', { tokens: 4, money: usd(9) }],
  ['micros', { tokens: 9, money: usd(6) }],
  ['wallTimeMs', { wallTimeMs: 1, tokens: 0 }],
] as const)('R-136 what is pasted adds %s where those are what does not fit', (limit, given) => {
  const ledger = memoryLedger();
  open(ledger, { budget: { ...given, onExhausted: 'ask' } });
  const why = budgetProblem(ledger.run(RUN), reserve, Number.MAX_SAFE_INTEGER);
  for (const words of [why, `tokens: 1.t1.m: ${why}`]) {
    const { id: _, actor: __, reason: ___, ...added } = topUpTo('r', words ?? '');
    expect(added).toEqual({ [limit]: 'FILL IN' });
  }
});

test('a decision after an expired one has an id of its own, one on the same ask has not', () => {
  const ids = [0, 0, 1, 2].map((earlier) => approvalTo('r.t1.c1', bound, earlier).id);
  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(3);
});
