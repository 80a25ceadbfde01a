// Each rule of tidiness goes red on a bad piece of code and stays green on its good twin. Words
// that the rules forbid in any file are put together here from pieces.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { walkedPaths } from './support/project-files.ts';
import { codeRules } from './support/tidy-code.ts';
import { importTable } from './support/tidy-imports.ts';
import { tidyFindings } from './support/tidy-rules.ts';

interface Row {
  readonly rule: string;
  readonly path: string;
  readonly bad: string;
  readonly good: string;
}

const once = ['exactly', 'once'];
const twoL = ['cancel', 'led'].join('');
const host = ['https://regis', 'try.example.com/zod'].join('');
const home = ['', 'home', 'ann', 'holdfast'].join('/');
const lines = (count: number) => 'export {};\n'.repeat(count);
const body = (count: number) => `export function f(): void {\n${'  g();\n'.repeat(count)}}\n`;

const rows: readonly Row[] = [
  { rule: 'syntax', path: 'core/a.ts', bad: 'const a = ;', good: 'const a = 1;' },
  { rule: 'no-enum', path: 'core/a.ts', bad: 'enum A { B }', good: "type A = 'enum A { B }';" },
  { rule: 'no-any', path: 'core/a.ts', bad: 'let a: any[];', good: 'let any: unknown; // any' },
  {
    rule: 'no-local-activities',
    path: 'workflows/a.ts',
    bad: "import { proxyLocalActivities } from '@temporalio/workflow';",
    good: '// no proxyLocalActivities here',
  },
  { rule: 'pure-core', path: 'core/a.ts', bad: 'Date.now();', good: "log('Date.now()');" },
  { rule: 'pure-core', path: 'core/a.ts', bad: 'f(Date.now);', good: 'f(date.now);' },
  { rule: 'pure-core', path: 'core/a.ts', bad: 'new Date();', good: 'new Date(at);' },
  { rule: 'pure-core', path: 'core/a.ts', bad: 'Math.random();', good: 'Math.floor(1);' },
  { rule: 'pure-core', path: 'core/a.ts', bad: 'async function f() {}', good: 'function f() {}' },
  { rule: 'workflow-time', path: 'workflows/a.ts', bad: 'Date.now();', good: 'Math.random();' },
  { rule: 'no-console', path: 'ledger/a.ts', bad: 'console.log(1);', good: 'log(1);' },
  {
    rule: 'no-console',
    path: 'workers/a.ts',
    bad: 'console.error(1);',
    good: 'console.log(process.argv[2]);',
  },
  {
    rule: 'no-sleep-in-tests',
    path: 'test/a.test.ts',
    bad: 'await sleep(50);',
    good: "import { sleep } from '@temporalio/workflow'; await sleep(50);",
  },
  {
    rule: 'no-sleep-in-tests',
    path: 'test/a.test.ts',
    bad: 'await new Promise((resolve) => setTimeout(resolve, 9));',
    good: 'const kill = setTimeout(() => child.kill(), 9);',
  },
  {
    rule: 'no-sleep-in-tests',
    path: 'test/a.test.ts',
    bad: 'await new Promise((resolve) => setTimeout(() => resolve(1), 9));',
    good: "await environment.sleep('30 days');",
  },
  {
    rule: 'no-only-skip-retry',
    path: 'test/a.test.ts',
    bad: "it.only('a', () => {});",
    good: 'rows.only(1);',
  },
  {
    rule: 'no-only-skip-retry',
    path: 'test/a.test.ts',
    bad: "describe.skip.each([1])('a', () => {});",
    good: "describe.each([1])('a', () => {});",
  },
  {
    rule: 'no-only-skip-retry',
    path: 'test/a.test.ts',
    bad: "test('a', { retry: 2 }, () => {});",
    good: 'proxy({ retry: 2 });',
  },
  {
    rule: 'no-only-skip-retry',
    path: 'vitest.config.ts',
    bad: 'export default { test: { retry: 1 } };',
    good: 'export default { test: { retry: 0 } };',
  },
  {
    rule: 'hardened-activities',
    path: 'activities/a.ts',
    bad: 'proxyActivities({});',
    good: "log('proxyActivities');",
  },
  {
    rule: 'failures-in-one-place',
    path: 'activities/a.ts',
    bad: "throw ApplicationFailure.nonRetryable('a');",
    good: 'if (error instanceof ApplicationFailure) throw failure(error);',
  },
  {
    rule: 'failures-in-one-place',
    path: 'workflows/a.ts',
    bad: "throw new wf.ApplicationFailure('a');",
    good: 'throw failure();',
  },
  { rule: 'function-length', path: 'core/a.ts', bad: body(59), good: body(58) },
  { rule: 'file-length', path: 'core/a.ts', bad: lines(301), good: lines(300) },
  { rule: 'file-length', path: 'test/a.test.ts', bad: lines(401), good: lines(400) },
  { rule: 'file-length', path: 'examples/01-a.ts', bad: lines(61), good: lines(60) },
  { rule: 'file-length', path: 'README.md', bad: 'a\n'.repeat(121), good: 'a\n'.repeat(120) },
  { rule: 'file-length', path: 'ARCHITECTURE.md', bad: 'a\n'.repeat(251), good: 'a\n'.repeat(250) },
  {
    rule: 'line-length',
    path: 'core/a.ts',
    bad: `// ${'é'.repeat(98)}`,
    good: `// https://example.com/${'é'.repeat(98)}`,
  },
  { rule: 'bounded-claim', path: 'README.md', bad: `at ${once.join(' ')}`, good: 'at most one' },
  { rule: 'bounded-claim', path: 'core/a.ts', bad: `// ${once.join('-')}`, good: '// exactly one' },
  { rule: 'bounded-claim', path: 'core/a.ts', bad: `// ${once.join('\n// ')}`, good: '// once' },
  { rule: 'one-spelling', path: 'core/a.ts', bad: `'${twoL}'`, good: "'canceled'" },
  { rule: 'one-spelling', path: 'core/a.ts', bad: `let is${twoL}Run;`, good: `context.${twoL};` },
  { rule: 'one-spelling', path: 'docs/a.md', bad: `was ${twoL}`, good: 'a `CancelledFailure`' },
  { rule: 'machine-words', path: 'docs/a.md', bad: `see ${home}`, good: 'see src/home/ann' },
  { rule: 'machine-words', path: 'package-lock.json', bad: host, good: 'https://example.com/zod' },
  {
    rule: 'machine-words',
    path: 'test/replay/histories/a.json',
    bad: '{"identity": "12@host"}',
    good: '{"identity": "recorder"}',
  },
  ...['utils', 'run-manager', 'test.helpers'].map((name) => ({
    rule: 'file-names',
    path: `core/${name}.ts`,
    bad: 'export {};',
    good: '',
  })),
  { rule: 'file-names', path: 'core/RunState.ts', bad: 'export {};', good: '' },
  { rule: 'links', path: 'docs/a.md', bad: '[a](b.md)', good: '[a](a.md#b) [b](../docs) `[c](d)`' },
];

