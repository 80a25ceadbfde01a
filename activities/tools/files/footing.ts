// What a root stands on, and so what the file tools promise there: derived from the machine, never
// declared. Tried are ext4 and tmpfs on Linux with the kernel's lock; only they get all of it.

import { resolve } from 'node:path';
import type { ContractInput } from '../../../core/contract.ts';
import { messageOf } from '../../failures.ts';
import { errnoOf, type Unwritten } from './errno.ts';
import type { Directory } from './place.ts';
import { refusal } from './refusals.ts';
import type { FileSystem } from './system.ts';

/** From the best ground to the worst. */
export const grounds = ['tried', 'untried', 'network'] as const;
export type GroundKind = (typeof grounds)[number];

export interface Ground {
  readonly kind: GroundKind;
  readonly name: string;
  /** Why no more is promised on it; empty where all of it is. */
  readonly why: string;
}

const tried = (name: string): Ground => ({ kind: 'tried', name, why: '' });
const untried = (name: string, why = 'it was not tried out on this file system'): Ground => ({
  kind: 'untried',
  name,
  why,
});
const network = (name: string, why = 'another host may change it, and caches what it saw') =>
  ({ kind: 'network', name, why }) satisfies Ground;

/**
 * By the number that statfs(2) says. Overlay: a draft is always a new file of the upper layer, so
 * it keeps its inode, and links, renames and locks are those of a local disk. But its device number
 * is another one after each mount, the layer goes when the container is removed, and one mounted
 * `volatile` syncs nothing: what a later question finds is no proof there. FAT has neither links
 * nor inode numbers that stay. FUSE is whatever its program makes of it.
 */
export const groundTable: ReadonlyMap<number, Ground> = new Map([
  [0xef53, tried('ext4')], // ext2 and ext3 have its number, and today its driver
  [0x01021994, tried('tmpfs')],
  [0x58465342, untried('xfs')],
  [0x9123683e, untried('btrfs')],
  [0xf2f52010, untried('f2fs')],
  [0x2fc12fc1, untried('zfs')],
  [0xca451a4e, untried('bcachefs')],
  [0x858458f6, untried('ramfs')],
  [0x794c7630, untried('overlayfs', 'its device number, or the layer, is another after a restart')],
  [0x4d44, network('fat', 'it has no links, and no inode numbers that stay')],
  [0x2011bab0, network('exfat', 'it has no links, and no inode numbers that stay')],
  [0x6969, network('nfs')],
  [0x517b, network('smb')],
  [0xff534d42, network('cifs')],
  [0xfe534d42, network('smb2')],
  [0x01021997, network('9p')],
  [0x00c36400, network('ceph')],
  [0x0bd00bd0, network('lustre')],
  [0x01161970, network('gfs2')],
  [0x7461636f, network('ocfs2')],
  [0x5346414f, network('afs')],
  [0x73757245, network('coda')],
  [0x786f4256, network('vboxsf')],
  [0x65735546, network('fuse', 'a program answers for it, which may ask another host')],
]);

/** macOS numbers its file systems anew at each start: nothing tells a disk from a network there. */
const macOs = untried('a disk of macOS', 'it was not tried out on macOS');

export interface FootingOptions {
  readonly root: string;
  /** Replaces also where nothing shuts out another writer between compare and replace. */
  readonly withoutLock?: true;
  /** Works also where another host may change the files; then nobody can be asked. */
  readonly network?: 'allow';
}

export interface Footing {
  readonly ground: Ground;
  /** Our writers shut each other out, and ACLs and attributes can be seen. */
  readonly locks: boolean;
  /** Whether the tool has `inquire`, and `fence`: a contract without is one of a tool without. */
  readonly inquires: boolean;
  readonly fences: boolean;
  readonly contract: ContractInput;
  /** For the tool's description: what it stands on, and why it promises no more. */
  readonly words: string;
}

export type FileToolKind = 'create' | 'replace';

