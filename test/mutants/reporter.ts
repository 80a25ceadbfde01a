// What `vitest` says of each test, with the names of its errors: the JSON that it can write by
// itself has their words only, and an assertion about a promise reads there like any other error.
// Written to the file that the environment names.

import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import type { RanTest, Report } from './mutant.ts';

export const REPORT_VARIABLE = 'MUTANTS_REPORT';

export default class FileReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env[REPORT_VARIABLE];
    if (path === undefined) throw new Error(`${REPORT_VARIABLE} names no file for the report`);
    writeFileSync(path, JSON.stringify(reportOf(modules)));
  }
}

function reportOf(modules: readonly TestModule[]): Report {
  const broken = modules.flatMap((module) => module.errors())[0];
  return {
    tests: modules.flatMap((module) => [...module.children.allTests()].flatMap(ranTest)),
    problem: broken === undefined ? null : `${broken.name}: ${broken.message}`,
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
