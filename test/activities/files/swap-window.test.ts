// Would catch: a change by somebody who takes no lock (a shell, an editor), made between the last
// look and the publication, that is lost without a word.

import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { native } from '../../../activities/tools/files/native.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { digestOfText, namesIn, replaced, says, textOf } from '../../support/file-writes.ts';
import { tempDir } from '../../support/temp-dir.ts';

/** A file of v7 that somebody meets right before the n-th exchange; then what came of it. */
async function met(...visits: ((path: string) => void | Promise<void>)[]) {
  const root = tempDir();
  const path = join(root, 'a.txt');
  writeFileSync(path, 'v7');
  const swap: FileSystem['swap'] = async (one, other) => {
    await visits.shift()?.(path);
    return nodeFiles.swap(one, other);
  };
  const settled = replaced({ root, path: 'a.txt', content: 'v8', was: 'v7', files: { swap } });
  return { path, root, settled };
}

/** As an editor does it. */
const saved = (content: string) => (path: string) => {
  writeFileSync(`${path}~`, content);
  renameSync(`${path}~`, path);
};

test.each([
  ['saved by an editor', saved('v9')],
  ['written in place by a shell', (path: string) => writeFileSync(path, 'v9')],
])(
  'R-100 R-126 C5 C16 v9, %s: it is put back, a conflict, and its bytes stay',
  async (_, visit) => {
    const { path, root, settled } = await met(visit);
    const outcome = await settled;
    expect(outcome).toMatchObject({ kind: 'refused', code: 'conflict' });
    expect(outcome).toHaveProperty('message', expect.stringContaining(digestOfText('v9')));
    expect(textOf(path)).toBe('v9');
    expect(namesIn(root)).toEqual(['a.txt']);
  },
);

test('R-100 a directory, or a link, that took the place: put back, a conflict', async () => {
  const visits = [
    (path: string) => {
      rmSync(path);
      mkdirSync(path);
      writeFileSync(join(path, 'theirs'), 'v9');
    },
    (path: string) => {
      rmSync(path);
      writeFileSync(`${path}.real`, 'v9');
      symlinkSync('a.txt.real', path);
    },
  ];
  const [one, other] = [await met(visits[0] as never), await met(visits[1] as never)];
  expect(await one.settled).toMatchObject({ kind: 'refused', code: 'conflict' });
  expect(textOf(join(one.path, 'theirs'))).toBe('v9');
  expect(namesIn(one.root)).toEqual(['a.txt']);
  expect(await other.settled).toMatchObject({ kind: 'refused', code: 'conflict' });
  expect(textOf(other.path)).toBe('v9');
  expect(namesIn(other.root)).toEqual(['a.txt', 'a.txt.real']);
});

test('a file that was removed is a conflict, and does not come back', async () => {
  const { root, settled } = await met((path) => rmSync(path));
  expect(await settled).toMatchObject({ kind: 'refused', code: 'conflict' });
  expect(namesIn(root)).toEqual([]);
});

