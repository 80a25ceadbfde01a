// What a root stands on decides what is promised there. Would catch a network share, or a machine
// without the lock, on which a closed door is claimed, and a root that is not there found out late.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type FileToolKind,
  type FootingOptions,
  footingOf,
  groundOf,
  groundTable,
  worseGround,
} from '../../../activities/tools/files/footing.ts';
import { openDirectory } from '../../../activities/tools/files/place.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { contractSchema, domainOf, levelOf } from '../../../core/contract.ts';
import { tempDir } from '../../support/temp-dir.ts';

const EXT4 = 0xef53;
const XFS = 0x58465342;
const OVERLAY = 0x794c7630;
const NFS = 0x6969;
const FUSE = 0x65735546;
const PROC = 0x9fa0;

interface Machine {
  readonly type: number;
  readonly addon?: 'missing';
  readonly platform?: string;
  /** Its inodes have no room for it. */
  readonly unborn?: true;
}

/** The system's answers, as they would be on that machine. */
function machine({ type, addon, unborn }: Machine): FileSystem {
  const answer = { ...nodeFiles.fileSystemAtStart('/'), type: BigInt(type) };
  return {
    ...nodeFiles,
    fileSystemAtStart: () => answer,
    statusAtStart: () =>
      Object.assign(nodeFiles.statusAtStart('/'), { birthtimeNs: unborn === true ? 0n : 1n }),
    fileSystemAt: async () => answer,
    addonMissing: () => (addon === undefined ? null : 'the addon cannot be loaded'),
  };
}

function footing(
  at: Machine,
  options: Partial<FootingOptions> = {},
  tool: FileToolKind = 'replace',
) {
  return footingOf(machine(at), tool, { root: '/work', ...options }, at.platform ?? 'linux');
}

const L3 = { closing: 'by_token', fencing: 'honoured', inquiry: expect.anything() };

test.each<[string, Machine, Partial<FootingOptions>, string, object, string]>([
  ['ext4', { type: EXT4 }, {}, 'L3', L3, "on ext4 under the kernel's lock"],
  ['tmpfs', { type: 0x01021994 }, {}, 'L3', L3, "on tmpfs under the kernel's lock"],
  [
    'ext4, no addon',
    { type: EXT4, addon: 'missing' },
    { withoutLock: true },
    'L1',
    { closing: 'by_token' },
    'on ext4 without a lock: the addon cannot be loaded',
  ],
  [
    'ext4 of small inodes',
    { type: EXT4, unborn: true },
    {},
    'L1',
    {},
    'on ext4: its files have no time of birth',
  ],
  ['xfs', { type: XFS }, {}, 'L1', {}, 'on xfs: it was not tried out on this file system'],
  ['overlay', { type: OVERLAY }, {}, 'L1', {}, 'on overlayfs: its device number, or the layer'],
  [
    'overlay, no addon',
    { type: OVERLAY, addon: 'missing' },
    { withoutLock: true },
    'L1',
    {},
    'on overlayfs without a lock: its device number',
  ],
  ['macOS', { type: 0x1a, platform: 'darwin' }, {}, 'L1', {}, 'on a disk of macOS: it was not'],
  ['NFS, allowed', { type: NFS }, { network: 'allow' }, 'L0', {}, 'on nfs: another host may'],
  ['FUSE, allowed', { type: FUSE }, { network: 'allow' }, 'L0', {}, 'on fuse: a program'],
  ['unknown, allowed', { type: 0x1234 }, { network: 'allow' }, 'L0', {}, 'of the number 0x1234'],
  [
    'another system, allowed',
    { type: EXT4, platform: 'win32' },
    { network: 'allow' },
    'L0',
    {},
    'an unknown ground of win32',
  ],
])(
  'C15 a root on %s has the level of it, and says why',
  (_name, at, options, level, parts, words) => {
    const found = footing(at, options);
    expect(levelOf(contractSchema.parse(found.contract))).toBe(level);
    const none = { closing: 'none', fencing: 'none' };
    expect(contractSchema.parse(found.contract)).toMatchObject({ ...none, ...parts });
    expect(found.words).toContain(words);
  },
);

