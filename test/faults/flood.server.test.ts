// Ten revocations in floods of signals; what it would catch stands in `flood.ts`. The rule without
// a look at pending tasks fails in `dead-worker.server.test.ts`, where it does so every time.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { randomFrom } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { FLOOD_TITLE, type FloodStage, floodProblems, openFloodStage, playFlood } from './flood.ts';

let stage: FloodStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFloodStage({ address, namespace, bundlePath: inject('bundlePath') }, seed);
});
afterAll(() => stage.close());

const plays = Array.from({ length: 10 }, (_, index) => index + 1);

test.each(plays)(`${FLOOD_TITLE}: %i`, async (n) => {
  const random = randomFrom(seed + n);
  const flooded = await playFlood(stage, { runId: `flood-${n}`, random });
  expect(floodProblems(flooded)).toEqual([]);
});