test('C7 permissions that were taken back are not given again: it may be tried anew', async () => {
  const { path, root, settled } = await met((at) => chmodSync(at, 0o600));
  expect(await settled).toMatchObject({ kind: 'not_taken', code: 'touched' });
  expect((await nodeFiles.statusAt(path)).mode & 0o777n).toBe(0o600n);
  expect(textOf(path)).toBe('v7');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('R-100 ours was replaced, too, before it was taken back: both stay, it is told', async () => {
  const root = tempDir();
  const path = join(root, 'a.txt');
  writeFileSync(path, 'v7');
  const swap: FileSystem['swap'] = async (one, other) => {
    saved('v9')(path);
    await nodeFiles.swap(one, other);
    saved('v10')(path);
  };
  const settled = replaced({ root, path: 'a.txt', content: 'v8', was: 'v7', files: { swap } });
  await expect(settled).rejects.toThrow(/another change of "a.txt" was displaced and is kept as/);
  expect(textOf(path)).toBe('v10');
  const [kept = ''] = namesIn(root);
  expect(textOf(join(root, kept))).toBe('v9');
});

test('R-100 v10 comes right with the taking back: nothing is removed, and it is told', async () => {
  const { path, root, settled } = await met(saved('v9'), saved('v10'));
  await expect(settled).rejects.toThrow('is kept as');
  expect(textOf(path)).toBe('v9');
  const [kept = ''] = namesIn(root);
  expect(textOf(join(root, kept))).toBe('v10');
});

test('R-100 ours is written into right with the taking back: that stays, it is told', async () => {
  const { path, root, settled } = await met(saved('v9'), (at) => writeFileSync(at, 'v8 and more'));
  await expect(settled).rejects.toThrow('is kept as');
  expect(textOf(path)).toBe('v9');
  const [kept = ''] = namesIn(root);
  expect(textOf(join(root, kept))).toBe('v8 and more');
});

test('C7 an attribute set in that instant is not dropped with the old file', async () => {
  const { path, settled } = await met(async (at) => {
    const file = openSync(at, 'r+');
    await native().calls?.setAttr(file, 'user.note', Buffer.from('theirs'));
    closeSync(file);
  });
  expect(await settled).toMatchObject({ kind: 'not_taken', code: 'touched' });
  const file = await nodeFiles.openToRead(path);
  expect(String(await nodeFiles.attribute(file, 'user.note'))).toBe('theirs');
  await file.close();
});

test('K-104 touched between the two looks, the same content: it may be tried anew', async () => {
  const root = tempDir();
  const path = join(root, 'a.txt');
  writeFileSync(path, 'v7');
  const prepare = async () => saved('v7')(path);
  const ask = { root, path: 'a.txt', content: 'v8', was: 'v7' };
  expect(await replaced({ ...ask, attempt: { prepare } })).toMatchObject({
    kind: 'not_taken',
    code: 'touched',
  });
  expect(textOf(path)).toBe('v7');
  expect(await replaced(ask)).toMatchObject({ kind: 'executed' });
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('a draft that was withdrawn is not exchanged, and that is told', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a.txt'), 'v7');
  const swap: FileSystem['swap'] = async (one, other) => {
    await nodeFiles.rename(one, one.replace(/\.draft$/, '.withdrawn'));
    return nodeFiles.swap(one, other);
  };
  const settled = await replaced({
    ...{ root, path: 'a.txt', content: 'v8', was: 'v7' },
    files: { swap },
  });
  expect(settled).toMatchObject({ kind: 'not_taken', code: 'withdrawn' });
  expect(textOf(join(root, 'a.txt'))).toBe('v7');
});

test.each(['looked', 'synced'])(
  'an error once it is exchanged and not yet %s is thrown',
  async (step) => {
    const root = tempDir();
    writeFileSync(join(root, 'a.txt'), 'v7');
    let isSwapped = false;
    const files: Partial<FileSystem> = {
      swap: async (one, other) => {
        await nodeFiles.swap(one, other);
        isSwapped = true;
      },
      statusAt: (path) =>
        isSwapped && step === 'looked' ? says('ENOSPC')() : nodeFiles.statusAt(path),
      syncDirectory: (directory) =>
        step === 'synced' ? says('ENOSPC')() : nodeFiles.syncDirectory(directory),
    };
    const failing = replaced({ root, path: 'a.txt', content: 'v8', was: 'v7', files });
    await expect(failing).rejects.toThrow('ENOSPC');
  },
);

test('an error of the exchange itself that is not listed is thrown: it may be taken', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a.txt'), 'v7');
  const files = { swap: says('EIO') };
  const failing = replaced({ root, path: 'a.txt', content: 'v8', was: 'v7', files });
  await expect(failing).rejects.toThrow('EIO');
});