const allowedImports: readonly (readonly [path: string, code: string])[] = [
  ['core/a.ts', "import * as z from 'zod'; import { sha256 } from '@noble/hashes/sha2.js';"],
  ['core/a.ts', "import { limits } from './limits.ts'; import canonicalize from 'canonicalize';"],
  ['ledger/a.ts', "import Database from 'better-sqlite3'; import { join } from 'node:path';"],
  ['ledger/a.ts', "import { join } from 'path';"],
  ['workflows/a.ts', "import type { Port } from '../ledger/port.ts';"],
  ['workflows/a.ts', "type P = import('../activities/a.ts').P; export type * from 'zod';"],
  ['activities/tools/a.ts', "import { generateText } from 'ai'; import '../../ledger/port.ts';"],
  ['workers/a.ts', "import '../ledger/sqlite.ts'; await import(path);"],
  ['client/a.ts', "import { resolveSignal } from '../workflows/messages.ts';"],
  ['test/a.ts', "import { anything } from 'anything';"],
];

const refusedImports: readonly (readonly [path: string, code: string])[] = [
  ['core/a.ts', "import { Client } from '@temporalio/client';"],
  ['core/a.ts', "import type { Client } from '@temporalio/client';"],
  ['core/a.ts', "import { createHash } from 'node:crypto';"],
  ['core/a.ts', "import { createHash } from 'crypto';"],
  ['core/a.ts', "import 'zodiac';"],
  ['core/a.ts', "export * from '../ledger/port.ts';"],
  ['ledger/a.ts', "import { sleep } from '@temporalio/workflow';"],
  ['ledger/a.ts', "import '../activities/a.ts';"],
  ['workflows/a.ts', "import { type Port } from '../ledger/port.ts';"],
  ['workflows/a.ts', "import '../activities/a.ts';"],
  ['workflows/a.ts', "export { a } from '../activities/a.ts';"],
  ['workflows/a.ts', "const a = await import('../activities/a.ts');"],
  ['workflows/a.ts', "import * as z from 'zod';"],
  ['activities/a.ts', "import { openSqlite } from '../ledger/sqlite.ts';"],
  ['activities/a.ts', "import Database from 'better-sqlite3';"],
  ['activities/a.ts', "import { Worker } from '@temporalio/worker';"],
  ['receiver/a.ts', "import { Context } from '@temporalio/activity';"],
  ['receiver/a.ts', "import '../ledger/port.ts';"],
  ['receiver/a.ts', "const a = require('../ledger/port.ts');"],
  ['receiver/a.ts', "const a = await import('../led' + 'ger/port.ts');"],
  ['workers/a.ts', "import { connect } from '../client/connection.ts';"],
  ['workers/a.ts', "import '../test/support/a.ts';"],
  ['client/a.ts', "import '../workflows/agent-run.ts';"],
  ['client/a.ts', "import '../workers/a.ts';"],
  ['test/a.ts', "import { createInterface } from 'node:readline/promises';"],
];

