import { defineConfig } from 'vitest/config';

// One seed for every generator of a run; printed, so that a failure can be had again.
const seed = process.env['TEST_SEED'] ?? String(Date.now() % 2 ** 31);
if (process.env['TEST_SEED_TOLD'] !== seed) {
  process.stdout.write(`seed ${seed}; again with: TEST_SEED=${seed} npm test\n`);
  // This file is read once for each project.
  Object.assign(process.env, { TEST_SEED: seed, TEST_SEED_TOLD: seed });
}

/** Suites with commands of their own, because they need more than Node, npm and Python. */
const apart = ['test/**/*.{browser,crash,postgres}.test.ts'];
const withServer = ['test/**/*.server.test.ts'];
/** Pure: they share one process and load the code once, which saves half of `npm run check`. */
const pure = ['test/core/**/*.test.ts'];
/** They start processes and kill them, which takes a minute; `npm run check` leaves them out. */
const withProcesses = ['test/**/*.process.test.ts'];

/**
 * What starts processes waits for half of its time: three files at a time keep two cores busy, and
 * more would only wait for each other. In one group, so that none waits for the other's last file.
 */
const besideProcesses = { maxWorkers: 3, sequence: { groupOrder: 1 } };

export default defineConfig({
  test: {
    pool: 'forks', // worker threads and the SDK's native part end in a segmentation fault
    teardownTimeout: 30_000,
    hookTimeout: 60_000, // hooks start and end processes; a limit to give up at
    maxWorkers: 2,
    env: { TZ: 'UTC', TEST_SEED: seed },
    setupFiles: ['test/support/seed.ts'],
    coverage: { provider: 'v8', include: ['core/**'], thresholds: { 100: true } },
    projects: [
      {
        extends: true,
        test: {
          name: 'core',
          testTimeout: 60_000,
          include: pure,
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...pure, ...withServer, ...withProcesses, ...apart],
          isolate: false, // as above; none of them replaces a module or a global
          testTimeout: 60_000, // bundling workflows takes 5 s alone and 25 s on a crowded machine
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...besideProcesses,
          name: 'process',
          include: withProcesses,
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          ...besideProcesses,
          name: 'server',
          include: withServer,
          globalSetup: ['test/support/global-server.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
