import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../support/project-files.ts';

test('R-142 the sample of the README is the example that the package is tested with', () => {
  const text = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
  const sample = /^```ts\n([\s\S]*?)^```$/m.exec(text('README.md'))?.[1];
  expect(sample).toBe(text('examples/01-charge-card/workflows.ts'));
});
