// Would catch: a file that is published before its bytes are on the disk, and an action that is
// told as done before the file's name is.

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { nodeFiles } from '../../../activities/tools/files/system.ts';
import { created, replaced, textOf, tracedFiles } from '../../support/file-writes.ts';
import { tempDir } from '../../support/temp-dir.ts';

const steps =
  /^(createNew|write|read|syncFile|prepared|sent|link|swap|rename|syncDirectory|settled)(?= |$)/;

/** The steps that order is about, each once where it comes several times in a row. */
function stepsOf(calls: readonly string[]): string[] {
  const names = calls.flatMap((call) => steps.exec(call)?.[1] ?? []);
  return names.filter((name, at) => name !== names[at - 1]);
}

/** What the ledger does, in the same list. */
function alsoIn(calls: string[]) {
  return {
    prepare: async () => {
      calls.push('prepared');
    },
    beforeSend: () => {
      calls.push('sent');
    },
  };
}

test('R-125 K-109 C2 C3 a new file: written, read, synced, recorded, linked, synced', async () => {
  const root = tempDir();
  const { calls, files } = tracedFiles();
  await created({ root, path: 'a.txt', content: 'ours', files, attempt: alsoIn(calls) });
  calls.push('settled');
  expect(stepsOf(calls)).toEqual([
    ...['createNew', 'write', 'read', 'syncFile', 'prepared', 'sent'],
    ...['link', 'syncDirectory', 'settled'],
  ]);
});

test.each([
  ['swap', {}, ['read', 'syncDirectory']],
  ['rename', { addonMissing: () => 'not installed' }, ['syncDirectory']],
] as const)(
  'R-125 K-109 C2 C3 a file that is replaced by %s: synced before it and after it',
  async (how, over, after) => {
    const root = tempDir();
    writeFileSync(join(root, 'a.txt'), 'v7');
    const { calls, files } = tracedFiles(over);
    const ask = { root, path: 'a.txt', content: 'v8', was: 'v7', withoutLock: true } as const;
    await replaced({ ...ask, files, attempt: alsoIn(calls) });
    calls.push('settled');
    expect(stepsOf(calls)).toEqual([
      ...['read', 'createNew', 'write', 'read', 'syncFile', 'prepared', 'read', 'sent'],
      ...[how, ...after, 'settled'],
    ]);
  },
);

test('R-125 the directory that is synced is the one of the file', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'a/b'), { recursive: true });
  const synced: (bigint | number)[] = [];
  const files = {
    syncDirectory: async (directory: Parameters<typeof nodeFiles.syncDirectory>[0]) => {
      synced.push((await nodeFiles.status(directory)).ino);
    },
  };
  await created({ root, path: 'a/b/c.txt', content: '', files });
  expect(synced).toEqual([(await nodeFiles.statusAt(join(root, 'a/b'))).ino]);
});

test('C1 K-107 the draft is beside the target, wherever temporary files go', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'deep'));
  const { calls, files } = tracedFiles();
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = existsSync('/dev/shm') ? '/dev/shm' : '/';
  try {
    expect(await created({ root, path: 'deep/a.txt', content: 'ours', files })).toMatchObject({
      kind: 'executed',
    });
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  const wordsOf = (name: string) =>
    calls.filter((call) => call.startsWith(`${name} `))[0]?.split(' ');
  const [, draft = ''] = wordsOf('createNew') ?? [];
  const [, from, to = ''] = wordsOf('link') ?? [];
  expect(from).toBe(draft);
  expect(dirname(draft)).toBe(dirname(to));
  expect(textOf(join(root, 'deep/a.txt'))).toBe('ours');
});

test('C1 the name of a draft holds chance, and nothing of the process', async () => {
  const root = tempDir();
  const drafts: string[] = [];
  const files = {
    createNew: async (path: string) => {
      drafts.push(path.slice(path.lastIndexOf('/') + 1));
      return nodeFiles.createNew(path);
    },
  };
  const attempt = { receiverKey: 'shop/default/a.t1.c1' };
  for (const path of ['a', 'b']) await created({ root, path, content: '', files, attempt });
  const [one, other] = drafts;
  expect(one).not.toBe(other);
  const prefix = /^\.holdfast-[0-9a-f]{24}-1-/;
  expect(prefix.exec(String(one))?.[0]).toBe(prefix.exec(String(other))?.[0]);
});

test('C1 a draft takes no name that is taken, by a dangling link either', async () => {
  const root = tempDir();
  const taken = join(root, 'taken');
  symlinkSync(join(root, 'nowhere'), taken);
  await expect(nodeFiles.createNew(taken)).rejects.toMatchObject({ code: 'EEXIST' });
  expect(existsSync(join(root, 'nowhere'))).toBe(false);
});
