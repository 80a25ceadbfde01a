// Suites that need more than Node, npm and Python: each has an npm script of its own, says what to
// install when that is missing, and is never skipped.

import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

const { projects: _, coverage: __, ...shared } = base.test ?? {};

export default defineConfig({
  test: {
    ...shared,
    projects: [
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/**/*.browser.test.ts'],
          globalSetup: ['test/support/global-browser.ts', 'test/support/global-server.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'crash',
          include: ['test/**/*.crash.test.ts'],
          globalSetup: ['test/support/global-server.ts'],
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: ['test/**/*.postgres.test.ts'],
          globalSetup: ['test/support/global-postgres.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
