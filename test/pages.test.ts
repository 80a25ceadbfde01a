import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFiles, projectRoot } from './support/project-files.ts';
import { testTitles } from './support/test-titles.ts';

const pages = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(projectRoot, 'docs')).map((name) => `docs/${name}`),
];
const text = (page: string) => readFileSync(join(projectRoot, page), 'utf8');

/** `room/…` in code, without a placeholder. */
const rooms = 'core|ledger|workflows|activities|receiver|workers|client|test|bench|examples|docs';
const FILE = new RegExp(`\`((?:${rooms})/[\\w./-]+)\``, 'g');
const COMMAND = /npm run (?:--silent )?([a-z-]+)/g;

test('R-141 every file that a page names is there, so each mechanism has its test', () => {
  const named = pages.flatMap((page) => found(text(page), FILE).map((path) => `${page}: ${path}`));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((each) => !existsSync(join(projectRoot, each.split(': ')[1]!)))).toEqual([]);
});

test('R-142 every script that a page names is one of the package', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: object };
  const named = new Set(pages.flatMap((page) => found(text(page), COMMAND)));
  expect([...named].filter((script) => !(script in scripts))).toEqual([]);
});

test('R-135 every row of the runbook names tests that are there and run', () => {
  const rows = text('docs/runbook.md')
    .split('\n')
    .filter((line) => /^\| (?!button|---)/.test(line));
  const named = rows.map((row) => found(row.split(' | ').at(-1) ?? '', /"([^"]+)"/g));
  const titles = projectFiles()
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap(({ path, text }) => testTitles(path, text))
    .flatMap(({ title, skipped }) => (skipped ? [] : [title]));
  expect(rows.filter((_, row) => named[row]?.length === 0)).toEqual([]);
  expect(named.flat().length).toBeGreaterThan(3);
  expect(named.flat().filter((title) => !titles.includes(title))).toEqual([]);
});

function found(page: string, pattern: RegExp): string[] {
  return [...page.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name]));
}
