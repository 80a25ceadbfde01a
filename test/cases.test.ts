// The page of cases against the titles: a case is played by a live test that carries its number, or
// the page says why it is not.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFiles, projectRoot } from './support/project-files.ts';
import { idsIn } from './support/requirement-cover.ts';
import { testTitles } from './support/test-titles.ts';

/** What is done again, leases, Temporal, calls without results, revocations, approvals, budgets. */
const numbers = [
  ...[1, 2, 4, 5, 7, 8, 10, 11, 13, 14],
  ...[58, 59, 61, 62, 64, 65, 67, 68],
  ...[38, 40, 41, 43, 44, 46, 47, 49, 50, 52, 53, 55, 56],
  ...[85, 86, 88, 89, 91, 92],
  ...[70, 71, 73, 74, 76, 77, 79, 80],
  ...[130, 131, 133, 134, 136, 137, 139],
  ...[121, 122, 124, 125, 127, 128],
].map((number) => `K-${String(number).padStart(3, '0')}`);

const page = readFileSync(join(projectRoot, 'docs/cases.md'), 'utf8');
const rows = [...page.matchAll(/^\| (K-\d{3}) \| (.+?) \| (.+) \|$/gm)].map(
  ([, id = '', , where = '']) => ({
    id,
    files: [...where.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, path = '']) => path),
    reason: where.replace(/`[^`]+`[,;:]? ?/g, ''),
    played: where.startsWith('`'),
  }),
);

function named(id: string, path: string): boolean {
  const file = projectFiles().find((each) => each.path === path);
  const live =
    file === undefined ? [] : testTitles(path, file.text).filter((each) => !each.skipped);
  return live.some(({ title }) => idsIn(title).includes(id));
}

test('docs/cases.md has one row for each case of the list, in order', () => {
  expect(rows.map(({ id }) => id)).toEqual(numbers);
});

test('each row names live tests with the number in the title, or a reason', () => {
  const wrong = rows.flatMap(({ id, files, reason, played }) => {
    if (!played) return reason.length > 20 ? [] : [`${id}: neither a test nor a reason`];
    return files.filter((path) => !named(id, path)).map((path) => `${id}: not in ${path}`);
  });
  expect(wrong).toEqual([]);
});
