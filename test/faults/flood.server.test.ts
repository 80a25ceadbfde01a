// Ten revocations in floods of signals; what it would catch stands in `flood.ts`. Beside them the
// control: the rule without a look at pending tasks, which lets attempts through.

import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { randomFrom } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import { FLOOD_TITLE, type FloodStage, floodProblems, openFloodStage, playFlood } from './flood.ts';

const server = () => ({ ...inject('temporal'), bundlePath: inject('bundlePath') });
let stage: FloodStage;
beforeAll(async () => {
  stage = await openFloodStage(server(), seed);
});
afterAll(() => stage.close());

const plays = Array.from({ length: 10 }, (_, index) => index + 1);

test.each(plays)(`${FLOOD_TITLE}: %i`, async (n) => {
  const random = randomFrom(seed + n);
  const flooded = await playFlood(stage, { runId: `flood-${n}`, random });
  expect(floodProblems(flooded)).toEqual([]);
});

test('without a look at pending tasks gates open in such a flood: the control', async () => {
  const blind = await openFloodStage(server(), seed, 'blind');
  onTestFinished(() => blind.close());
  const random = randomFrom(seed);
  let opened = 0;
  for (let n = 1; n <= 5 && opened === 0; n++)
    opened += (await playFlood(blind, { runId: `blind-${n}`, random })).opened.length;
  expect(opened).toBeGreaterThan(0);
});
