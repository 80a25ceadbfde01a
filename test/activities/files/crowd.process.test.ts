// Many processes change one JSON file. Would catch a lost addition, a file that a reader finds in
// part, and a control that loses nothing, which would show that nothing was at stake.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Child, startChild } from '../../../examples/support-desk/child.ts';
import { builtProgram } from '../../support/built-program.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { LOCK, TARGET, WITHIN_MS } from './lock-holder.ts';
import type { CrowdSaid, Role } from './programs/crowd.ts';

const PROCESSES = 5;
const TIMES = 100;
/** Five hundred replacements one after the other: seconds alone, a minute on a crowded machine. */
const DONE_MS = 110_000;

const stateIn = (root: string) =>
  JSON.parse(readFileSync(join(root, TARGET), 'utf8')) as { n: number };

async function crowd(root: string, role: Role, processes: number): Promise<Child[]> {
  const program = await builtProgram('test/activities/files/programs/crowd.ts');
  const script = [program, role, root, TARGET, String(TIMES)] as const;
  const logs = tempDir();
  const start = async (index: number) => {
    const child = await startChild({ script, logPath: join(logs, `${role}-${index}.log`) });
    onTestFinished(() => child.kill());
    await child.line('READY', WITHIN_MS);
    return child;
  };
  return Promise.all(Array.from({ length: processes }, (_, index) => start(index)));
}

const tellAll = (children: readonly Child[]) => {
  for (const child of children) child.tell('go on');
};
const said = async (child: Child) => JSON.parse(await child.line('SAID ', DONE_MS)) as CrowdSaid;

function stage(): string {
  const root = tempDir();
  writeFileSync(join(root, TARGET), JSON.stringify({ n: 0, end: 0 }));
  return root;
}

test('K-116 R-125 five processes add a hundred each: 500, always read whole', async () => {
  const root = stage();
  const [adding, reading] = await Promise.all([
    crowd(root, 'adds', PROCESSES),
    crowd(root, 'reads', 1),
  ]);
  tellAll([...reading, ...adding]);
  const adders = await Promise.all(adding.map(said));
  tellAll(reading);
  const [reader] = await Promise.all(reading.map(said));
  expect(adders.map(({ times }) => times)).toEqual(Array.from(adding, () => TIMES));
  expect(stateIn(root).n).toBe(PROCESSES * TIMES);
  expect(readdirSync(root).toSorted()).toEqual([LOCK, TARGET]);
  // They met: else nothing was at stake, neither for them nor for the reader.
  expect(adders.flatMap(({ refused }) => Object.values(refused)).length).toBeGreaterThan(0);
  expect(reader?.times).toBeGreaterThan(TIMES);
});

test('K-116 R-126 the control: without lock and comparison four of five are lost', async () => {
  const root = stage();
  const adding = await crowd(root, 'adds_plainly', PROCESSES);
  tellAll(adding);
  await Promise.all(adding.map((child) => child.line('HAS READ', WITHIN_MS)));
  tellAll(adding);
  const adders = await Promise.all(adding.map(said));
  expect(adders.reduce((sum, { times }) => sum + times, 0)).toBe(PROCESSES);
  expect(stateIn(root).n).toBe(1);
});
