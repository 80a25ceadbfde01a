// Would catch: a new file that is there in part, over another one, or a second time under a name
// that reads the same; and a file that is created although the attempt may not go on.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFileTool } from '../../../activities/index.ts';
import { NotSentError } from '../../../activities/tool.ts';
import { nodeFiles } from '../../../activities/tools/files/system.ts';
import { created, digestOfText, namesIn, says, textOf } from '../../support/file-writes.ts';
import { tempDir } from '../../support/temp-dir.ts';

const odd = 'a "quoted" line\u2028still it\r\nnext, no end';

test('R-125 the file is there whole, and nothing beside it', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'notes'));
  const settled = await created({ root, path: './notes//odd.txt', content: odd });
  const digest = digestOfText(odd);
  expect(settled).toEqual({
    kind: 'executed',
    result: { path: 'notes/odd.txt', bytes: Buffer.byteLength(odd), digest },
    externalId: 'notes/odd.txt',
    objectVersion: digest,
  });
  expect(textOf(join(root, 'notes/odd.txt'))).toBe(odd);
  expect(namesIn(join(root, 'notes'))).toEqual(['odd.txt']);
});

test('an empty content makes an empty file', async () => {
  const root = tempDir();
  expect(await created({ root, path: 'empty', content: '' })).toMatchObject({ kind: 'executed' });
  expect(readFileSync(join(root, 'empty'))).toHaveLength(0);
});

test('C7 it has the permissions that the tool was given, whatever the umask', async () => {
  const root = tempDir();
  const umask = process.umask(0o077);
  try {
    await created({ root, path: 'plain', content: '' });
    const tool = { fileMode: 0o640 };
    await created({ root, path: 'group', content: '', ...tool });
  } finally {
    process.umask(umask);
  }
  const modeOf = (name: string) => (statSync(join(root, name)).mode & 0o7777).toString(8);
  expect([modeOf('plain'), modeOf('group')]).toEqual(['644', '640']);
});

test('R-126 C4 a file that exists is left as it is', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a.txt'), 'before');
  const settled = await created({ root, path: 'a.txt', content: 'after' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'EEXIST' });
  expect(settled).toHaveProperty('message', expect.stringContaining('"a.txt"'));
  expect(textOf(join(root, 'a.txt'))).toBe('before');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('R-126 C4 a file that comes between the last look and the link is left as it is', async () => {
  const root = tempDir();
  const link = async (from: string, to: string) => {
    writeFileSync(join(root, 'a.txt'), 'theirs');
    return nodeFiles.link(from, to);
  };
  const settled = await created({ root, path: 'a.txt', content: 'ours', files: { link } });
  expect(settled).toMatchObject({ kind: 'refused', code: 'EEXIST' });
  expect(textOf(join(root, 'a.txt'))).toBe('theirs');
  expect(namesIn(root)).toEqual(['a.txt']);
});

test('C6 R-082 a file with this very content is no effect of ours', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a.txt'), 'same');
  const before = statSync(join(root, 'a.txt')).ino;
  const settled = await created({ root, path: 'a.txt', content: 'same' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'already_satisfied' });
  expect(settled).not.toHaveProperty('result');
  expect(statSync(join(root, 'a.txt')).ino).toBe(before);
});

test.each([
  ['caf\u00e9', 'cafe\u0301'],
  ['cafe\u0301', 'caf\u00e9'],
  ['K', '\u212a'],
])('K-115 %j is refused where %j stands, both told in code points', async (name, there) => {
  const root = tempDir();
  writeFileSync(join(root, there), 'theirs');
  const settled = await created({ root, path: name, content: 'ours' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'other_spelling' });
  const shown = (text: string) => JSON.stringify(text).slice(1, -1);
  const escaped = (text: string) =>
    shown(text).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  expect(settled).toHaveProperty('message', expect.stringContaining(`(${escaped(name)})`));
  expect(settled).toHaveProperty('message', expect.stringContaining(`(${escaped(there)})`));
  expect(namesIn(root)).toEqual([there]);
});

