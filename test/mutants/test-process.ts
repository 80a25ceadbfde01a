// The process that runs tests in a copy of the tree, started there by `runner.ts`. It answers each
// request with a report, and starts the test runner once: that is half of what a mutant costs.
//
// INV-1 Tests run in a new process for each request; what is kept here is the text of files that
//       are as they were.
// INV-2 When its parent goes, it ends what it started and goes too.

import { join } from 'node:path';
import { createVitest, type TestCase, type TestModule, type Vitest } from 'vitest/node';
import type { RanTest, Report } from './mutant.ts';
import { requestSchema } from './runner.ts';

const root = process.cwd();
const vitest = await createVitest('test', {
  ...{ root, watch: false, cache: false, coverage: { enabled: false } },
  // What is said of a test is read from it; nothing is written.
  reporters: [{}],
});
process.on('message', (message) => {
  void reportOn(vitest, message).then((report) => process.send?.(report));
});
process.once('disconnect', () => {
  void vitest.close().finally(() => process.exit());
});
process.send?.('ready');

async function reportOn(runner: Vitest, message: unknown): Promise<Report> {
  const { files, titles, changed } = requestSchema.parse(message);
  for (const file of changed) runner.invalidateFile(join(root, file));
  runner.setGlobalTestNamePattern(new RegExp(titles));
  const specifications = await runner.globTestSpecifications([...files]);
  const { testModules, unhandledErrors } = await runner.runTestSpecifications(specifications);
  // It goes on telling of files of earlier requests.
  const now = new Set(specifications.map(({ moduleId }) => moduleId));
  return reportOf(
    testModules.filter(({ moduleId }) => now.has(moduleId)),
    unhandledErrors,
  );
}

function reportOf(modules: readonly TestModule[], unhandled: readonly unknown[]): Report {
  const broken = modules.flatMap((module) => module.errors())[0];
  const [stray] = unhandled;
  return {
    tests: modules.flatMap((module) => [...module.children.allTests()].flatMap(ranTest)),
    problem:
      broken === undefined
        ? stray === undefined
          ? null
          : String(stray)
        : `${broken.name}: ${broken.message}`,
  };
}

/** None for what the filter left out. */
function ranTest(test: TestCase): RanTest[] {
  const { state, errors = [] } = test.result();
  if (state !== 'passed' && state !== 'failed') return [];
  const failures = errors.map(({ name, message }) => `${name}: ${message}`);
  const file = test.module.relativeModuleId;
  return [{ file, title: test.name, passed: state === 'passed', failures }];
}
