// The page of cases against the titles: a case is played by a live test that carries its number, or
// the page says why it is not.

import { expect, test } from 'vitest';
import { pageRows, rowProblems } from './support/page-rows.ts';

/** Done again, lost replies, keys, leases, Temporal, late results, revocations, budgets, files. */
const numbers = [
  ...[1, 2, 4, 5, 7, 8, 10, 11, 13, 14],
  ...[16, 17, 19, 20, 22, 23],
  ...[25, 26, 28, 29, 31, 32, 34, 35, 37],
  ...[58, 59, 61, 62, 64, 65, 67, 68],
  ...[38, 40, 41, 43, 44, 46, 47, 49, 50, 52, 53, 55, 56],
  ...[85, 86, 88, 89, 91, 92],
  ...[70, 71, 73, 74, 76, 77, 79, 80],
  ...[130, 131, 133, 134, 136, 137, 139],
  ...[121, 122, 124, 125, 127, 128],
  ...[104, 106, 107, 109, 110, 112, 113, 115, 116, 118, 119],
].map((number) => `K-${String(number).padStart(3, '0')}`);

const rows = pageRows('docs/cases.md', /K-\d{3}/);

test('docs/cases.md has one row for each case of the list, in order', () => {
  expect(rows.map(({ id }) => id)).toEqual(numbers);
});

test('each row names live tests with the number in the title, or a reason', () => {
  expect(rowProblems(rows)).toEqual([]);
});
