// The real bundle, and that a forbidden import fails a unit test rather than a worker.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { packageFile } from '../../workers/workflow-bundle.ts';
import { tempDir } from '../support/temp-dir.ts';

const silent = Object.fromEntries(
  ['log', 'trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]),
) as never;

test('R-142 the workflows bundle with their converter, without Node and activities', async () => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: packageFile(import.meta.url, '../../workflows/index'),
    payloadConverterPath: packageFile(import.meta.url, '../../workflows/payload-converter'),
    logger: silent,
  });
  for (const name of ['agentRun', 'unknownAction', 'holdfastUndecodable'])
    expect(code).toContain(name);
  expect(code).not.toContain('./activities/registry.ts');
  expect(code).not.toContain('better-sqlite3');
});

test('R-142 a workflow that reaches for Node is refused by the bundler', async () => {
  const path = join(tempDir(), 'bad.ts');
  writeFileSync(
    path,
    "import { readFileSync } from 'node:fs';\nexport const bad = () => readFileSync;\n",
  );
  await expect(bundleWorkflowCode({ workflowsPath: path, logger: silent })).rejects.toThrow();
});
