// A short round of what `npm run check:claims` plays, and the same with tools that lie; what it
// would catch stands in `play.ts`.

import { expect, inject, test } from 'vitest';
import { seed } from '../support/seed.ts';
import { lieKinds } from './claim-tools.ts';
import { lyingPlay, type Play, playFrom, WORKERS } from './operations.ts';
import { playClaims } from './play.ts';
import type { Patience } from './rest.ts';
import { type ClaimStageOptions, openClaimStage } from './stage.ts';
import { violationText } from './told.ts';

const patience: Patience = { withinMs: 120_000, patience: 'asked' };

async function played(play: Play, options: Omit<ClaimStageOptions, 'play'>) {
  const server = { ...inject('temporal'), bundlePath: inject('bundlePath') };
  const stage = await openClaimStage(server, { play, ...options });
  try {
    const report = await playClaims(stage, play, patience);
    return { ...report, text: await violationText(stage, play, report) };
  } finally {
    await stage.close();
  }
}

// A limit to give up at: strikes, leases and backoffs alone take a quarter of a minute.
const GIVE_UP_MS = 180_000;

test(
  'D.4 under faults, what is said of operations is what their receivers have',
  async () => {
    const play = playFrom({ seed, ops: 40, runs: 8, prefix: `claims-${seed}` });
    const { problems, text } = await played(play, { workers: WORKERS });
    expect({ problems, text }).toEqual({ problems: [], text: '' });
  },
  GIVE_UP_MS,
);

test(
  'D.4 D6 tools that send under new keys, or believe a look, are found out',
  async () => {
    const play = lyingPlay('lying-claims');
    const { problems, violations } = await played(play, { workers: 1, lies: [...lieKinds] });
    expect(problems).toEqual([]);
    const found = new Set(violations.map(({ kind, op }) => `${op} ${kind}`));
    expect([...found].sort()).toEqual([
      'lying-claims-1.t1.c1 executed_more_than_once',
      'lying-claims-1.t1.c1 more_than_one_effect',
      'lying-claims-1.t1.c1 two_keys',
      'lying-claims-2.t1.c1 not_executed_with_effect',
    ]);
  },
  GIVE_UP_MS,
);