function rulesBroken(path: string, text: string): string[] {
  return [...new Set(tidyFindings([{ path, text }]).map(({ rule }) => rule))];
}

describe('one file', () => {
  test.each(rows)('$rule goes red in $path on $bad', ({ rule, path, bad }) => {
    expect(rulesBroken(path, bad)).toContain(rule);
  });

  test.each(rows.filter(({ good }) => good !== ''))('$rule stays green on $good', (row) => {
    expect(rulesBroken(row.path, row.good)).toEqual([]);
  });

  test('every rule over syntax has a bad piece of code above', () => {
    const covered = new Set(rows.map(({ rule }) => rule));
    expect(codeRules.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
  });
});

describe('imports', () => {
  test.each(refusedImports)('R-142 %s may not: %s', (path, text) => {
    expect(rulesBroken(path, text)).toEqual(['imports']);
  });

  test.each(allowedImports)('R-142 %s may: %s', (path, text) => {
    expect(rulesBroken(path, text)).toEqual([]);
  });

  test('R-142 each room is tried both ways', () => {
    const tried = (list: typeof allowedImports) =>
      new Set(list.map(([path]) => path.split('/')[0]));
    for (const list of [allowedImports, refusedImports])
      expect([...tried(list)]).toEqual(
        expect.arrayContaining(Object.keys(importTable).filter((room) => room !== 'receiver')),
      );
    expect([...tried(refusedImports)]).toContain('receiver');
  });
});

describe('the file that proxies activities', () => {
  const text = [
    'export const a = proxyActivities({',
    '  maximumAttempts: 1,',
    '  allowEagerDispatch: false,',
    '  nonRetryableErrorTypes: [],',
    '});',
  ].join('\n');
  const hardened = { path: 'workflows/proxies.ts', text };

  test('R-046 one file with the hardened options is accepted', () => {
    expect(tidyFindings([hardened])).toEqual([]);
  });

  test('R-046 a second file is refused', () => {
    const second = { path: 'workflows/zebra.ts', text: 'export const a = proxyActivities({});\n' };
    expect(tidyFindings([hardened, second])).toMatchObject([
      { path: 'workflows/zebra.ts', rule: 'hardened-activities' },
    ]);
  });

  test.each(['maximumAttempts: 1,', 'allowEagerDispatch: false,', 'nonRetryableErrorTypes: [],'])(
    'R-045 R-046 without %s it is refused',
    (option) => {
      const soft = { ...hardened, text: text.replace(option, '') };
      expect(tidyFindings([soft])).toMatchObject([{ rule: 'hardened-activities', line: 1 }]);
    },
  );
});

describe('the body of a transaction', () => {
  const fs = "import { writeFileSync as put } from 'node:fs';\n";
  const told = {
    path: 'receiver/told.ts',
    text: `${fs}export function tell() { put('a', 'b'); }\n`,
  };
  const findings = (path: string, text: string) =>
    tidyFindings([{ path, text }, told]).map(({ rule, line }) => `${rule} ${line}`);

  test.each([
    ['a call over the net', 'ledger.transact(look, () => decide(fetch(url)));'],
    ['a file', `${fs}ledger.transact(look, () => put('a', 'b'));`],
    ['waiting', 'ledger.transact(look, async (view) => decide(view));'],
    ['a module that is loaded', "ledger.transact(look, () => import('./a.ts'));"],
    ['a function of the same file', `function f() { fetch(url); }\nledger.transact(look, f);`],
    ['a decision made elsewhere', `const f = () => () => fetch(url);\nledger.transact(look, f());`],
  ])('R-130 of the ledger is refused with %s', (_what, text) => {
    expect(findings('activities/a.ts', text)).toEqual([
      expect.stringMatching(/^outside-in-transaction/),
    ]);
  });

  test.each([
    ['a file', `${fs}store.transaction(async (tx) => { await tx.run(''); put('a', 'b'); });`],
    ['a call over the net', 'export const o = { async apply(tx, input) { await fetch(input); } };'],
    ['a command', "import { exec } from 'node:child_process';\nconst f = (tx: Tx) => exec('a');"],
    ['a part of it that can be undone', `const f = (tx: Tx) => tx.nested(() => fetch(url));`],
    ['a wait', 'const f = (at: EffectTx) => setTimeout(g, 9);'],
    ['a function of another file', `import { tell } from './told.ts';\nconst f = (tx) => tell();`],
    ['its other name', `import { tell as say } from './told.ts';\nconst f = (tx) => say();`],
  ])('R-130 of a receiver is refused with %s', (_what, text) => {
    expect(findings('receiver/a.ts', text)).toEqual([
      expect.stringMatching(/^outside-in-transaction/),
    ]);
  });

  test.each([
    ['before it', `${fs}put('a', 'b');\nledger.transact(look, () => decide());`],
    ['after it', 'await store.transaction(async (tx) => { await tx.run(""); });\nfetch(url);'],
    ['a property of that name', 'store.transaction((tx) => tx.run(a.fetch, { process: 1 }));'],
    ['a type', "import type { put } from 'node:fs';\nconst f = (tx: Tx): typeof put => g(tx);"],
    ['what computes', "import { hash } from 'node:crypto';\nconst f = (tx) => tx.run(hash('a'));"],
    ['a foreign operation', 'export const o = { async perform(input) { await fetch(input); } };'],
  ])('R-130 does not forbid %s', (_what, text) => {
    expect(findings('receiver/a.ts', text)).toEqual([]);
  });
});

describe('the list of files without git', () => {
  const folder = (gitignore: string): string => {
    const root = mkdtempSync(join(tmpdir(), 'holdfast-files-'));
    for (const path of ['core', 'dist', 'docs/dist'])
      mkdirSync(join(root, path), { recursive: true });
    for (const path of ['core/a.ts', 'core/a.db', 'dist/a.js', 'docs/dist/b.js', 'docs/c.md'])
      writeFileSync(join(root, path), '');
    writeFileSync(join(root, '.gitignore'), gitignore);
    return root;
  };

  test('it leaves out what .gitignore names', () => {
    const root = folder('# built\ndist/\n*.db\n');
    expect(walkedPaths(root).sort()).toEqual(['.gitignore', 'core/a.ts', 'docs/c.md']);
    rmSync(root, { recursive: true });
  });

  test('a pattern it cannot read is refused by name', () => {
    const root = folder('docs/**/x\n');
    expect(() => walkedPaths(root)).toThrow('docs/**/x');
    rmSync(root, { recursive: true });
  });
});
