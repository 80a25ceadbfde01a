// Five of the runs that `npm run faults` revokes by the dozen; what it would catch stands in
// `revoke-random.ts`.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { randomFrom } from '../support/random.ts';
import { seed } from '../support/seed.ts';
import {
  nthPlay,
  openRandomStage,
  playRandom,
  RANDOM_TITLE,
  type RandomStage,
  randomProblems,
} from './revoke-random.ts';

let stage: RandomStage;
beforeAll(async () => {
  stage = await openRandomStage({ ...inject('temporal'), bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

const plays = [1, 2, 3, 4, 5];

test.concurrent.each(plays)(`${RANDOM_TITLE}: %i`, async (n) => {
  const random = randomFrom(seed + n);
  const struck = await playRandom(stage, { runId: `random-${n}`, random, ...nthPlay(n) });
  expect(randomProblems(struck)).toEqual([]);
});
