// What is at the paths of the files that a run wrote, on the machine of whoever asks. It only
// reads: nothing is repaired, and no result is made of a file that looks right.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Digest } from '../core/digest.ts';
import type { RunState } from '../core/run-state.ts';
import {
  type DraftEnd,
  draftEnds,
  type FileFinding,
  type Found,
  fileFindings,
  preparedDrafts,
  writtenFiles,
} from '../core/written-files.ts';
import { ClientError, errorText } from './errors.ts';

/** Throws ClientError `bad_input` where the root is not there: a disk may not be mounted. */
export async function filesOf(run: RunState, root: string): Promise<FileFinding[]> {
  const realRoot = await rootOf(root);
  const written = writtenFiles(run);
  const paths = [...new Set(written.map(({ path }) => path))];
  const found = new Map<string, Found>();
  for (const path of paths) found.set(path, await foundAt(realRoot, path));
  return fileFindings(written, (path) => found.get(path) ?? 'unreadable');
}

export interface LeftDraft {
  readonly actionId: string;
  /** From the root on. */
  readonly path: string;
  readonly end: DraftEnd;
  readonly over: boolean;
}

/** Files of our own that its attempts left beside their targets. */
export async function leftDrafts(run: RunState, root: string): Promise<LeftDraft[]> {
  const realRoot = await rootOf(root);
  const left: LeftDraft[] = [];
  for (const { actionId, stem, over } of preparedDrafts(run))
    for (const end of draftEnds) {
      const path = `${stem}.${end}`;
      if (await isThere(join(realRoot, path))) left.push({ actionId, path, end, over });
    }
  return left;
}

async function rootOf(root: string): Promise<string> {
  return realpath(root).catch((error: unknown) => {
    throw new ClientError('bad_input', `--root ${root}: ${errorText(error)}`);
  });
}

/** What cannot be looked at is not said to be there. */
function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** The path is that of the real file: a link in its place is another thing. */
async function foundAt(root: string, path: string): Promise<Found> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
  try {
    const directory = await realpath(join(root, dirname(path)));
    if (relative(root, directory).split('/')[0] === '..') return 'unreadable';
    const itself = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
    const file = await open(join(directory, basename(path)), itself);
    try {
      if (!(await file.stat()).isFile()) return 'no_file';
      const hash = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk);
      return `sha256:${hash.digest('hex')}` satisfies Digest;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    return code === 'ELOOP' ? 'no_file' : 'unreadable';
  }
}

export function fileLines(findings: readonly FileFinding[]): string[] {
  if (findings.length === 0) return ['no file of this run is on record'];
  const elsewhere = 'nothing of it is there: is this the root, and is its disk mounted?';
  return [
    ...findings.flatMap(({ actionId, tool, path, wrote, result, ...now }) => [
      `  ${actionId}  ${tool}  ${path}  ${wordsFor(now)}`,
      `    wrote ${wrote}${result === 'missing' ? ', result missing' : ''}; now: ${now.found}`,
    ]),
    ...(findings.every(({ found }) => found === 'absent') ? [elsewhere] : []),
  ];
}

function wordsFor({ state, found, by }: Pick<FileFinding, 'state' | 'found' | 'by'>): string {
  if (state === 'gone_back' && found === 'absent') return 'GONE BACK: nothing is there, as before';
  return `${words[state]}${by === null ? '' : ` by ${by}`}`;
}

/** What of them may go is said, and nothing is removed. */
export function leftLines(left: readonly LeftDraft[]): string[] {
  return left.map(({ actionId, path, end, over }) => {
    const kept = 'another change that was displaced: look at it before anything else';
    const ended = over ? 'its action has ended, it may be removed' : 'its action is open, leave it';
    return `  left by ${actionId}: ${path} (${end === 'kept' ? kept : ended})`;
  });
}

const words: Record<FileFinding['state'], string> = {
  as_written: 'as it was written',
  overwritten: 'overwritten',
  gone_back: 'GONE BACK to what was there before',
  missing: 'MISSING',
  changed: 'changed since, not by this run',
  unreadable: 'cannot be read here',
};
