// Where a path below a root leads: the directory, opened once and looked at where it really is, and
// the name in it. On Linux every later call goes through the open directory, so that one swapped
// for a link afterwards changes nothing. Elsewhere, and without /proc, calls go by the path that
// was checked, and whoever swaps a directory in between is not noticed.

import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { errnoOf, type Unwritten, unwrittenBy } from './errno.ts';
import { isOwnName } from './names.ts';
import { isInside, outside, reserved, type Wanted, wantedOf } from './path.ts';
import { refusal } from './refusals.ts';
import type { FileSystem, OpenFile } from './system.ts';

/** `follow`: to the real file, as long as that is inside the root. */
export type SymlinkPolicy = 'follow' | 'refuse';

/** A directory inside the root. Whoever opens it closes it. */
export interface Directory {
  readonly handle: OpenFile;
  /** Where the root really is. */
  readonly root: string;
  /** Where it really is, and the same from the root on ('' is the root), with `/`. */
  readonly real: string;
  readonly way: string;
  /** What a call takes for a name in it. */
  at(name: string): string;
}

export interface Place {
  readonly kind: 'place';
  readonly directory: Directory;
  /** Of the real file, where links were followed. */
  readonly name: string;
  /** From the root on, with `/`. */
  readonly path: string;
  /** What calls on the target take. */
  readonly target: string;
}

export interface PlaceAsk {
  readonly root: string;
  readonly path: string;
  readonly symlinks: SymlinkPolicy;
}

/** As many as Linux follows. */
const linksMax = 40;

/** Opens the place, hands it over and closes it. Throws only what `body` throws. */
export async function atPlace<R>(
  files: FileSystem,
  { root, path, symlinks }: PlaceAsk,
  body: (place: Place) => Promise<R>,
): Promise<R | Unwritten> {
  const wanted = wantedOf(path);
  if (wanted.kind !== 'wanted') return wanted;
  const place = await openPlace(files, { root, path, symlinks }, wanted).catch((error: unknown) =>
    unwrittenBy(error, path),
  );
  if (place.kind !== 'place') return place;
  try {
    return await body(place);
  } finally {
    await files.close(place.directory.handle);
  }
}

/** The directory at a way from the root on. Throws what the system says; then none is open. */
export async function openDirectory(
  files: FileSystem,
  root: string,
  way: string,
): Promise<Directory | 'outside'> {
  const realRoot = await files.realPath(root);
  return openInside(files, realRoot, `${realRoot}/${way}`);
}

/** `path` as the kernel resolves it: a `..` behind a link is not where its text says. */
async function openInside(
  files: FileSystem,
  root: string,
  path: string,
): Promise<Directory | 'outside'> {
  const handle = await files.openDirectory(path);
  try {
    const through = `/proc/self/fd/${handle.fd}`;
    const opened = process.platform === 'linux' ? await linkOrNull(files, through) : null;
    const real = opened ?? (await files.realPath(path));
    if (isMangled(real)) throw notUtf8();
    const found = relative(root, real);
    if (isInside(found)) {
      const base = opened === null ? real : through;
      const at = (name: string) => `${base}/${name}`;
      return { handle, root, real, way: found.split(sep).join('/'), at };
    }
  } catch (error) {
    await files.close(handle);
    throw error;
  }
  await files.close(handle);
  return 'outside';
}

/** Follows the last part, link by link: what it leads to in the end is no link, or not there. */
async function openPlace(
  files: FileSystem,
  { root, path, symlinks }: PlaceAsk,
  wanted: Wanted,
): Promise<Place | Unwritten> {
  const realRoot = await files.realPath(root);
  let way = `${realRoot}/${wanted.way}`;
  let { name } = wanted;
  for (let links = 0; links <= linksMax; links++) {
    const directory = await openInside(files, realRoot, way);
    if (directory === 'outside') return outside(path);
    const stands = await standsAt(files, directory, name);
    const { kind } = stands;
    if (kind === 'file' || (kind === 'absent' && links === 0)) return placeIn(directory, name);
    await files.close(directory.handle);
    if (kind === 'absent')
      return refusal('symlink_dangling', path, 'is a link to nothing; name a file');
    if (symlinks === 'refuse')
      return refusal('symlink', path, 'is a link, and links are not followed here; name the file');
    way = isAbsolute(stands.to) ? dirname(stands.to) : `${directory.real}/${dirname(stands.to)}`;
    name = basename(stands.to);
    if (name === '.' || name === '..')
      return refusal('directory', path, 'is a link to a directory');
    if (isOwnName(name)) return reserved(path);
  }
  return unwrittenBy(Object.assign(new Error('too many links'), { code: 'ELOOP' }), path);
}

/** Node reads bytes that are no UTF-8 as U+FFFD: by that text another file may be meant. */
function isMangled(path: string): boolean {
  return path.includes('\ufffd');
}

function notUtf8(): Error {
  return Object.assign(new Error('a name that is no UTF-8'), { code: 'EILSEQ' });
}

type Stands = { kind: 'absent' } | { kind: 'file' } | { kind: 'link'; to: string };

async function standsAt(files: FileSystem, directory: Directory, name: string): Promise<Stands> {
  try {
    if (!(await files.statusAt(directory.at(name))).isSymbolicLink()) return { kind: 'file' };
    const to = await files.readLink(directory.at(name));
    if (isMangled(to)) throw notUtf8();
    return { kind: 'link', to };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { kind: 'absent' };
    await files.close(directory.handle);
    throw error;
  }
}

function placeIn(directory: Directory, name: string): Place {
  const path = directory.way === '' ? name : `${directory.way}/${name}`;
  return { kind: 'place', directory, name, path, target: directory.at(name) };
}

async function linkOrNull(files: FileSystem, path: string): Promise<string | null> {
  try {
    return await files.readLink(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
