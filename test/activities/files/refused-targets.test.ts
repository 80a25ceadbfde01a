// Would catch: a link, a device, a pipe or a file with other names that is replaced by a plain one,
// and a disk that is full or read-only where something is left or somewhere else is written.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { errnoTable, unwrittenBy } from '../../../activities/tools/files/errno.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { created, namesIn, replaced, says, textOf } from '../../support/file-writes.ts';
import { tempDir } from '../../support/temp-dir.ts';

type Make = (at: string) => void | Promise<void>;
const socketAt: Make = async (at) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(at, resolve));
};

test.each<[string, Make, string]>([
  ['a directory', (at) => void mkdirSync(at), 'directory'],
  ['a pipe, without waiting for its other end', (at) => void execFileSync('mkfifo', [at]), 'fifo'],
  ['a socket', socketAt, 'socket'],
  [
    'a file with a second name',
    (at) => {
      writeFileSync(at, 'v7');
      linkSync(at, `${at}.second`);
    },
    'hard_links',
  ],
])('C8 %s is refused by its name, and left as it is', async (_, make, code) => {
  const root = tempDir();
  const at = join(root, 'a');
  await make(at);
  const before = lstatSync(at, { bigint: true });
  const names = namesIn(root);
  const settled = await replaced({ root, path: 'a', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code });
  expect(settled).toHaveProperty('message', expect.stringContaining('"a"'));
  expect(await created({ root, path: 'a', content: 'v8' })).toMatchObject({ code: 'EEXIST' });
  const { ino, ctimeNs } = lstatSync(at, { bigint: true });
  expect({ ino, ctimeNs }).toEqual({ ino: before.ino, ctimeNs: before.ctimeNs });
  expect(namesIn(root)).toEqual(names);
});

test('C8 a device is refused, and never opened', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a'), 'v7');
  const opened: string[] = [];
  const files: Partial<FileSystem> = {
    statusAt: (path) => nodeFiles.statusAt(path.endsWith('/a') ? '/dev/null' : path),
    openToRead: (path) => {
      opened.push(path);
      return nodeFiles.openToRead(path);
    },
  };
  const settled = await replaced({ root, path: 'a', content: 'v8', was: 'v7', files });
  expect(settled).toMatchObject({ kind: 'refused', code: 'device' });
  expect(opened).toEqual([]);
});

test('K-112 C8 a read-only file is refused, also as root', async () => {
  const root = tempDir();
  writeFileSync(join(root, 'a'), 'v7');
  chmodSync(join(root, 'a'), 0o444);
  const settled = await replaced({ root, path: 'a', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'read_only' });
  expect(textOf(join(root, 'a'))).toBe('v7');
  expect(namesIn(root)).toEqual(['a']);
});

test('K-113 C8 a link inside the root: the real file is replaced, and the link stays', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'shared'));
  writeFileSync(join(root, 'shared/real'), 'v7');
  symlinkSync('shared/real', join(root, 'second'));
  symlinkSync(join(root, 'second'), join(root, 'first'));
  const settled = await replaced({ root, path: 'first', content: 'v8', was: 'v7' });
  expect(settled).toMatchObject({ kind: 'executed', externalId: 'shared/real' });
  expect(textOf(join(root, 'shared/real'))).toBe('v8');
  expect(readlinkSync(join(root, 'second'))).toBe('shared/real');
  expect(namesIn(join(root, 'shared'))).toEqual(['real']);
});

test.each<[string, (root: string) => void, 'follow' | 'refuse', string]>([
  [
    'out of the root',
    (root) => symlinkSync('/etc/hostname', join(root, 'l')),
    'follow',
    'outside_root',
  ],
  ['to nothing', (root) => symlinkSync('nowhere', join(root, 'l')), 'follow', 'symlink_dangling'],
  ['to itself', (root) => symlinkSync('l', join(root, 'l')), 'follow', 'ELOOP'],
  ['to the root', (root) => symlinkSync('.', join(root, 'l')), 'follow', 'directory'],
  ['above the root', (root) => symlinkSync('..', join(root, 'l')), 'follow', 'directory'],
  [
    'to a lock of ours',
    (root) => {
      writeFileSync(join(root, '.holdfast-x.lock'), 'v7');
      symlinkSync('.holdfast-x.lock', join(root, 'l'));
    },
    'follow',
    'reserved_name',
  ],
  [
    'inside the root, where links are refused',
    (root) => {
      writeFileSync(join(root, 'real'), 'v7');
      symlinkSync('real', join(root, 'l'));
    },
    'refuse',
    'symlink',
  ],
])('K-113 C8 a link %s is refused, for both tools', async (_, make, symlinks, code) => {
  const root = tempDir();
  make(root);
  const names = namesIn(root);
  const ask = { root, path: 'l', content: 'v8', symlinks };
  expect(await replaced({ ...ask, was: 'v7' })).toMatchObject({ kind: 'refused', code });
  expect(await created(ask)).toMatchObject({ kind: 'refused', code });
  expect(lstatSync(join(root, 'l')).isSymbolicLink()).toBe(true);
  expect(namesIn(root)).toEqual(names);
});

