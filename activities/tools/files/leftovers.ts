// What is done with the files of our own that an attempt left behind, once the writer is shut out.
// Space is all that a failure here costs, so none of them changes an answer, except where another's
// change is at stake.

import { type FileMarks, isOurs } from './marks.ts';
import { draftPrefix, parseDraftName, touchedName, withdrawnName } from './names.ts';
import type { Directory } from './place.ts';
import type { FileStatus, FileSystem, OpenFile } from './system.ts';
import { contentDigest, reading } from './traces.ts';

interface Unprepared {
  readonly receiverKey: string;
  readonly number: number;
  /** Whether we have the target's lock: then no writer is at work on it. */
  readonly locked: boolean;
}

/** A writer that is still at it could prepare, and be asked about: then its draft stays, empty. */
export async function clearUnprepared(
  files: FileSystem,
  directory: Directory,
  { receiverKey, number, locked }: Unprepared,
): Promise<void> {
  const prefix = draftPrefix(receiverKey);
  for (const name of await files.namesIn(directory.at('.'))) {
    const parsed = name.startsWith(prefix) ? parseDraftName(name) : null;
    if (parsed?.number !== number) continue;
    if (locked) await quietly(files.unlink(directory.at(name)));
    else await quietly(emptied(files, directory, name));
  }
}

async function emptied(files: FileSystem, directory: Directory, name: string): Promise<void> {
  const to = withdrawnName(name);
  if (to !== name) await files.rename(directory.at(name), directory.at(to));
  await truncated(files, directory.at(to), async () => true);
}

interface Left {
  readonly name: string;
  readonly marks: FileMarks;
}

/**
 * Keeps the file, for it is evidence, and gives its space back; never a file with two names, and
 * none that somebody has written into: that gets a name which nothing of ours cleans away.
 */
export async function emptyDraft(
  files: FileSystem,
  directory: Directory,
  left: Left,
): Promise<void> {
  const path = directory.at(left.name);
  await quietly(
    truncated(files, path, async (status, file) => {
      if (!isOurs(status, left.marks) || status.size === 0n) return false;
      if ((await contentDigest(files, file)) === left.marks.new) return true;
      // Of a link it would say something else: that a name had been added.
      if (left.marks.publish !== 'link')
        await files.rename(path, directory.at(touchedName(draftOf(left.marks))));
      return false;
    }),
  );
}

async function truncated(
  files: FileSystem,
  path: string,
  isMeant: (status: FileStatus, file: OpenFile) => Promise<boolean>,
): Promise<void> {
  const file = await files.openToWrite(path);
  try {
    const status = await files.status(file);
    if (status.nlink === 1n && (await isMeant(status, file))) await files.truncate(file, 0);
  } finally {
    await files.close(file);
  }
}

/** A second name of the target, or the old content, where the new one is published. */
export async function removeDraft(
  files: FileSystem,
  directory: Directory,
  { name }: Left,
): Promise<void> {
  await quietly(files.unlink(directory.at(name)));
}

/**
 * Puts back what ours displaced; only under the lock. False: somebody changed or replaced ours at
 * the same moment, and that stands again as it did.
 */
export async function putBack(
  files: FileSystem,
  directory: Directory,
  { name, target, marks }: Left & { readonly target: string },
): Promise<boolean> {
  if (files.addonMissing() !== null) return false;
  const [left, there] = [directory.at(name), directory.at(target)];
  await files.swap(left, there);
  if (await isUnchanged(files, left, marks)) {
    await files.syncDirectory(directory.handle);
    await files.rename(left, directory.at(withdrawnName(draftOf(marks))));
    return true;
  }
  await files.swap(left, there);
  return false;
}

function draftOf({ draft }: FileMarks): string {
  return draft.slice(draft.lastIndexOf('/') + 1);
}

async function isUnchanged(files: FileSystem, path: string, marks: FileMarks): Promise<boolean> {
  if (!(await files.statusAt(path)).isFile()) return false;
  return reading(files, path, async (file) => {
    if (!isOurs(await files.status(file), marks)) return false;
    return (await contentDigest(files, file)) === marks.new;
  });
}

async function quietly(clearing: Promise<void>): Promise<void> {
  await clearing.catch(() => undefined);
}
