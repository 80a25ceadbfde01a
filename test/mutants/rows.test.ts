// The rows of `npm run mutants`, and its judgment. Would catch: a row that went stale without
// anyone noticing, and a mutant that counts as caught because its test never ran or never loaded.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectFiles, projectRoot } from '../support/project-files.ts';
import { testTitles } from '../support/test-titles.ts';
import { guards } from './guards.ts';
import {
  bareTitle,
  escaped,
  judged,
  type Mutant,
  mayBecome,
  mutantsOf,
  notGreen,
  patched,
  type RanTest,
  type Report,
} from './mutant.ts';

const mutants = mutantsOf(guards);
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');

/** The guards that nobody may lose; each has a mutant of its own. */
const needed = [
  'gate',
  'closing on refusal',
  'closing inquiry',
  'attempt uniqueness',
  'entry token',
  'digest',
  'barrier',
  'second Describe',
  'barrier age',
  'consumes',
  'send window',
  'epoch compare-and-set',
  'incarnation',
  'first settlement wins',
  'interceptor',
  'non-retryable list',
  'tolerant converter',
  'result before return',
  'in-doubt mark',
  'late by the stop',
  'nothing after a stop',
  'abort by cancel alone',
  'acceptance of a version',
  'late signal',
  'ended question',
  'revoke',
  'ledger-first revoke',
  'approval',
  'grants',
  'decided versions',
  'budget',
  'refused on a retry',
  'what waits for a person',
  'commands that were pasted unread',
  'prepared before asked',
  'durable before told',
  'what the ledger refuses is not sent',
  'compensation',
  'resend by the answer',
  'refused key',
  'going on',
  'distinct wishes',
  'disputes',
  'stale answers',
  'no claim without a word',
  'contract suite',
  'outbox',
  'receiver fence',
  'receiver transaction',
  'one writer at a target',
  'ground below a root',
  'what an exchange displaced',
  'withdrawn first',
  'evidence and changes of others',
];

describe('the rows', () => {
  test('every guard has a mutant, and every mutant a name of its own', () => {
    expect([...new Set(mutants.map(({ guard }) => guard))].sort()).toEqual([...needed].sort());
    const names = mutants.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test('every patch applies to one place of its file', () => {
    const stale = mutants.flatMap((mutant) => {
      const result = patched(read(mutant.file), mutant);
      return result.kind === 'stale' ? [`${mutant.name}: ${mutant.file}: ${result.why}`] : [];
    });
    expect(stale).toEqual([]);
  });

  test('every test that a row names is there', () => {
    const texts = projectFiles().flatMap(({ path, text }) =>
      path.startsWith('test/mutants/') ? [] : [text],
    );
    const paths = new Set(mutants.map(({ test: path }) => path));
    const titles = new Map([...paths].map((path) => [path, testTitles(path, read(path))]));
    const isThere = ({ test: path, red }: Mutant) =>
      titles.get(path)?.some(({ title, skipped }) => !skipped && mayBecome(title, red, texts)) ===
        true ||
      // Titles that a suite in another file gives stand there as they are.
      texts.some((text) => text.includes(`${bareTitle(red)}'`));
    expect(mutants.filter((mutant) => !isThere(mutant)).map(({ name }) => name)).toEqual([]);
  });
});

const mutant: Mutant = {
  ...{ guard: 'gate', name: 'one', file: 'core/a.ts', test: 'test/core/a.test.ts' },
  ...{ from: 'if (closed)', to: 'if (false)', red: 'it is closed' },
};

describe('a patch', () => {
  test.each([
    ['its text is gone', 'if (open) return;', 'stands in 0 places'],
    ['its text is there twice', 'if (closed) a(); if (closed) b();', 'stands in 2 places'],
  ])('is stale when %s', (_when, text, why) => {
    expect(patched(text, mutant)).toEqual({
      kind: 'stale',
      why: expect.stringContaining(why),
    });
  });

  test('that changes nothing is stale', () => {
    expect(patched('if (closed)', { from: 'if (closed)', to: 'if (closed)' }).kind).toBe('stale');
  });

  test('is put in as it is, whatever its characters mean elsewhere', () => {
    const text = patched('a(); if (closed) b();', { ...mutant, to: '$& $1' });
    expect(text).toEqual({ kind: 'patched', text: 'a(); $& $1 b();' });
  });
});

const ran = (over: Partial<RanTest>): Report => ({
  tests: [{ file: mutant.test, title: mutant.red, passed: false, failures: [], ...over }],
  problem: null,
});

describe('a mutant', () => {
  const asserted = ran({ failures: ['AssertionError: expected 1 to be 2'] });
  const thrown = ran({ failures: ['TypeError: Cannot read properties of undefined'] });
  const passed = ran({ passed: true });
  test.each<[string, string, Report]>([
    ['caught', 'an assertion failed', asserted],
    ['SURVIVED', 'the test passes', passed],
    ['other failure', 'something else was thrown', thrown],
    ['not run', 'the file has no test of that title', ran({ title: 'it is open' })],
    ['not run', 'the title is one of another file', ran({ file: 'test/core/b.test.ts' })],
    ['not run', 'the file did not load', { tests: [], problem: 'SyntaxError: no' }],
  ])('is %s when %s', (verdict, _when, report) => {
    expect(judged(mutant, report).verdict).toBe(verdict);
  });

  test('is caught by words of a rule behind the guard, where the row expects them', () => {
    const expecting = { ...mutant, says: 'of undefined' };
    expect(judged(expecting, thrown).verdict).toBe('caught');
    expect(judged(expecting, asserted).verdict).toBe('other failure');
  });

  test.each<[string | null, Report]>([
    [null, passed],
    ['not green', asserted],
    ['not run', { tests: [], problem: null }],
  ])('without its patch is %s', (verdict, report) => {
    expect(notGreen(mutant, report)?.verdict ?? null).toBe(verdict);
  });
});

describe('a title', () => {
  const texts = ['another', "['of a ledger', 1]"];
  test.each([
    [true, 'as it stands', 'a (b) c', 'a (b) c'],
    [true, 'with other ids', 'R-001 K-050 A13 it is closed', 'R-002 INV-3 it is closed'],
    [false, 'as a part', 'a (b) c', 'a (b) c d'],
    [true, 'with its row', 'R-006 … %s proves nothing', 'R-006 it of a ledger proves nothing'],
    [false, 'with a row that nobody has', '%s proves nothing', 'a word proves nothing'],
    [false, 'with a row of two files', '%s', 'another ledger'],
  ])('is found, %s: %s', (found, _how, pattern, title) => {
    expect(mayBecome(pattern, title, [...texts, 'it of a ledger'])).toBe(found);
  });

  test('as a filter means itself alone', () => {
    const odd = 'a.*(b) [c]|$ \\ {1}/-^+?';
    expect(new RegExp(`^${escaped(odd)}$`).test(odd)).toBe(true);
    expect(new RegExp(`^${escaped('a.c')}$`).test('abc')).toBe(false);
  });
});
