// The file tools on disks that are really full, really read-only and really mounted below the root.
// Would catch a file cut short by a full disk, an error that is taken for an effect or goes to
// another path, and a root whose promise is not true of what is mounted in it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { replaceFileTool } from '../../activities/tools/files/replace-file.ts';
import { nodeFiles } from '../../activities/tools/files/system.ts';
import { contractSchema, levelOf } from '../../core/contract.ts';
import { digestOfBytes } from '../../core/digest.ts';
import { looseAttempt } from '../support/loose-attempt.ts';
import { tempDir } from '../support/temp-dir.ts';

const MIB = 1024 * 1024;
const OLD = 'the old content\n';
const digestOf = (text: string) => digestOfBytes(Buffer.from(text));

/** Not to be squeezed by whatever is below: each block is another. */
const TOO_LARGE = Array.from({ length: (3 * MIB) / 64 }, (_, index) =>
  createHash('sha256').update(String(index)).digest('hex'),
).join('');

beforeAll(() => {
  if (process.getuid?.() !== 0 || process.platform !== 'linux')
    throw new Error('test:crash mounts small file systems: run it as root on Linux');
});

/** `mount` with these arguments; what was mounted is taken away when the test ends. */
function mounted(point: string, ...args: readonly string[]): string {
  mkdirSync(point, { recursive: true });
  execFileSync('mount', [...args, point]);
  onTestFinished(() => void execFileSync('umount', [point]));
  return point;
}

const tmpfs = (point: string, size: string) =>
  mounted(point, '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs');

const create = (root: string, path: string, content: string) =>
  createFileTool({ root }).execute({ path, content }, looseAttempt());
const replace = (root: string, path: string, content: string) =>
  replaceFileTool({ root }).execute({ path, content, expect: digestOf(OLD) }, looseAttempt());

const withoutAddon = {
  withoutLock: true,
  files: { ...nodeFiles, addonMissing: () => 'none' },
} as const;

/** Without the locks, which stay. */
const drafts = (directory: string) =>
  readdirSync(directory).filter((name) => /\.(draft|withdrawn|touched|kept)$/.test(name));

test.each(['swap', 'rename'] as const)(
  'C2 C9 R-125 3 MB onto a disk of 2 MB by %s: the old bytes stay',
  async (how) => {
    const root = tmpfs(join(tempDir(), 'disk'), '2m');
    writeFileSync(join(root, 'file'), OLD);
    const tool = replaceFileTool({ root, ...(how === 'rename' ? withoutAddon : {}) });
    const input = { path: 'file', content: TOO_LARGE, expect: digestOf(OLD) };
    expect(await tool.execute(input, looseAttempt())).toMatchObject({
      kind: 'not_taken',
      code: 'ENOSPC',
      message: expect.stringContaining('the disk is full; what was there is untouched'),
    });
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe(OLD);
    expect(drafts(root)).toEqual([]);
    expect(await replace(root, 'file', 'it fits\n')).toMatchObject({ kind: 'executed' });
    expect(readFileSync(join(root, 'file'), 'utf8')).toBe('it fits\n');
  },
);

test('C2 C9 R-125 a new file of 3 MB onto a disk of 2 MB: none is there, it says so', async () => {
  const root = tmpfs(join(tempDir(), 'disk'), '2m');
  expect(await create(root, 'file', TOO_LARGE)).toMatchObject({
    kind: 'not_taken',
    code: 'ENOSPC',
  });
  expect(readdirSync(root).filter((name) => !name.endsWith('.lock'))).toEqual([]);
  expect(await create(root, 'file', 'it fits\n')).toMatchObject({ kind: 'executed' });
});

