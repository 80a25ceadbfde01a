// Would catch: an order of calls, among a writer, those who ask about it, another writer and
// somebody who takes no lock, that makes an answer untrue, or that takes a version of another away.

import { expect, test } from 'vitest';
import { playFiles } from '../../support/file-fuzz.ts';
import { seed } from '../../support/seed.ts';
import { tempDir } from '../../support/temp-dir.ts';

const PLAYS = 200;
/** At once: a new file waits for a tick of the clock before it is linked. */
const LANES = 16;

test('C11 C12 R-100 R-127 any order: answers are true, no change of another is lost', async () => {
  const base = tempDir();
  const wrong: string[] = [];
  const said = new Set<string>();
  let played = 0;
  const lane = async () => {
    while (played < PLAYS) {
      const at = (seed + played++) % 2 ** 31;
      const one = await playFiles(at, base);
      for (const each of one.said) said.add(each);
      if (one.wrong.length > 0)
        wrong.push(`play ${at}: ${[...one.wrong, ...one.trace].join('\n')}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(wrong).toEqual([]);
  expect([...said]).toEqual(expect.arrayContaining(['executed', 'not_executed', 'conflict']));
});