test('C9 a name that is too long is refused, and no shorter one is written', async () => {
  const root = tempDir();
  const settled = await created({ root, path: 'n'.repeat(304), content: 'ours' });
  expect(settled).toMatchObject({ kind: 'refused', code: 'ENAMETOOLONG' });
  expect(namesIn(root)).toEqual([]);
  // The longest that there is: names of ours do not grow with it.
  expect(await created({ root, path: 'n'.repeat(255), content: 'ours' })).toMatchObject({
    kind: 'executed',
  });
});

const stages = [
  ['link', 'EXDEV', 'refused'],
  ['link', 'EROFS', 'refused'],
  ['link', 'ENOSPC', 'not_taken'],
  ['createNew', 'EROFS', 'refused'],
  ['createNew', 'EMFILE', 'not_taken'],
  ['createNew', 'EACCES', 'refused'],
  ['write', 'ENOSPC', 'not_taken'],
  ['write', 'EDQUOT', 'not_taken'],
  ['write', 'EFBIG', 'refused'],
  ['syncFile', 'ENOSPC', 'not_taken'],
  ['syncFile', 'EIO', 'not_taken'],
  ['status', 'EIO', 'not_taken'],
  ['statusAt', 'EACCES', 'refused'],
  ['namesIn', 'EACCES', 'refused'],
  ['openDirectory', 'ENFILE', 'not_taken'],
  ['fileSystemAt', 'EACCES', 'refused'],
] as const;
test.each(stages)(
  'C9 %s says %s before anything is published: %s, and nothing is left',
  async (call, code, kind) => {
    const root = tempDir();
    const settled = await created({ root, path: 'a', content: 'x', files: { [call]: says(code) } });
    expect(settled).toMatchObject({ kind, code });
    expect(settled).toHaveProperty('message', expect.stringMatching(/^"(a|\.holdfast-.*\.lock)"/));
    expect(namesIn(root)).toEqual([]);
  },
);

test.each([
  ['swap', 'EXDEV'],
  ['swap', 'EBUSY'],
  ['swap', 'EPERM'],
  ['swap', 'EROFS'],
])(
  'C9 a replacement where %s says %s: told, the old file whole, nothing left',
  async (call, code) => {
    const root = tempDir();
    writeFileSync(join(root, 'a'), 'v7');
    const files = { [call]: says(code) };
    const settled = await replaced({ root, path: 'a', content: 'v8', was: 'v7', files });
    expect(settled).toMatchObject({ code });
    expect(textOf(join(root, 'a'))).toBe('v7');
    expect(namesIn(root)).toEqual(['a']);
  },
);

test('C2 writes that take a part each make the whole file', async () => {
  const root = tempDir();
  const files: Partial<FileSystem> = {
    write: (file, bytes, position) => nodeFiles.write(file, bytes.subarray(0, 3), position),
  };
  const settled = await created({ root, path: 'a', content: 'more than three', files });
  expect(settled).toMatchObject({ kind: 'executed' });
  expect(textOf(join(root, 'a'))).toBe('more than three');
});

test.each<[string, FileSystem['write'], string]>([
  [
    'takes a part, and then the disk is full',
    async (file, bytes, position) =>
      position > 0 ? says('ENOSPC')() : nodeFiles.write(file, bytes.subarray(0, 2), position),
    'ENOSPC',
  ],
  ['takes nothing, without an error', async () => 0, 'draft_incomplete'],
  ['says more than it took', async (_, bytes) => bytes.byteLength, 'draft_incomplete'],
  [
    'takes other bytes',
    (file, bytes, position) => nodeFiles.write(file, Buffer.alloc(bytes.byteLength), position),
    'draft_incomplete',
  ],
])('C2 a write that %s: not taken, the old file whole, nothing left', async (_, write, code) => {
  const root = tempDir();
  writeFileSync(join(root, 'a'), 'v7');
  const files = { write };
  const settled = await replaced({ root, path: 'a', content: 'v8 and more', was: 'v7', files });
  expect(settled).toMatchObject({ kind: 'not_taken', code });
  expect(textOf(join(root, 'a'))).toBe('v7');
  expect(namesIn(root)).toEqual(['a']);
});

test('C2 a file that is shorter than its content is told by its size', async () => {
  const files = { write: async (_: unknown, bytes: Uint8Array) => bytes.byteLength };
  const settled = await created({ root: tempDir(), path: 'a', content: 'v8', files });
  expect(settled).toHaveProperty('message', expect.stringContaining('0 of 2 bytes'));
});

test('every listed error says what it is of the path, and only what passes is tried again', () => {
  for (const [code, { kind }] of Object.entries(errnoTable)) {
    const error = Object.assign(new Error(code), { code });
    const told = unwrittenBy(error, 'a\nb');
    expect(told).toMatchObject({ kind, code });
    expect(told.message).toMatch(/^"a\\nb" .*\(E[A-Z0-9]+\)$/);
    expect('retryAfterMs' in told).toBe(kind === 'not_taken');
  }
  expect(unwrittenBy(new Error('odd'), 'a')).toMatchObject({
    ...{ kind: 'not_taken', code: 'unknown_error', message: '"a": odd; nothing was written' },
  });
});
