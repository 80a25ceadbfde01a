// `npm run requirements [-- --missing] [-- --json]`: which requirement has a test that names it.
// Ends with 1 when a title names a requirement that docs/requirements.md does not list.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectFiles, projectRoot } from './support/project-files.ts';
import { coverReport, coverText, requirementsIn } from './support/requirement-cover.ts';
import { testTitles } from './support/test-titles.ts';

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { missing: { type: 'boolean' }, json: { type: 'boolean' } },
});

const requirements = requirementsIn(
  readFileSync(join(projectRoot, 'docs/requirements.md'), 'utf8'),
);
const tests = projectFiles()
  .filter(({ path }) => /\.test(suite)?\.ts$/.test(path))
  .map(({ path, text }) => ({ path, titles: testTitles(path, text) }));
const report = coverReport(requirements, tests);
const shown = values.missing
  ? { ...report, requirements: report.requirements.filter(({ files }) => files.length === 0) }
  : report;
console.log(
  values.json ? JSON.stringify(shown) : coverText(report, values.missing ? 'missing' : 'all'),
);
process.exitCode = report.strangers.length === 0 ? 0 : 1;
