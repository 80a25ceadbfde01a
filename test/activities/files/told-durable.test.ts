// Would catch: "executed" said of a file that a killed writer left visible and not yet on the disk,
// or of another file that has the inode number of ours by now.

import { expect, test } from 'vitest';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { prepared, publish, replaceBy, type Scene, THIRD } from '../../support/file-scene.ts';

/** Notes what is synced, and what is exchanged. */
function noting(): { files: FileSystem; steps: string[] } {
  const steps: string[] = [];
  const files: FileSystem = {
    ...nodeFiles,
    syncFile: async () => void steps.push('sync file'),
    syncDirectory: async () => void steps.push('sync directory'),
    async swap(one, other) {
      steps.push('swap');
      await nodeFiles.swap(one, other);
    },
  };
  return { files, steps };
}

async function ask(scene: Scene) {
  const { files, steps } = noting();
  const { verdict } = await scene.ask({}, files);
  return { verdict, steps };
}

test.each(['link', 'rename', 'swap'] as const)(
  'C3 found published by %s, file and directory are synced before it is told',
  async (how) => {
    const scene = await prepared(how);
    await publish(scene);
    const steps = ['sync file', 'sync directory'];
    expect(await ask(scene)).toEqual({ verdict: 'executed', steps });
  },
);

test('C3 R-100 what is put back is on the disk before "not executed" is told', async () => {
  const scene = await prepared('swap');
  replaceBy(THIRD, scene.target);
  await publish(scene);
  const { verdict, steps } = await ask(scene);
  expect(verdict).toBe('not_executed');
  expect(steps.slice(-2)).toEqual(['swap', 'sync directory']);
});

test('C12 a file with the inode number of ours, born at another time, is not ours', async () => {
  const scene = await prepared('rename');
  await publish(scene);
  const born = `${BigInt(scene.marks.born) - 1n}`;
  expect(await scene.ask()).toMatchObject({ verdict: 'executed' });
  expect(await scene.ask({ prepared: { ...scene.marks, born } })).toMatchObject({
    verdict: 'conflict',
  });
});
