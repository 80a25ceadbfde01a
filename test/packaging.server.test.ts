// R-142 What a user gets: the packed package in an empty project, through its doors alone.

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { tempDirOfFile } from './support/temp-dir.ts';

const INSTALL_MS = 300_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const project = tempDirOfFile();

const doors = Object.keys(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: object }).exports,
)
  .filter((door) => !door.endsWith('.json'))
  .map((door) => door.replace('.', 'holdfast'));

function run(file: string, args: readonly string[], cwd = project): string {
  return execFileSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
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
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node'];
  const strict = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext'];
  expect(run(process.execPath, [tsc, ...strict, ...types, 'doors.ts'])).toBe('');
});

test("R-142 a user's bundler bundles the workflows from the package", () => {
  writeFileSync(join(project, 'workflows.js'), `export * from 'holdfast/workflow';\n`);
  const script = `
    import { fileURLToPath } from 'node:url';
    import { bundleWorkflows } from 'holdfast/worker';
    const workflowsPath = fileURLToPath(new URL('./workflows.js', 'file://${project}/'));
    const payloadConverterPath = fileURLToPath(import.meta.resolve('holdfast/payload-converter'));
    const env = { HOLDFAST_CACHE: '${project}/cache' };
    const { codePath } = await bundleWorkflows({ workflowsPath, payloadConverterPath, env });
    console.log(codePath);`;
  const codePath = node(script).trim();
  expect(readFileSync(codePath, 'utf8')).toContain('agentRun');
});

test('R-142 the command is there and says how it is used', () => {
  expect(run(join(project, 'node_modules/.bin/holdfast'), ['--help'])).toContain('Usage: holdfast');
});
