// What stands at the name of a target: nothing, a regular file with its digest and what has to be
// kept of it, or something that is never replaced. Looked at before it is opened: to open a device
// can do something, to open a pipe can wait.

import type { Digest } from '../../../core/digest.ts';
import { errnoOf, type Unwritten } from './errno.ts';
import type { Place } from './place.ts';
import { refusal } from './refusals.ts';
import type { FileStatus, FileSystem, OpenFile } from './system.ts';
import { contentDigest, reading } from './traces.ts';

/** A regular file. Attributes: ACL and others by name; null where nothing can tell them. */
export interface Standing {
  readonly kind: 'file';
  readonly digest: Digest;
  readonly status: FileStatus;
  readonly attributes: ReadonlyMap<string, Uint8Array> | null;
}

export type Target = { readonly kind: 'absent' } | Standing | Unwritten;

interface Refusal {
  readonly code: string;
  readonly words: string;
  readonly when: (status: FileStatus) => boolean;
}

/** Of both tables the first match wins. */
const irregular: readonly Refusal[] = [
  { code: 'symlink', words: 'has become a link; try again', when: (s) => s.isSymbolicLink() },
  { code: 'directory', words: 'is a directory; name a file', when: (s) => s.isDirectory() },
  {
    code: 'device',
    words: 'is a device, no regular file; name another',
    when: (s) => s.isCharacterDevice() || s.isBlockDevice(),
  },
  { code: 'fifo', words: 'is a pipe, no regular file; name another', when: (s) => s.isFIFO() },
  {
    code: 'socket',
    words: 'is a socket, no regular file; name another',
    when: (s) => s.isSocket(),
  },
  { code: 'irregular', words: 'is no regular file; name another', when: (s) => !s.isFile() },
];
const neverReplaced: readonly Refusal[] = [
  ...irregular,
  {
    code: 'hard_links',
    words: 'has other names (hard links), which would keep the old content; it was left as it is',
    when: (s) => s.nlink > 1n,
  },
  {
    code: 'read_only',
    words: 'is read-only; its owner has to make it writable first',
    when: (s) => (s.mode & 0o200n) === 0n,
  },
];

/** Throws what the system says, except that nothing is there. */
export async function lookAt(files: FileSystem, place: Place): Promise<Target> {
  const { target, path } = place;
  try {
    const refused = refusalBy(neverReplaced, await files.statusAt(target), path);
    if (refused !== null) return refused;
    return await reading(files, target, async (file) => {
      const status = await files.status(file);
      return (
        refusalBy(neverReplaced, status, path) ?? {
          kind: 'file',
          digest: await contentDigest(files, file),
          status,
          attributes: await attributesOf(files, file),
        }
      );
    });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { kind: 'absent' };
    throw error;
  }
}

/** Null: it is a regular file. */
export function irregularity(status: FileStatus, path: string): Unwritten | null {
  return refusalBy(irregular, status, path);
}

function refusalBy(table: readonly Refusal[], status: FileStatus, path: string): Unwritten | null {
  const row = table.find(({ when }) => when(status));
  return row === undefined ? null : refusal(row.code, path, row.words);
}

/** Of a file system that has none: an empty map. */
export async function attributesOf(
  files: FileSystem,
  file: OpenFile,
): Promise<Map<string, Uint8Array> | null> {
  if (files.addonMissing() !== null) return null;
  const found = new Map<string, Uint8Array>();
  try {
    for (const name of await files.attributesOf(file)) {
      const value = await files.attribute(file, name);
      if (value !== null) found.set(name, value);
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOTSUP') throw error;
  }
  return found;
}

/**
 * Another name in the directory that reads the same, composed otherwise (NFC, NFD): two files that
 * nobody could tell apart. Null: none.
 */
export async function twinOf(files: FileSystem, place: Place): Promise<string | null> {
  const { name, directory } = place;
  const names = await files.namesIn(directory.at('.'));
  const plain = name.normalize('NFC');
  return names.find((other) => other !== name && other.normalize('NFC') === plain) ?? null;
}

/** The very file, and nothing was done to it. */
export function isUntouched(one: Standing, other: Standing): boolean {
  const { status: a } = one;
  const { status: b } = other;
  return a.dev === b.dev && a.ino === b.ino && a.ctimeNs === b.ctimeNs;
}

/** The content, owner, permissions and ACL: what would be lost with it. */
export function isAlike(one: Standing, other: Standing): boolean {
  const { status: a } = one;
  const { status: b } = other;
  const isSame = a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
  return isSame && one.digest === other.digest && areAlike(one.attributes, other.attributes);
}

function areAlike(one: Standing['attributes'], other: Standing['attributes']): boolean {
  if (one === null || other === null) return one === other;
  return differing(one, other) === null;
}

/** The first name that is not the same in both. */
export function differing(
  one: ReadonlyMap<string, Uint8Array>,
  other: ReadonlyMap<string, Uint8Array>,
): string | null {
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const [a, b] = [one.get(name), other.get(name)];
    if (a === undefined || b === undefined || Buffer.compare(a, b) !== 0) return name;
  }
  return null;
}