test('the send window is checked before the name appears; the draft is evidence', async () => {
  const root = tempDir();
  const beforeSend = () => {
    throw new NotSentError('too late');
  };
  const late = created({ root, path: 'a.txt', content: 'ours', attempt: { beforeSend } });
  await expect(late).rejects.toThrow(NotSentError);
  expect(namesIn(root)).toEqual([expect.stringMatching(/-1-[0-9a-f]{8}\.withdrawn$/)]);
});

test('an attempt that may not be prepared publishes nothing; the next one tidies up', async () => {
  const root = tempDir();
  const receiverKey = 'shop/default/invoice-42.t1.c1';
  const prepare = async () => {
    throw new NotSentError('in doubt');
  };
  const first = created({ root, path: 'a', content: 'x', attempt: { prepare, receiverKey } });
  await expect(first).rejects.toThrow('in doubt');
  expect(namesIn(root)).toHaveLength(1);
  const attempt = { receiverKey, number: 2 };
  expect(await created({ root, path: 'a', content: 'x', attempt })).toMatchObject({
    kind: 'executed',
  });
  expect(namesIn(root)).toEqual(['a']);
});

test('the marks name the draft that is published, before anything is', async () => {
  const root = tempDir();
  const marks: Record<string, string>[] = [];
  const prepare = async (given: Readonly<Record<string, string>>) => {
    marks.push({ ...given });
    expect(namesIn(root).filter((name) => !name.startsWith('.'))).toEqual([]);
  };
  await created({ root, path: 'a.txt', content: 'ours', attempt: { prepare } });
  const { dev, ino, birthtimeNs } = statSync(join(root, 'a.txt'), { bigint: true });
  expect(marks).toEqual([
    {
      draft: expect.stringMatching(/^\.holdfast-.*\.draft$/),
      target: 'a.txt',
      device: String(dev),
      inode: String(ino),
      born: String(birthtimeNs),
      changed: expect.stringMatching(/^\d+$/),
      publish: 'link',
      old: 'absent',
      new: digestOfText('ours'),
    },
  ]);
});

test('a file system without hard links is refused, and nothing is written in place', async () => {
  const root = tempDir();
  for (const code of ['EPERM', 'ENOTSUP']) {
    const files = { link: says(code) };
    const settled = await created({ root, path: 'a.txt', content: 'ours', files });
    expect(settled).toMatchObject({ kind: 'refused', code: 'no_hard_links' });
  }
  expect(namesIn(root)).toEqual([]);
});

test('after the link an error is thrown: the file may be there', async () => {
  const root = tempDir();
  const failing = created({
    ...{ root, path: 'a.txt', content: 'ours' },
    files: { syncDirectory: says('ENOSPC') },
  });
  await expect(failing).rejects.toThrow('ENOSPC');
  expect(textOf(join(root, 'a.txt'))).toBe('ours');
});

test('a draft that was withdrawn is not published, and that is told', async () => {
  const root = tempDir();
  const link = async (from: string, to: string) => {
    await nodeFiles.rename(from, from.replace(/\.draft$/, '.withdrawn'));
    return nodeFiles.link(from, to);
  };
  const settled = await created({ root, path: 'a.txt', content: 'ours', files: { link } });
  expect(settled).toMatchObject({ kind: 'not_taken', code: 'withdrawn' });
  expect(namesIn(root)).toEqual([expect.stringMatching(/\.withdrawn$/)]);
});

test('half a character in the content is refused: on the disk it would be another', async () => {
  const root = tempDir();
  const settled = await created({ root, path: 'a.txt', content: 'x\ud83d' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'invalid_content' });
  expect(namesIn(root)).toEqual([]);
});

test('a root that is not there is told when the tool is made', () => {
  expect(() => createFileTool({ root: join(tempDir(), 'none') })).toThrow('is not there');
});
