// The last words of the three stories. Would catch: a story that counts a second effect, or none,
// and still ends well.

import { expect, test } from 'vitest';
import { countedLines, isOnceEach } from '../../examples/stories/tell.ts';

const counted = (...effects: readonly number[]) =>
  effects.map((each, index) => ({
    actionId: `run.order-${index + 1}`,
    effects: each,
    settled: '1 attempt, settled by a person',
  }));

test.each([
  { effects: [1, 1], once: true },
  { effects: [1, 2], once: false },
  { effects: [0, 1], once: false },
  { effects: [], once: false },
])('effects $effects are a clean end: $once', ({ effects, once }) => {
  expect(isOnceEach(counted(...effects))).toBe(once);
});

test('each action has a line with its count and how it was settled', () => {
  expect(countedLines(counted(1, 2)).split('\n')).toEqual([
    'run.order-1             1 effect; 1 attempt, settled by a person',
    'run.order-2             2 EFFECTS; 1 attempt, settled by a person',
  ]);
});
