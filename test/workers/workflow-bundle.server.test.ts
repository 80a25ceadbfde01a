// Among the server tests for its time only: webpack runs ten times.

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleWorkflows, packageFile } from '../../workers/workflow-bundle.ts';
import { UNDECODABLE } from '../../workflows/payload-converter.ts';
import { tempDir } from '../support/temp-dir.ts';

const LONG_AGO = new Date('2020-01-01T00:00:00Z');

const packages = fileURLToPath(new URL('../../node_modules', import.meta.url));

function workflowsIn(directory: string, greeting: string): string {
  const path = join(directory, 'workflows.ts');
  writeFileSync(
    path,
    `import type { Name } from './name.ts';\n` +
      `export async function greet(name: Name): Promise<string> {\n` +
      `  return \`${greeting} \${name}\`;\n}\n`,
  );
  writeFileSync(join(directory, 'name.ts'), 'export type Name = string;\n');
  utimesSync(path, LONG_AGO, LONG_AGO);
  return path;
}

function setting() {
  const directory = tempDir();
  symlinkSync(packages, join(directory, 'node_modules'));
  const env = { HOLDFAST_CACHE: tempDir() };
  return { directory, env, bundles: join(env.HOLDFAST_CACHE, 'bundles') };
}

function manifestsIn(bundles: string): string[] {
  return readdirSync(bundles).filter((name) => name.endsWith('.json'));
}

test('an unchanged workflow is bundled once, a changed one anew', async () => {
  const { directory, env, bundles } = setting();
  const workflowsPath = workflowsIn(directory, 'hello');
  const first = await bundleWorkflows({ workflowsPath, env });
  const manifest = join(bundles, manifestsIn(bundles)[0] ?? '');
  const written = statSync(manifest).ino; // a manifest written anew is another file
  expect(await bundleWorkflows({ workflowsPath, env })).toEqual(first);
  expect(statSync(manifest).ino).toBe(written);
  workflowsIn(directory, 'good day');
  const changed = await bundleWorkflows({ workflowsPath, env });
  expect(changed.codePath).not.toBe(first.codePath);
  expect(statSync(manifest).ino).not.toBe(written);
});

test('a bundle that names no payload converter has the tolerant one', async () => {
  const { directory, env } = setting();
  const workflowsPath = workflowsIn(directory, 'hello');
  const { codePath } = await bundleWorkflows({ workflowsPath, env });
  expect(readFileSync(codePath, 'utf8')).toContain(UNDECODABLE);
});

test('a bundle that a power cut left short is made anew', async () => {
  const { directory, env, bundles } = setting();
  const workflowsPath = workflowsIn(directory, 'hello');
  const first = await bundleWorkflows({ workflowsPath, env });
  truncateSync(first.codePath, 10);
  expect(await bundleWorkflows({ workflowsPath, env })).toEqual(first);
  truncateSync(join(bundles, manifestsIn(bundles)[0] ?? ''), 10);
  expect(await bundleWorkflows({ workflowsPath, env })).toEqual(first);
});

test('a bundle whose source changed while it was made is not kept', async () => {
  const { directory, env, bundles } = setting();
  const workflowsPath = workflowsIn(directory, 'hello');
  const later = new Date(Date.now() + 3_600_000);
  utimesSync(workflowsPath, later, later);
  await bundleWorkflows({ workflowsPath, env });
  expect(manifestsIn(bundles)).toEqual([]);
});

test('bundles that were not used for long leave the cache', async () => {
  const { directory, env, bundles } = setting();
  mkdirSync(bundles);
  for (const [name, time] of [
    ['old.js', LONG_AGO],
    ['new.js', new Date()],
  ] as const) {
    writeFileSync(join(bundles, name), '');
    utimesSync(join(bundles, name), time, time);
  }
  await bundleWorkflows({ workflowsPath: workflowsIn(directory, 'hello'), env });
  expect(readdirSync(bundles)).toContain('new.js');
  expect(readdirSync(bundles)).not.toContain('old.js');
});

test('processes that bundle at the same time get the same whole bundle', async () => {
  const { directory, env, bundles } = setting();
  const workflowsPath = workflowsIn(directory, 'hello');
  const requests = [1, 2, 3].map(() => bundleWorkflows({ workflowsPath, env }));
  const paths = (await Promise.all(requests)).map(({ codePath }) => codePath);
  expect(new Set(paths).size).toBe(1);
  expect(readdirSync(bundles).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('a workflow that imports what the sandbox forbids is refused', async () => {
  const { directory, env } = setting();
  const workflowsPath = join(directory, 'workflows.ts');
  writeFileSync(
    workflowsPath,
    `import { readFileSync } from 'node:fs';\n` +
      'export async function read(): Promise<string> {\n' +
      `  return readFileSync('/etc/hostname', 'utf8');\n}\n`,
  );
  await expect(bundleWorkflows({ workflowsPath, env })).rejects.toThrow(/cannot be bundled: .*fs/s);
});

test('a file of the package is found as source and as built', () => {
  expect(packageFile('file:///p/workers/main.ts', '../workflows/index')).toBe(
    '/p/workflows/index.ts',
  );
  expect(packageFile('file:///p/dist/workers/main.js', '../workflows/index')).toBe(
    '/p/dist/workflows/index.js',
  );
});
