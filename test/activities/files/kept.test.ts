// Would catch: a program that cannot be run any more, a secret that everybody can read, an owner or
// an ACL that is lost, after nothing but the content was to change.

import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { namesIn, replaced, says, textOf } from '../../support/file-writes.ts';
import { tempDir } from '../../support/temp-dir.ts';

const ask = { path: 'a', content: 'v8', was: 'v7' } as const;

function rootWith(mode = 0o644): { root: string; path: string } {
  const root = tempDir();
  const path = join(root, 'a');
  writeFileSync(path, 'v7');
  chmodSync(path, mode);
  return { root, path };
}

test.each([0o755, 0o600, 0o644, 0o2755, 0o4711, 0o1644, 0o200])(
  'C7 the mode %o is kept',
  async (mode) => {
    const { root, path } = rootWith(mode);
    expect(await replaced({ root, ...ask })).toMatchObject({ kind: 'executed' });
    expect((statSync(path).mode & 0o7777).toString(8)).toBe(mode.toString(8));
  },
);

test('C7 a mode that the system drops in silence is refused, and nothing is left', async () => {
  const { root, path } = rootWith(0o2755);
  const files: Partial<FileSystem> = {
    changeMode: (file, mode) => nodeFiles.changeMode(file, mode & 0o777),
  };
  const settled = await replaced({ root, ...ask, files });
  expect(settled).toMatchObject({ kind: 'refused', code: 'mode_not_kept' });
  expect(textOf(path)).toBe('v7');
  expect(namesIn(root)).toEqual(['a']);
});

/** Another one where this process may give files away. */
const foreign =
  process.getuid?.() === 0
    ? { uid: 12_345, gid: 23_456 }
    : { uid: Number(process.getuid?.()), gid: Number(process.getgid?.()) };

test('C7 owner and group are kept, and the set-group bit with them', async () => {
  const { root, path } = rootWith();
  chownSync(path, foreign.uid, foreign.gid);
  chmodSync(path, 0o2750);
  expect(await replaced({ root, ...ask })).toMatchObject({ kind: 'executed' });
  const { uid, gid, mode } = statSync(path);
  expect({ uid, gid, mode: mode & 0o7777 }).toEqual({ ...foreign, mode: 0o2750 });
});

/** A target that belongs to another user, whatever this process may do. */
function foreignTarget(over: Partial<FileSystem>): Partial<FileSystem> {
  const drafts = new Set<number>();
  return {
    createNew: async (path) => {
      const file = await nodeFiles.createNew(path);
      drafts.add(file.fd);
      return file;
    },
    status: async (file) => {
      const status = await nodeFiles.status(file);
      if (!drafts.has(file.fd) && status.isFile()) status.uid += 1n;
      return status;
    },
    ...over,
  };
}

test.each([
  ['is denied', says('EPERM')],
  ['does nothing', async () => undefined],
])('C7 an owner that cannot be kept, for the call %s: refused', async (_, changeOwner) => {
  const { root, path } = rootWith();
  // The lock file is ours all the same.
  const files = foreignTarget({ changeOwner, addonMissing: () => 'not installed' });
  const settled = await replaced({ root, ...ask, files, withoutLock: true });
  expect(settled).toMatchObject({ kind: 'refused', code: 'owner_not_kept' });
  expect(textOf(path)).toBe('v7');
  expect(namesIn(root)).toEqual(['a']);
});

const note = 'user.holdfast.test';
const acl = 'system.posix_acl_access';
/** user::rw- user:4711:r-- group::r-- mask::r-- other::r-- */
const aclOf = (user: number) => {
  const entry = (tag: number, may: number, id: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(may, 2);
    bytes.writeUInt32LE(id, 4);
    return bytes;
  };
  const version = Buffer.from([2, 0, 0, 0]);
  const nobody = 0xffff_ffff;
  const rows = [entry(1, 6, nobody), entry(2, 4, user), entry(4, 4, nobody)];
  return Buffer.concat([version, ...rows, entry(16, 4, nobody), entry(32, 4, nobody)]);
};

