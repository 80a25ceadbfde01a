// Takes the name of a draft away: from then on its writer, frozen or not, publishes nothing, for
// every publication goes by that name. What was withdrawn stays as evidence, under a name that says
// what was seen, so that whoever asks again is told the same.
//
// INV-1 Once it resolves, nothing is at the draft's name, and nothing ever will be.
// INV-2 No evidence is overwritten.
// INV-3 What is not ours, e.g. what an exchange displaced, gets a name that nothing of ours cleans
//       away, before anybody is told of it.

import { errnoOf } from './errno.ts';
import { type FileMarks, isOurs, isTouched } from './marks.ts';
import { keptName, touchedName, withdrawnName } from './names.ts';
import type { Directory } from './place.ts';
import type { FileStatus, FileSystem } from './system.ts';

export interface Withdrawn {
  /** Where it is now. */
  readonly name: string;
  readonly status: FileStatus;
  readonly ours: boolean;
  /** A name was added to it before, or something else was changed on it. */
  readonly touched: boolean;
  /**
   * Ours where only another's change is kept: an inquirer is putting that back, or died over it.
   */
  readonly midway: boolean;
}

/** Somebody else withdraws it, too; each time one of us wins. */
const racesMax = 5;

/** Null: neither the draft nor what was withdrawn before is there. */
export async function withdraw(
  files: FileSystem,
  directory: Directory,
  draft: string,
  marks: FileMarks,
): Promise<Withdrawn | null> {
  const evidence = [touchedName(draft), withdrawnName(draft), keptName(draft)];
  for (let races = 0; races < racesMax; races++) {
    const before = await firstOf(files, directory, evidence);
    const status = await statusOrNull(files, directory.at(draft));
    if (status !== null && before !== null)
      throw new Error(`"${draft}" and "${before.name}" are both there; remove the one not ours`);
    if (status !== null) {
      await renamed(files, directory, draft, nameFor(status, marks, draft));
      continue;
    }
    // Renamed by another between the two looks: it is among the evidence now.
    const found = before ?? (await firstOf(files, directory, evidence));
    if (found === null) return null;
    if (isOurs(found.status, marks) || found.name === keptName(draft))
      return seen(found, marks, draft);
    await keepForeign(files, directory, found.name, keptName(draft));
  }
  throw new Error(`"${draft}" comes and goes; nothing is known about it yet`);
}

async function keepForeign(
  files: FileSystem,
  directory: Directory,
  from: string,
  kept: string,
): Promise<void> {
  if ((await statusOrNull(files, directory.at(kept))) !== null)
    throw new Error(`"${from}" and "${kept}" are both there; remove the one not ours`);
  await renamed(files, directory, from, kept);
}

/** A link adds a name to the draft and leaves it; its withdrawal would hide that it was touched. */
function nameFor(status: FileStatus, marks: FileMarks, draft: string): string {
  const isMarked = marks.publish === 'link' && isOurs(status, marks) && isTouched(status, marks);
  return isMarked ? touchedName(draft) : withdrawnName(draft);
}

async function renamed(
  files: FileSystem,
  directory: Directory,
  from: string,
  to: string,
): Promise<void> {
  try {
    await files.rename(directory.at(from), directory.at(to));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

interface Found {
  readonly name: string;
  readonly status: FileStatus;
}

function seen({ name, status }: Found, marks: FileMarks, draft: string): Withdrawn {
  const touched = name === touchedName(draft) || status.nlink > 1n;
  const ours = isOurs(status, marks);
  return { name, status, ours, touched, midway: ours && name === keptName(draft) };
}

async function firstOf(
  files: FileSystem,
  directory: Directory,
  names: readonly string[],
): Promise<Found | null> {
  for (const name of names) {
    const status = await statusOrNull(files, directory.at(name));
    if (status !== null) return { name, status };
  }
  return null;
}

export async function statusOrNull(files: FileSystem, path: string): Promise<FileStatus | null> {
  try {
    return await files.statusAt(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
