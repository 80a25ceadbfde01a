// What an operator finds to paste: it would catch one that is taken unread, or that counts as the
// one before it.

import { expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { approvalTo, topUpTo, unfilledProblem } from '../../core/paste.ts';

const bound = digestOf('what is asked');
const by = { actor: 'ada', reason: 'seen' };
const id = 'top-up/r/1';

test.each([
  ['an approval as it is shown', approvalTo('r.t1.c1', bound), true],
  ['an approval filled in', { ...approvalTo('r.t1.c1', bound), ...by }, false],
  ['a top-up as it is shown', topUpTo('r'), true],
  ['a top-up whose id is left open', { ...topUpTo('r'), ...by, requests: 1 }, true],
  ['a top-up filled in', { ...topUpTo('r'), ...by, id, requests: 1 }, false],
  ['a mark left inside', { id, ...by, evidence: { source: 'FILL IN' } }, true],
  ['a text that ends like the mark', { id, ...by, reason: 'they said FILL IN' }, false],
])('R-134 %s', (_, command, isOpen) => {
  const problem = unfilledProblem(command);
  expect(problem).toBe(isOpen ? 'replace every "FILL IN" by your own words' : null);
});

test('a decision after an expired one has an id of its own, one on the same ask has not', () => {
  const ids = [0, 0, 1, 2].map((earlier) => approvalTo('r.t1.c1', bound, earlier).id);
  expect(ids[0]).toBe(ids[1]);
  expect(new Set(ids).size).toBe(3);
});
