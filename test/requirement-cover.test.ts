// The report that says which requirement has a test: it must not count what does not run.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectFiles, projectRoot } from './support/project-files.ts';
import { coverReport, coverText, idsIn, requirementsIn } from './support/requirement-cover.ts';
import { testTitles } from './support/test-titles.ts';

const docs = readFileSync(join(projectRoot, 'docs/requirements.md'), 'utf8');

function liveTitles(text: string): string[] {
  return testTitles('a.test.ts', text)
    .filter(({ skipped }) => !skipped)
    .map(({ title }) => title);
}

/** An interpolation in the code under test. */
const hole = ['$', '{x}'].join('');

const titles: readonly (readonly [why: string, code: string, live: readonly string[]])[] = [
  ['a plain test', "it('R-001 a', () => {});", ['R-001 a']],
  ['a group and its test', "describe('g', () => { test('t', f); });", ['g', 't']],
  ['options before the body', "it('R-001 a', { timeout: 9 }, () => {});", ['R-001 a']],
  ['a template', `it(\`R-001 ${hole} b\`, f);`, ['R-001 … b']],
  ['a concatenation', "it('R-001 ' + x + ' b', f);", ['R-001 … b']],
  [
    'each with a format',
    "test.each([['R-001', 1], ['R-002', 2]])('%s n', f);",
    ['R-001 n', 'R-002 n'],
  ],
  ['each with single values', "test.each(['R-001'])('%s is', f);", ['R-001 is']],
  ['each with objects', "test.each([{ id: 'R-001', n: 1 }])('$id $m', f);", ['R-001 $m']],
  ['each over a table', "const t = [{ id: 'A1' }] as const; it.each(t)('$id', f);", ['A1']],
  ['each over an imported table', "it.each(t)('R-001 $id', f);", ['R-001 $id']],
  ['each as a template', `it.each\`a\n${hole}\`('R-001 $a', f);`, ['R-001 $a']],
  ['for', "test.for([['R-001']])('%s', f);", ['R-001']],
  ['concurrent', "test.concurrent.each([1])('R-001 %s', f);", ['R-001 …']],
  ['a comment', "// it('R-001', f);\n/* test('R-002', f) */", []],
  ['a string', 'const a = "it(\'R-001\', f)";', []],
  ['another function', "visit('R-001', f);", []],
  ['skip', "it.skip('R-001', f); describe.skip('R-002', () => { it('R-003', f); });", []],
  ['skip with each', "it.skip.each([1])('R-001', f); it.each([1]).skip('R-002', f);", []],
  ['todo and no body', "it.todo('R-001'); it('R-002'); it('R-003', { timeout: 1 });", []],
  ['conditional', "it.skipIf(x)('R-001', f); it.runIf(x)('R-002', f);", []],
  ['an option', "it('R-001', { skip: true }, f); it('R-002', { todo: true }, f);", []],
  ['a group without a live test', "describe('R-001', () => { it.skip('a', f); });", []],
  [
    'a group of a skipped group',
    "describe.skip('a', () => { describe('R-1', () => { it('b', f); }); });",
    [],
  ],
];

describe('titles', () => {
  test.each(titles)('%s', (_why, code, live) => {
    expect(liveTitles(code)).toEqual(live);
  });

  test('a file that does not parse is named', () => {
    expect(() => testTitles('b.test.ts', 'it(')).toThrow('b.test.ts');
  });
});

describe('ids in a title', () => {
  // The ids stand second: in the title of this table they would count as covered.
  test.each([
    ['all kinds', 'R-028 A3 K-012 the same key', ['R-028', 'A3', 'K-012']],
    ['without repeats', 'B3 and D5, twice B3', ['B3', 'D5']],
    ['a range names its ends only', 'R-001..R-004', ['R-001', 'R-004']],
    ['a range with a dash too', 'A1-A9', ['A1', 'A9']],
    ['what only looks like one', 'R-0011 XR-001 A100 L3 T5 A0 a1', []],
  ])('%s', (_why, title, ids) => {
    expect(idsIn(title)).toEqual(ids);
  });
});

describe('the report', () => {
  const requirements = requirementsIn('| R-001 | one |\n| id | no |\n| R-002 | two |\n');
  const report = coverReport(requirements, [
    { path: 'b.test.ts', titles: testTitles('b.test.ts', "it('R-001 A1', f); it('R-001', f);") },
    { path: 'a.test.ts', titles: testTitles('a.test.ts', "it('R-001 R-999', f);") },
    { path: 'c.test.ts', titles: testTitles('c.test.ts', "it.skip('R-002', f);") },
  ]);

  test('each requirement has its files, sorted and without repeats', () => {
    expect(report.requirements.map(({ id, files }) => [id, files])).toEqual([
      ['R-001', ['a.test.ts', 'b.test.ts']],
      ['R-002', []],
    ]);
  });

  test('rules are counted and unlisted requirements are named', () => {
    expect(report.others).toEqual({ A1: 1 });
    expect(report.strangers).toEqual(['R-999 in a.test.ts']);
  });

  test('the text shows all, or what has no test with its sentence', () => {
    expect(coverText(report, 'all')).toContain('R-001  a.test.ts, b.test.ts\n');
    expect(coverText(report, 'missing').split('\n')).toEqual([
      'R-002  -  two',
      'not in docs/requirements.md: R-999 in a.test.ts',
      '2 requirements: 1 named by a test, 1 not; 1 rules and cases named besides',
    ]);
  });
});

test('docs/requirements.md lists all 142 in order with a sentence each', () => {
  const listed = requirementsIn(docs);
  const expected = Array.from({ length: 142 }, (_, i) => `R-${String(i + 1).padStart(3, '0')}`);
  expect(listed.map(({ id }) => id)).toEqual(expected);
  expect(listed.filter(({ sentence }) => !/^[A-Z].+\.$/.test(sentence))).toEqual([]);
});

test('no title in the project names a requirement that is not listed', () => {
  const files = projectFiles().filter(({ path }) => /\.test(suite)?\.ts$/.test(path));
  const tests = files.map(({ path, text }) => ({ path, titles: testTitles(path, text) }));
  expect(coverReport(requirementsIn(docs), tests).strangers).toEqual([]);
});