async function withAttribute(path: string, name: string, value: Uint8Array): Promise<void> {
  const file = await nodeFiles.openToWrite(path);
  await nodeFiles.setAttribute(file, name, value);
  await nodeFiles.close(file);
}

async function attributeAt(path: string, name: string): Promise<Uint8Array | null> {
  const file = await nodeFiles.openToRead(path);
  const value = await nodeFiles.attribute(file, name);
  await nodeFiles.close(file);
  return value;
}

test.each([
  ['an attribute of its user', note, Buffer.from('a note')],
  ['its ACL', acl, aclOf(4_711)],
])('C7 %s is kept', async (_, name, value) => {
  const { root, path } = rootWith();
  await withAttribute(path, name, value);
  const { mode } = statSync(path);
  expect(await replaced({ root, ...ask })).toMatchObject({ kind: 'executed' });
  expect(textOf(path)).toBe('v8');
  expect(Buffer.from((await attributeAt(path, name)) ?? [])).toEqual(value);
  expect(statSync(path).mode).toBe(mode);
});

test('C7 an ACL that the directory gives to new files is not given to this one', async () => {
  const { root, path } = rootWith();
  const directory = await nodeFiles.openDirectory(root);
  await nodeFiles.setAttribute(directory, 'system.posix_acl_default', aclOf(4_711));
  await nodeFiles.close(directory);
  expect(await replaced({ root, ...ask })).toMatchObject({ kind: 'executed' });
  expect(await attributeAt(path, acl)).toBeNull();
  expect(statSync(path).mode & 0o7777).toBe(0o644);
});

test.each([
  ['is denied', says('EPERM')],
  ['is not to be had there', says('ENOTSUP')],
  ['does nothing', async () => undefined],
])(
  'C7 an attribute that cannot be kept, for the call %s: refused by name',
  async (_, setAttribute) => {
    const { root, path } = rootWith();
    await withAttribute(path, note, Buffer.from('a note'));
    const settled = await replaced({ root, ...ask, files: { setAttribute } });
    expect(settled).toMatchObject({ kind: 'refused', code: 'attributes_not_kept' });
    expect(settled).toHaveProperty('message', expect.stringContaining(note));
    expect(textOf(path)).toBe('v7');
    expect(namesIn(root)).toEqual(['a']);
  },
);

test('C7 an ACL that changes the mode, when it is set, is refused', async () => {
  const { root, path } = rootWith(0o2755);
  await withAttribute(path, note, Buffer.from('a note'));
  const setAttribute: FileSystem['setAttribute'] = async (file, name, value) => {
    await nodeFiles.setAttribute(file, name, value);
    await nodeFiles.changeMode(file, 0o755);
  };
  const settled = await replaced({ root, ...ask, files: { setAttribute } });
  expect(settled).toMatchObject({ kind: 'refused', code: 'mode_not_kept' });
});

test('C7 a signature of the old content is not put on the new one: refused', async () => {
  const { root } = rootWith();
  const seal = 'security.ima';
  const set: string[] = [];
  const files = foreignTarget({
    status: (file) => nodeFiles.status(file),
    attributesOf: async (file) =>
      (await nodeFiles.status(file)).size === 2n && set.length === 0 ? [seal] : [],
    attribute: async () => Buffer.from('signed'),
    setAttribute: async (_file, name) => {
      set.push(name);
    },
  });
  const settled = await replaced({ root, ...ask, content: 'longer', files });
  expect(settled).toMatchObject({ kind: 'refused', code: 'attributes_not_kept' });
  expect(set).toEqual([]);
});

test('a file system that has no attributes keeps none', async () => {
  const { root, path } = rootWith();
  const files = { attributesOf: says('ENOTSUP') };
  expect(await replaced({ root, ...ask, files })).toMatchObject({ kind: 'executed' });
  expect(textOf(path)).toBe('v8');
});
