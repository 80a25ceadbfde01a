// What the adapters rely on of the addon, asked of the addon itself; and a machine without it.
// Would catch a lock that counts for the process, an ACL out of reach, a path that is cut.

import { constants, fchmodSync, readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadNative, type Native, native } from '../../../activities/tools/files/native.ts';
import { tempDir } from '../../support/temp-dir.ts';

const ACL = 'system.posix_acl_access';

function calls(): Native {
  const addon = native();
  if (addon.calls === null) throw new Error(addon.missing);
  return addon.calls;
}

async function opened(path: string, flags: number | string): Promise<FileHandle> {
  const handle = await open(path, flags);
  onTestFinished(() => handle.close());
  return handle;
}

/** As Linux stores it: version 2, then tag, rights and id of each entry. */
function aclFor(uid: number): Buffer {
  const entry = (tag: number, rights: number, id = 0xffffffff) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(rights, 2);
    bytes.writeUInt32LE(id, 4);
    return bytes;
  };
  const entries = [entry(1, 6), entry(2, 6, uid), entry(4, 4), entry(0x10, 6), entry(0x20, 0)];
  return Buffer.concat([Buffer.from([2, 0, 0, 0]), ...entries]);
}

test.each([
  [
    'nothing was built for this machine',
    () => {
      throw new Error("Cannot find addon '.'\nRequire stack: …");
    },
    "fs-native-extensions cannot be loaded: Cannot find addon '.'",
  ],
  [
    'it throws no error',
    () => {
      throw undefined;
    },
    'fs-native-extensions cannot be loaded: undefined',
  ],
  ['it is another version', () => ({ ...calls(), swap: undefined }), 'no swap'],
  ['it is empty', () => undefined, 'is another version: no tryLock, unlock, swap'],
])('C10 the addon, where %s: none, and the reason', (_case, load, why) => {
  const addon = loadNative(load);
  expect(addon).toEqual({ calls: null, missing: expect.stringContaining(why) });
});

test('C10 a lock belongs to one opening of the file, also within one process', async () => {
  const path = join(tempDir(), 'lock');
  writeFileSync(path, '');
  const [one, other, third] = [
    await opened(path, 'r+'),
    await opened(path, 'r+'),
    await open(path, 'r+'),
  ];
  expect(calls().tryLock(one.fd)).toBe(true);
  expect(calls().tryLock(other.fd)).toBe(false);
  await third.close();
  expect(calls().tryLock(other.fd)).toBe(false);
  calls().unlock(one.fd);
  expect(calls().tryLock(other.fd)).toBe(true);
  expect(calls().tryLock(one.fd)).toBe(false);
});

test('C16 two names change places, also below a directory that is held open', async () => {
  const directory = tempDir();
  writeFileSync(join(directory, 'a'), 'A');
  writeFileSync(join(directory, 'b'), 'B');
  const held = await opened(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  const below = process.platform === 'linux' ? `/proc/self/fd/${held.fd}` : directory;
  await calls().swap(join(below, 'a'), join(below, 'b'));
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('B');
  await expect(calls().swap(join(below, 'a'), join(below, 'none'))).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

test.each([
  ['a NUL', 'a\0b'],
  ['more bytes than it takes', `a${'/./'.repeat(1_400)}`],
])('a path with %s is not cut to the name of another file', async (_case, path) => {
  const directory = tempDir();
  writeFileSync(join(directory, 'a'), 'A');
  writeFileSync(join(directory, 'b'), 'B');
  await expect(async () =>
    calls().swap(`${directory}/${path}`, join(directory, 'b')),
  ).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('A');
});

test('C7 an ACL is read, set and taken away through a descriptor, and is set last', async () => {
  const path = join(tempDir(), 'file');
  writeFileSync(path, '', { mode: 0o640 });
  const { fd } = await opened(path, 'r');
  expect(await calls().listAttrs(fd)).toEqual([]);
  expect(await calls().getAttr(fd, ACL)).toBeNull();
  await calls().setAttr(fd, ACL, aclFor(1234));
  expect(await calls().listAttrs(fd)).toEqual([ACL]);
  expect(await calls().getAttr(fd, ACL)).toEqual(aclFor(1234));
  fchmodSync(fd, 0o640);
  expect(await calls().getAttr(fd, ACL)).not.toEqual(aclFor(1234));
  await calls().removeAttr(fd, ACL);
  expect(await calls().getAttr(fd, ACL)).toBeNull();
});

test('C7 rubbish at the end of the list of attributes is dropped', async () => {
  const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
  const fake = {
    ...calls(),
    listAttrs: async () => [
      'user.a',
      'security.b',
      'user.a',
      '',
      '\u0001x',
      'user.old',
      'x'.repeat(300),
    ],
    getAttr: (_fd: number, name: string) => {
      if (name === 'user.a') return Promise.resolve(Buffer.from('1'));
      if (name === 'security.b') return failing('EACCES');
      if (name === 'user.old') return Promise.resolve(null);
      return failing(name.length === 2 ? 'ENOTSUP' : 'ERANGE');
    },
  };
  const { calls: found } = loadNative(() => fake);
  expect(await found?.listAttrs(0)).toEqual(['user.a', 'security.b']);
});

test('C7 a new file takes an ACL over from its directory', async () => {
  const directory = join(tempDir(), 'shared');
  await mkdir(directory);
  const held = await opened(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  await calls().setAttr(held.fd, 'system.posix_acl_default', aclFor(1234));
  const { fd } = await opened(join(directory, 'file'), 'wx');
  expect(await calls().listAttrs(fd)).toEqual([ACL]);
});