test.each<[string, Machine]>([
  ['nfs', { type: NFS }],
  ['fuse', { type: FUSE }],
  ['a file system of the number 0x1234', { type: 0x1234 }],
  ['a file system of the number 0x9fa0', { type: PROC }],
  ['an unknown ground of win32', { type: EXT4, platform: 'win32' }],
])('C15 a root on %s is refused at the start', (name, at) => {
  for (const tool of ['create', 'replace'] as const)
    expect(() => footing(at, {}, tool)).toThrow(`root /work is on ${name}: `);
  expect(() => footing(at)).toThrow("or set network: 'allow'");
});

test('C10 without the addon a replacement wants a word of its own, a creation none', () => {
  const at = { type: EXT4, addon: 'missing' } as const;
  expect(() => footing(at)).toThrow(
    'replace_file below /work has no lock: the addon cannot be loaded. Install it, or set ' +
      'withoutLock: true; then a change by another between compare and replace is lost',
  );
  expect(footing(at, {}, 'create')).toMatchObject({ locks: false, fences: false, inquires: true });
});

test('R-035 the root is the receiver: what was sent below one is not asked of another', () => {
  const domains = ['/work', '/work/', '/other'].map((root) => {
    const { contract } = footing({ type: EXT4 }, { root });
    return domainOf(contractSchema.parse(contract));
  });
  expect(domains).toEqual([
    expect.stringMatching(/^files%20below%20%2Fwork\//),
    domains[0],
    expect.stringMatching(/^files%20below%20%2Fother\//),
  ]);
});

test('a contract has the parts that its tool can do', () => {
  for (const type of [...groundTable.keys(), 0x1234]) {
    for (const addon of [{}, { addon: 'missing' }] as const) {
      const found = footing({ type, ...addon }, { withoutLock: true, network: 'allow' });
      const { inquiry, fencing } = contractSchema.parse(found.contract);
      expect(found.inquires).toBe(inquiry !== 'none');
      expect(found.fences).toBe(fencing !== 'none');
    }
  }
});

test('C15 the table has local file systems, those of a network, and two that were tried', () => {
  const of = (kind: string) =>
    [...groundTable.values()].filter((each) => each.kind === kind).map(({ name }) => name);
  expect(of('tried')).toEqual(['ext4', 'tmpfs']);
  expect(of('network')).toEqual(
    expect.arrayContaining(['nfs', 'smb', 'cifs', 'smb2', '9p', 'ceph', 'fuse']),
  );
  expect(groundOf(OVERLAY, 'linux').kind).toBe('untried');
});

test.each([
  ['is not there', () => join(tempDir(), 'none'), 'is not there'],
  [
    'is a file',
    () => {
      const path = join(tempDir(), 'file');
      writeFileSync(path, '');
      return path;
    },
    'is no directory',
  ],
])('a root that %s is found out when the worker starts, with what to do', (_case, root, words) => {
  const path = root();
  expect(() => footingOf(nodeFiles, 'create', { root: path })).toThrow(
    `root ${path} ${words}; make the directory, or name another root, before the worker starts`,
  );
});

test('a root that cannot be looked at says what the system said', () => {
  const files: FileSystem = {
    ...nodeFiles,
    fileSystemAtStart: () => {
      throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    },
  };
  expect(() => footingOf(files, 'create', { root: '/work' })).toThrow(
    'root /work cannot be looked at: EACCES: permission denied',
  );
});

test('C15 a worse ground below the root is found where the file is', async () => {
  const root = tempDir();
  mkdirSync(join(root, 'share'));
  const directory = await openDirectory(nodeFiles, root, 'share');
  if (directory === 'outside') throw new Error('the directory is inside');
  const at = { directory, path: 'share/file' };
  const below = (type: number, above: number) =>
    worseGround(machine({ type }), footing({ type: above }), at);
  try {
    expect(await below(NFS, EXT4)).toEqual({
      kind: 'refused',
      code: 'other_ground',
      message: expect.stringContaining('"share/file" is on nfs, mounted below a root on ext4: '),
    });
    expect(await below(XFS, EXT4)).toMatchObject({ code: 'other_ground' });
    expect(await below(NFS, XFS)).toMatchObject({ code: 'other_ground' });
    expect(await below(0x01021994, EXT4)).toBeNull();
    expect(await below(EXT4, XFS)).toBeNull();
    const here = footingOf(nodeFiles, 'create', { root, network: 'allow' });
    expect(await worseGround(nodeFiles, here, at)).toBeNull();
  } finally {
    await nodeFiles.close(directory.handle);
  }
});
