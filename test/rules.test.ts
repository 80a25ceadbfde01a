// The page of rules against the titles: each has a live test that carries its number, or the page
// says why it does not apply.

import { expect, test } from 'vitest';
import { pageRows, rowProblems } from './support/page-rows.ts';

const rows = pageRows('docs/rules.md', /[A-D]\d+/);

const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

test('docs/rules.md has one row for each rule, in order', () => {
  const counts = { A: 17, B: 12, C: 16, D: 14 };
  const rules = Object.entries(counts).flatMap(([letter, count]) => numbered(letter, count));
  expect(rows.map(({ id }) => id)).toEqual(rules);
});

test('each row names live tests with the rule in the title, or a reason', () => {
  expect(rowProblems(rows)).toEqual([]);
});