/** Throws what to do where the tool may not start there. */
export function footingOf(
  files: FileSystem,
  tool: FileToolKind,
  { root, withoutLock, network: allowed }: FootingOptions,
  platform: string = process.platform,
): Footing {
  const ground = bornOn(files, root, groundOf(rootType(files, root), platform));
  if (ground.kind === 'network' && allowed !== 'allow')
    throw new Error(
      `root ${root} is on ${ground.name}: ${ground.why}. Name a root on a local disk, or set ` +
        "network: 'allow'; then nobody can be asked what became of a lost attempt",
    );
  const missing = files.addonMissing();
  if (missing !== null && tool === 'replace' && withoutLock !== true)
    throw new Error(
      `replace_file below ${root} has no lock: ${missing}. Install it, or set withoutLock: true; ` +
        'then a change by another between compare and replace is lost',
    );
  const standsOn = standing(ground, missing);
  return { ...standsOn, contract: { scope: scopeOf(root), ...standsOn.contract } };
}

/** Tells a question where to look; what was sent to one root is never asked of another. */
export function scopeOf(root: string): ContractInput['scope'] {
  const here = 'this host';
  return { receiver: `files below ${resolve(root)}`, account: here, workspace: here, region: here };
}

const asked = { inquiry: { consistency: 'strong', settleMs: 0 } } as const;

/** In order of precedence; the first that fits. */
function standing(ground: Ground, missing: string | null): Footing {
  const on = `on ${ground.name}`;
  const locks = missing === null;
  if (ground.kind === 'network')
    return {
      ...{ ground, locks, inquires: false, fences: false, contract: {} },
      words: `${on}: ${ground.why}, so a lost attempt is for a person`,
    };
  if (ground.kind === 'untried')
    return {
      ...{ ground, locks, inquires: true, fences: false, contract: asked },
      words: `${on}${locks ? '' : ' without a lock'}: ${ground.why}, so what it finds is no proof`,
    };
  // A draft that is withdrawn is not published, locked or not: that much can be closed.
  if (!locks)
    return {
      ...{ ground, locks, inquires: true, fences: false },
      contract: { ...asked, closing: 'by_token' },
      words: `${on} without a lock: ${missing}`,
    };
  return {
    ...{ ground, locks, inquires: true, fences: true },
    contract: { ...asked, closing: 'by_token', fencing: 'honoured' },
    words: `${on} under the kernel's lock`,
  };
}

export function groundOf(type: number, platform: string): Ground {
  if (platform === 'darwin') return macOs;
  if (platform !== 'linux') return network(`an unknown ground of ${platform}`, 'nothing is known');
  const unknown = `a file system of the number 0x${type.toString(16)}`;
  return groundTable.get(type) ?? network(unknown, 'nothing is known about it');
}

/** Small inodes of an old ext4, and tmpfs of an old kernel, have no time of birth. */
function bornOn(files: FileSystem, root: string, ground: Ground): Ground {
  if (ground.kind !== 'tried' || files.statusAtStart(root).birthtimeNs !== 0n) return ground;
  return untried(
    ground.name,
    'its files have no time of birth, so one that is like ours may be it',
  );
}

/** `/.`: a root that is a file is none. */
function rootType(files: FileSystem, root: string): number {
  try {
    return Number(files.fileSystemAtStart(`${root}/.`).type);
  } catch (error) {
    const known = { ENOENT: 'is not there', ENOTDIR: 'is no directory' }[errnoOf(error) ?? ''];
    throw new Error(
      `root ${root} ${known ?? `cannot be looked at: ${messageOf(error)}`}; ` +
        'make the directory, or name another root, before the worker starts',
    );
  }
}

/** Below a root something worse may be mounted: what the contract says is not true there. */
export async function worseGround(
  files: FileSystem,
  footing: Footing,
  { directory, path }: { directory: Directory; path: string },
): Promise<Unwritten | null> {
  const { type } = await files.fileSystemAt(directory.at('.'));
  const ground = groundOf(Number(type), process.platform);
  if (grounds.indexOf(ground.kind) <= grounds.indexOf(footing.ground.kind)) return null;
  return refusal(
    'other_ground',
    path,
    `is on ${ground.name}, mounted below a root on ${footing.ground.name}: ${ground.why}; ` +
      'give that mount a tool with a root of its own',
  );
}
