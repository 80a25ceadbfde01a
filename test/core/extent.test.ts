import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLargerThan } from '../../core/extent.ts';

test.each([
  [null, 1],
  [7, 1],
  ['', 1],
  ['abc', 4],
  [[], 1],
  [[1, 'ab'], 5],
  [{}, 1],
  [{ ab: 'c' }, 6],
  [{ a: [{ b: null }] }, 8],
])('%j has %i parts', (value, parts) => {
  expect(isLargerThan(value, parts)).toBe(false);
  expect(isLargerThan(value, parts - 1)).toBe(true);
});

test('as much JSON as a signal brings is judged without a stack of its own depth', () => {
  const deep = JSON.parse(`${'['.repeat(900_000)}${']'.repeat(900_000)}`);
  expect(isLargerThan(deep, 1_000_000)).toBe(false);
  expect(isLargerThan(deep, 899_999)).toBe(true);
});

test('it never has more parts than its text has characters, and one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(isLargerThan(value, JSON.stringify(value).length + 1)).toBe(false);
    }),
  );
});
