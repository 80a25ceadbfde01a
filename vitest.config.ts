import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    pool: 'forks',
    env: { TZ: 'UTC' },
    coverage: { provider: 'v8', include: ['core/**'], thresholds: { 100: true } },
  },
});
