// The page of rules against the titles: each has a live test that carries its number, or the page
// says why it does not apply.

import { expect, test } from 'vitest';
import { pageRows, rowProblems } from './support/page-rows.ts';

const rows = pageRows('docs/rules.md', /[ABD]\d+/);

const numbered = (letter: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);

test('docs/rules.md has one row for each rule, in order', () => {
  const rules = [...numbered('A', 17), ...numbered('B', 12), ...numbered('D', 14)];
  expect(rows.map(({ id }) => id)).toEqual(rules);
});

test('each row names live tests with the rule in the title, or a reason', () => {
  expect(rowProblems(rows)).toEqual([]);
});
