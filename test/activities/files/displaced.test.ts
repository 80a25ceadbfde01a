// Would catch: another's change that an exchange displaced, and that is lost on its way back: by
// two who ask at once, by one that dies over it, by what the next attempt clears, or for being no
// regular file.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { removeEvidence } from '../../../activities/tools/files/draft.ts';
import { withLock } from '../../../activities/tools/files/lock.ts';
import { keptName } from '../../../activities/tools/files/names.ts';
import { openDirectory, type Place } from '../../../activities/tools/files/place.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import {
  prepared,
  publish,
  quick,
  receiverKey,
  replaceBy,
  type Scene,
  THIRD,
} from '../../support/file-scene.ts';
import { mortalProcess } from '../../support/mortal-files.ts';

/** A writer exchanged its draft for a change that it never saw, and came no further. */
async function displaced(change: (target: string) => void): Promise<Scene> {
  const scene = await prepared('swap');
  change(scene.target);
  await publish(scene);
  return scene;
}

const byThird = () => displaced((target) => replaceBy(THIRD, target));
const textAt = (path: string) => readFileSync(path, 'utf8');

async function inPlace<R>({ root, target }: Scene, body: (place: Place) => Promise<R>) {
  const directory = await openDirectory(nodeFiles, root, 'a');
  if (directory === 'outside') throw new Error('the directory is inside');
  try {
    return await body({ kind: 'place', directory, name: 'f.txt', path: 'a/f.txt', target });
  } finally {
    await directory.handle.close();
  }
}

test('R-100 who asks while another puts a change back waits; nothing is emptied', async () => {
  const scene = await byThird();
  const answers: unknown[] = [];
  const slow: FileSystem = {
    ...quick,
    async swap(one, other) {
      answers.push(await scene.ask());
      await nodeFiles.swap(one, other);
      answers.push(await scene.ask());
    },
  };
  expect(await scene.ask({}, slow)).toMatchObject({ verdict: 'not_executed' });
  expect(answers).toMatchObject([{ verdict: 'unavailable' }, { verdict: 'unavailable' }]);
  expect(textAt(scene.target)).toBe(THIRD);
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
  expect(scene.ours()).toEqual({ withdrawn: '' });
});

test('R-100 ours is edited before it is taken back: nobody says it was never there', async () => {
  const scene = await byThird();
  const answers: { verdict: string }[] = [];
  const slow: FileSystem = {
    ...quick,
    async swap(one, other) {
      if (answers.length === 0) writeFileSync(scene.target, 'edited');
      await nodeFiles.swap(one, other);
      answers.push(await scene.ask());
    },
  };
  expect(await scene.ask({}, slow)).toMatchObject({ verdict: 'conflict' });
  expect(answers.map(({ verdict }) => verdict)).not.toContain('not_executed');
  expect(textAt(scene.target)).toBe('edited');
  expect(scene.ours()).toEqual({ kept: THIRD });
});

test('R-100 a change that waits for the lock outlives the next attempt clearing', async () => {
  const scene = await byThird();
  await inPlace(scene, async (place) => {
    const ask = { waitMs: 0, signal: new AbortController().signal };
    await withLock(nodeFiles, place, ask, async () => {
      const kept = keptName(basename(scene.draft));
      expect(await scene.ask()).toMatchObject({
        verdict: 'unavailable',
        detail: expect.stringContaining(kept),
      });
    });
    await removeEvidence(nodeFiles, place, { receiverKey, number: 2 });
  });
  expect(scene.ours()).toEqual({ kept: THIRD });
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
  expect(textAt(scene.target)).toBe(THIRD);
});

test('R-100 so does one that was only shut out, by a fence', async () => {
  const scene = await byThird();
  await scene.fence();
  await inPlace(scene, (place) => removeEvidence(nodeFiles, place, { receiverKey, number: 2 }));
  expect(scene.ours()).toEqual({ kept: THIRD });
});

test('C12 a directory, or a link, that was displaced stands again', async () => {
  const directory = await displaced((target) => {
    rmSync(target);
    mkdirSync(target);
    writeFileSync(join(target, 'theirs'), THIRD);
  });
  expect(await directory.ask()).toMatchObject({ verdict: 'not_executed' });
  expect(textAt(join(directory.target, 'theirs'))).toBe(THIRD);
  const link = await displaced((target) => {
    rmSync(target);
    symlinkSync('nowhere', target);
  });
  expect(await link.ask()).toMatchObject({ verdict: 'not_executed' });
  expect(readlinkSync(link.target)).toBe('nowhere');
});

test('R-100 a draft that somebody wrote into is not emptied, nor cleared away', async () => {
  const scene = await prepared('swap');
  writeFileSync(scene.draft, 'a note');
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
  await inPlace(scene, (place) => removeEvidence(nodeFiles, place, { receiverKey, number: 2 }));
  expect(scene.ours()).toEqual({ touched: 'a note' });
  expect(await scene.ask()).toMatchObject({ verdict: 'not_executed' });
});

test('C11 an inquirer dies at any call of putting back: the next one is done with it', async () => {
  const whole = mortalProcess(quick);
  await (await byThird()).ask({}, whole.files);
  for (let at = 1; at <= whole.calls.length; at++) {
    const scene = await byThird();
    const mortal = mortalProcess(quick, { at });
    await Promise.race([scene.ask({}, mortal.files), mortal.reached]);
    expect(await scene.ask(), whole.calls[at - 1]).toMatchObject({ verdict: 'not_executed' });
    expect(textAt(scene.target)).toBe(THIRD);
    expect(existsSync(join(scene.root, 'a', keptName(basename(scene.draft))))).toBe(false);
    expect(lstatSync(scene.target).isFile()).toBe(true);
    mortal.bury();
  }
});
