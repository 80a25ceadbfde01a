// The one step by which a draft becomes the file: from before it to after it a reader sees the old
// file whole or the new one whole. An error that the system gives for the step itself means that it
// was not taken; whatever goes wrong afterwards is thrown, for then the file may be there.
//
// INV-1 `null`, which is published, only once the directory is on the disk.
// INV-2 What an exchange displaced is removed only where it is what the attempt had read.

import type { Digest } from '../../../core/digest.ts';
import { type Draft, remove } from './draft.ts';
import { errnoOf, errnoTable, type Unwritten, unwrittenBy } from './errno.ts';
import type { Place } from './place.ts';
import { conflict, refusal, touched, withdrawn } from './refusals.ts';
import type { FileSystem } from './system.ts';
import { isAlike, lookAt, type Standing, type Target } from './target.ts';
import type { Publish } from './verdict.ts';

export interface Publication {
  readonly place: Place;
  readonly draft: Draft;
  readonly digest: Digest;
}

/** By a second name: it fails where there is a file, whoever made it and when. Null: published. */
export async function publishNew(
  files: FileSystem,
  publication: Publication,
): Promise<Unwritten | null> {
  const { place, draft } = publication;
  const from = place.directory.at(draft.name);
  try {
    await files.link(from, place.target);
  } catch (error) {
    if (noSuchCall.has(String(errnoOf(error)))) return noHardLinks(place.path);
    return notPublished(files, publication, error);
  }
  await files.syncDirectory(place.directory.handle);
  await remove(files, from);
  return null;
}

const noSuchCall: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
const noExchange: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function noHardLinks(path: string): Unwritten {
  const words = 'cannot be created whole: the file system has no hard links; nothing was written';
  return refusal('no_hard_links', path, words);
}

/** `how`: as it was recorded; where nothing is known of an exchange, a rename. Null: published. */
export async function publishOver(
  files: FileSystem,
  publication: Publication,
  { how, old }: { how: Publish; old: Standing },
): Promise<Unwritten | null> {
  const { place, draft } = publication;
  const from = place.directory.at(draft.name);
  let isSwapped = false;
  try {
    isSwapped = how === 'swap' && (await hasSwapped(files, from, place.target));
    if (!isSwapped) await files.rename(from, place.target);
  } catch (error) {
    const unwritten = await notPublished(files, publication, error);
    const isTargetGone = errnoOf(error) === 'ENOENT' && unwritten.code !== 'withdrawn';
    return isTargetGone ? conflict(place.path, old.digest, null) : unwritten;
  }
  if (isSwapped) {
    const displaced = await lookAt(files, { ...place, target: from });
    if (displaced.kind !== 'file' || !isAlike(displaced, old))
      return takeBack(files, publication, { displaced, expected: old.digest });
  }
  await files.syncDirectory(place.directory.handle);
  if (isSwapped) await remove(files, from);
  return null;
}

async function hasSwapped(files: FileSystem, one: string, other: string): Promise<boolean> {
  try {
    await files.swap(one, other);
    return true;
  } catch (error) {
    if (noExchange.has(String(errnoOf(error)))) return false;
    throw error;
  }
}

/** Only a listed error says that the step was not taken. */
async function notPublished(
  files: FileSystem,
  { place, draft }: Publication,
  error: unknown,
): Promise<Unwritten> {
  const code = errnoOf(error);
  if (code === null || !Object.hasOwn(errnoTable, code)) throw error;
  if (code === 'ENOENT' && !(await isOurs(files, place.directory.at(draft.name), draft)))
    return withdrawn(place.path);
  return unwrittenBy(error, place.path);
}

/**
 * Somebody who takes no lock changed the file between the last look and the exchange. It is put
 * back as long as ours stands in its place; else both stay where they are, and a person is told.
 */
async function takeBack(
  files: FileSystem,
  { place, draft, digest }: Publication,
  { displaced, expected }: { displaced: Target; expected: Digest },
): Promise<Unwritten> {
  const from = place.directory.at(draft.name);
  const kept = `another change of "${place.path}" was displaced and is kept as "${draft.name}"`;
  const now = await lookAt(files, place);
  const isStillOurs = now.kind === 'file' && now.digest === digest;
  if (!isStillOurs || !(await isOurs(files, place.target, draft))) throw new Error(kept);
  await files.swap(from, place.target);
  // Somebody may have replaced ours at that moment, or written into it.
  const back = await lookAt(files, { ...place, target: from });
  const isBack = back.kind === 'file' && back.digest === digest;
  if (!isBack || !(await isOurs(files, from, draft))) throw new Error(kept);
  await files.syncDirectory(place.directory.handle);
  if (displaced.kind !== 'file') return conflict(place.path, expected, null);
  if (displaced.digest === expected) return touched(place.path);
  return conflict(place.path, expected, displaced.digest);
}

async function isOurs(files: FileSystem, path: string, { status }: Draft): Promise<boolean> {
  try {
    const found = await files.statusAt(path);
    return found.dev === status.dev && found.ino === status.ino;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}
