// The house rules that a machine can check, over every file that git tracks or would add.

import { expect, test } from 'vitest';
import { projectFiles } from './support/project-files.ts';
import { findingText, tidyFindings } from './support/tidy-rules.ts';

const files = projectFiles();

test('R-142 every file keeps the import table, the bans, the sizes and the words', () => {
  expect(tidyFindings(files).map(findingText)).toEqual([]);
});

test("R-142 the checked files are the project's and none that was installed or built", () => {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['package.json', 'core/ids.ts', 'test/tidy.test.ts']),
  );
  expect(paths.filter((path) => /^(node_modules|dist|coverage)\//.test(path))).toEqual([]);
});
