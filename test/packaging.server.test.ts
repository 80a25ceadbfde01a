// R-142 What a user gets: the packed package in an empty project, through its doors alone.

import { execFileSync, type StdioOptions } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { startInstalled } from './support/installed-program.ts';
import { tempDirOfFile } from './support/temp-dir.ts';

const INSTALL_MS = 600_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const project = tempDirOfFile();

const doors = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }).exports,
)
  .filter((door) => !door.endsWith('.json'))
  .map((door) => door.replace('.', 'holdfast'));

function run(file: string, args: readonly string[], cwd = project, env = process.env): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
  return execFileSync(file, args, { cwd, env, encoding: 'utf8', stdio });
}

function node(script: string): string {
  return run(process.execPath, ['--input-type=module', '--eval', script]);
}

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', project], root);
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack wrote no package');
  writeFileSync(join(project, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
  // Install scripts only build better-sqlite3; this machine has, so its result is copied.
  const quick = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  run('npm', ['install', '--silent', ...quick, `./${tarball}`]);
  const built = 'node_modules/better-sqlite3/build';
  cpSync(join(root, built), join(project, built), { recursive: true });
}, INSTALL_MS);

test('R-142 the package carries no tests, no sources and no state', () => {
  const files = readdirSync(join(project, 'node_modules/holdfast'));
  expect(files.sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
});

test.each(doors.filter((door) => door !== 'holdfast/workflow'))(
  'R-142 %s can be imported',
  (door) => {
    const count = node(`console.log(Object.keys(await import('${door}')).length)`);
    expect(Number(count)).toBeGreaterThan(0);
  },
);

test('R-142 every door has types that a strict project accepts', () => {
  const imports = doors.map((door, i) => `import * as door${i} from '${door}';`);
  const uses = doors.map((_, i) => `door${i}`).join(', ');
  // Types that were not found would be `any`, and then the second line would be no error.
  const strictly = `import { createLog } from 'holdfast/worker';
    // @ts-expect-error there is no such level
    createLog({ level: 'loud' });`;
  const text = [...imports, strictly, `export const doors = [${uses}];`].join('\n');
  writeFileSync(join(project, 'doors.ts'), text);
  expect(compile(['--noEmit', 'doors.ts'])).toBe('');
});

function compile(args: readonly string[]): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const strict = ['--strict', '--skipLibCheck', '--module', 'nodenext'];
  return run(process.execPath, [tsc, ...strict, ...types, ...args]);
}

test('R-142 the command is there and says how it is used', () => {
  expect(run(join(project, 'node_modules/.bin/holdfast'), ['--help'])).toContain('Usage: holdfast');
});

test('R-142 the ten lines of the README charge a card from the installed package', async () => {
  const app = join(project, 'app');
  cpSync(join(root, 'examples/01-charge-card'), app, { recursive: true });
  const sources = readdirSync(app).map((name) => join(app, name));
  compile(['--rewriteRelativeImportExtensions', ...sources]);
  const store = join(project, 'cards.db');
  const program = async (name: string, more: NodeJS.ProcessEnv) => {
    const started = await startInstalled(name, { cwd: app, env: { ...process.env, ...more } });
    onTestFinished(started.stop);
    return started;
  };
  const { ready: cards } = await program('card-service.js', { PORT: '0', STORE: store });
  const settings = settingsOf(cards);
  await program('worker.js', settings);
  const client = () => run(process.execPath, ['client.js'], app, { ...process.env, ...settings });
  expect(client()).toBe('completed: charged, receipt R-1\n');
  expect(client()).toBe('completed: charged, receipt R-1\n');
  const { effects } = (await (await fetch(`${cards}/effects`)).json()) as { effects: object[] };
  expect(effects).toMatchObject([{ operation: 'charge_card' }]);
});

function settingsOf(cards: string): NodeJS.ProcessEnv {
  const { address, namespace } = inject('temporal');
  return {
    CARD_SERVICE_URL: cards,
    HOLDFAST_ADDRESS: address,
    HOLDFAST_NAMESPACE: namespace,
    HOLDFAST_INSTALLATION: 'shop',
    HOLDFAST_TASK_QUEUE_PREFIX: 'packaging',
    HOLDFAST_LEDGER_URL: `sqlite:${join(project, 'ledger.db')}`,
    HOLDFAST_LEDGER_CREATE: 'on',
    HOLDFAST_LOG_LEVEL: 'error',
    HOLDFAST_CACHE: join(project, 'cache'),
  };
}