test('C2 C9 a disk without a single inode left: nothing is touched, and it says so', async () => {
  const point = join(tempDir(), 'disk');
  const root = mounted(point, '-t', 'tmpfs', '-o', 'size=2m,nr_inodes=4', 'tmpfs');
  writeFileSync(join(root, 'file'), OLD);
  writeFileSync(join(root, 'last'), '');
  writeFileSync(join(root, 'one more'), '');
  expect(await replace(root, 'file', 'new')).toMatchObject({ kind: 'not_taken', code: 'ENOSPC' });
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe(OLD);
});

test('C9 a file system that can only be read: refused as EROFS, by both tools', async () => {
  const root = tmpfs(join(tempDir(), 'disk'), '2m');
  writeFileSync(join(root, 'file'), OLD);
  execFileSync('mount', ['-o', 'remount,ro', root]);
  expect(await replace(root, 'file', 'new')).toMatchObject({ kind: 'refused', code: 'EROFS' });
  expect(await create(root, 'other', 'new')).toMatchObject({ kind: 'refused', code: 'EROFS' });
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe(OLD);
  expect(readdirSync(root)).toEqual(['file']);
});

test.each([
  ['another disk', (point: string) => tmpfs(point, '2m')],
  ['another directory of the same disk', (point: string) => mounted(point, '--bind', tempDir())],
])('C9 K-107 %s mounted below the root: the draft is beside the target', async (_case, mount) => {
  const root = tempDir();
  const below = mount(join(root, 'below'));
  writeFileSync(join(below, 'file'), OLD);
  expect(await replace(root, 'below/file', 'new')).toMatchObject({ kind: 'executed' });
  expect(readFileSync(join(below, 'file'), 'utf8')).toBe('new');
  expect(await create(root, 'below/other', 'new')).toMatchObject({ kind: 'executed' });
  expect(drafts(below)).toEqual([]);
  expect(readdirSync(root)).toEqual(['below']);
});

test('C9 a file that is a mount itself cannot be replaced, and is left as it is', async () => {
  const root = tempDir();
  const theirs = join(tempDir(), 'file');
  writeFileSync(theirs, OLD);
  writeFileSync(join(root, 'file'), '');
  execFileSync('mount', ['--bind', theirs, join(root, 'file')]);
  onTestFinished(() => void execFileSync('umount', [join(root, 'file')]));
  const settled = await replace(root, 'file', 'new');
  expect(settled).toMatchObject({ kind: expect.stringMatching(/^(refused|not_taken)$/) });
  expect(readFileSync(theirs, 'utf8')).toBe(OLD);
  expect(drafts(root)).toEqual([]);
});

test('C15 K-107 an overlay is a lower ground, and below a better root it is refused', async () => {
  const disk = tmpfs(join(tempDir(), 'disk'), '8m');
  for (const name of ['lower', 'upper', 'work']) mkdirSync(join(disk, name));
  writeFileSync(join(disk, 'lower/file'), OLD, { mode: 0o640 });
  const root = tempDir();
  const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(disk, name)}`);
  const below = mounted(join(root, 'layers'), '-t', 'overlay', '-o', options.join(','), 'overlay');
  const refused = await replace(root, 'layers/file', 'new');
  expect(refused).toMatchObject({ kind: 'refused', code: 'other_ground' });
  expect(readFileSync(join(below, 'file'), 'utf8')).toBe(OLD);
  const tool = replaceFileTool({ root: below });
  expect(levelOf(contractSchema.parse(tool.receiver))).toBe('L1');
  expect(tool.description).toContain('on overlayfs');
  expect(await replace(below, 'file', 'new')).toMatchObject({ kind: 'executed' });
  expect(readFileSync(join(below, 'file'), 'utf8')).toBe('new');
  expect(statSync(join(below, 'file')).mode & 0o777).toBe(0o640);
});

test('C15 a root on a file system that nobody knows is refused at the start', () => {
  const point = mounted(join(tempDir(), 'queues'), '-t', 'mqueue', 'mqueue');
  expect(() => createFileTool({ root: point })).toThrow("or set network: 'allow'");
});
