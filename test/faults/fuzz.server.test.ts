// A short round of what `npm run fuzz` plays; what it would catch stands in `fuzz.ts`.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { seed } from '../support/seed.ts';
import { FUZZ_TITLE, type FuzzStage, openFuzzStage, playFuzz } from './fuzz.ts';
import { fuzzedRuns } from './fuzz-runs.ts';

const PAYLOADS = 40;

let stage: FuzzStage;
beforeAll(async () => {
  stage = await openFuzzStage({ ...inject('temporal'), bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

test.each(fuzzedRuns.map((fuzzed, index) => ({ ...fuzzed, index })))(
  `${FUZZ_TITLE}: $title`,
  async ({ index, ...fuzzed }) => {
    const fuzz = { runId: `fuzz-${index}`, seed: seed + index, count: PAYLOADS };
    expect(await playFuzz(stage, fuzzed, fuzz)).toEqual([]);
  },
);
