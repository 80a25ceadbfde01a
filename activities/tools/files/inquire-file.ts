// Asks the disk what became of the attempts of an action: each draft is withdrawn first, then it is
// looked at. Any crash on the way leaves traces that give the same answer to whoever asks next.
//
// INV-1 The target is never written, except that another's change which ours displaced is put back.
// INV-2 What a later answer could need stays until the action is final: of a withdrawn draft only
//       the content goes. What was never prepared needs no evidence, the ledger has it.
// INV-3 The lock is tried, never waited for: a frozen writer has it, and its draft is shut out all
//       the same.

import { basename, dirname } from 'node:path/posix';
import * as z from 'zod';
import { messageOf } from '../../failures.ts';
import type { FenceAsk, Inquiry, InquiryAnswer } from '../../tool.ts';
import { errnoOf } from './errno.ts';
import { clearUnprepared, emptyDraft, putBack, removeDraft } from './leftovers.ts';
import { withLock } from './lock.ts';
import { type FileMarks, fileMarksOf } from './marks.ts';
import { withdrawnName } from './names.ts';
import { atPlace, type Directory, openDirectory, type Place, type SymlinkPolicy } from './place.ts';
import type { FileSystem } from './system.ts';
import { lookAtDraft, lookAtTarget } from './traces.ts';
import { answerOf, answerOfPutBack, type FileVerdict, verdictOf } from './verdict.ts';
import { statusOrNull, type Withdrawn, withdraw } from './withdrawal.ts';

export interface FilesBelow {
  readonly files: FileSystem;
  readonly root: string;
  readonly symlinks: SymlinkPolicy;
}
export type FileAnswer = InquiryAnswer<never>;

const inputSchema = z.object({ path: z.string() });

/** The answers of several attempts make one: the first kind that any of them gave. */
const weightiest = ['executed', 'conflict', 'unavailable', 'not_executed'] as const;

/** Never has a result: a file with the right content is no receipt. */
export async function inquireFile(
  below: FilesBelow,
  { input, receiverKey, open }: Inquiry,
): Promise<FileAnswer> {
  const { path } = inputSchema.parse(input);
  try {
    await below.files.realPath(below.root);
    const answers: FileAnswer[] = [];
    for (const { number, prepared } of open) {
      if (prepared === null)
        answers.push(await askUnprepared(below, path, { receiverKey, number }));
      else answers.push(await askPrepared(below, fileMarksOf(prepared)));
    }
    for (const kind of weightiest) {
      const found = answers.find(({ verdict }) => verdict === kind);
      if (found !== undefined) return found;
    }
    return unavailable(below, path, 'no attempt was named');
  } catch (error) {
    return unavailable(below, path, messageOf(error));
  }
}

/** Without marks an attempt cannot publish, by the ledger. Throws where a draft stays. */
export async function fenceFiles(below: FilesBelow, { open }: FenceAsk): Promise<void> {
  await below.files.realPath(below.root);
  for (const { prepared } of open) {
    if (prepared === null) continue;
    const marks = fileMarksOf(prepared);
    await inDirectoryOf(below, marks, async (directory) => {
      await withdraw(below.files, directory, basename(marks.draft), marks);
    });
  }
}

async function askUnprepared(
  below: FilesBelow,
  path: string,
  attempt: { readonly receiverKey: string; readonly number: number },
): Promise<FileAnswer> {
  const { files } = below;
  // Where there is no such place (any more) there is no draft either.
  await atPlace(files, { ...below, path }, (place) =>
    tryingLock(files, place, (locked) =>
      clearUnprepared(files, place.directory, { ...attempt, locked }),
    ),
  );
  const [target, draft] = [{ kind: 'absent' }, { kind: 'gone' }] as const;
  return answerOf('not_prepared', { path, prepared: null, target, draft });
}

async function askPrepared(below: FilesBelow, marks: FileMarks): Promise<FileAnswer> {
  const name = basename(marks.target);
  const answer = await inDirectoryOf(below, marks, (directory) =>
    tryingLock(below.files, { directory, name, path: marks.target }, (locked) =>
      lookedAt(below.files, directory, { marks, name, locked }),
    ),
  );
  if (answer !== null) return answer;
  const [target, draft] = [{ kind: 'absent' }, { kind: 'gone' }] as const;
  const nothing = { path: marks.target, prepared: marks, target, draft };
  return answerOf(verdictOf(nothing), nothing);
}

interface Looking {
  readonly marks: FileMarks;
  readonly name: string;
  readonly locked: boolean;
}

/** INV-2 is kept row by row. */
async function lookedAt(
  files: FileSystem,
  directory: Directory,
  { marks, name, locked }: Looking,
): Promise<FileAnswer> {
  const withdrawn = await withdraw(files, directory, basename(marks.draft), marks);
  const target = await lookAtTarget(files, directory, name, marks);
  const draft = await lookAtDraft(files, directory, withdrawn);
  const at = { path: marks.target, prepared: marks, target, draft };
  const verdict = verdictOf(at);
  if (withdrawn === null) return answerOf(verdict, at);
  if (!locked && (await mayBePutBack(files, directory, { verdict, withdrawn })))
    return unavailableWhile(marks, withdrawn.name);
  const left = { name: await endOfPuttingBack(files, directory, { withdrawn, marks }), marks };
  if (verdict === 'withdrawn') await emptyDraft(files, directory, left);
  const displacesNothing = draft.kind !== 'file' || marks.publish === 'swap';
  if ((verdict === 'published' || verdict === 'published_then_changed') && displacesNothing)
    await removeDraft(files, directory, left);
  if (
    verdict === 'displaced_another' &&
    (await putBack(files, directory, { ...left, target: name }))
  )
    return answerOfPutBack(at);
  return answerOf(verdict, at);
}

interface Midway {
  readonly withdrawn: Withdrawn;
}

/** Who asks without the lock may meet one that has it, and is putting a change back. */
async function mayBePutBack(
  files: FileSystem,
  directory: Directory,
  { verdict, withdrawn }: Midway & { readonly verdict: FileVerdict },
): Promise<boolean> {
  if (withdrawn.midway || verdict === 'displaced_another') return true;
  if (verdict !== 'displaced_another_for_good') return false;
  const now = await statusOrNull(files, directory.at(withdrawn.name));
  return now?.ino !== withdrawn.status.ino;
}

/** Of an inquirer that died over it. Returns the name under which the evidence is then. */
async function endOfPuttingBack(
  files: FileSystem,
  directory: Directory,
  { withdrawn, marks }: Midway & { readonly marks: FileMarks },
): Promise<string> {
  if (!withdrawn.midway) return withdrawn.name;
  const name = withdrawnName(basename(marks.draft));
  await files.rename(directory.at(withdrawn.name), directory.at(name));
  return name;
}

function unavailableWhile({ target }: FileMarks, kept: string): FileAnswer {
  const why = `another change is kept as "${kept}"; it is put back once the lock is free`;
  return { verdict: 'unavailable', detail: `"${target}": ${why}` };
}

async function inDirectoryOf<R>(
  { files, root }: FilesBelow,
  { target }: FileMarks,
  body: (directory: Directory) => Promise<R>,
): Promise<R | null> {
  const way = dirname(target);
  const directory = await openDirectory(files, root, way).catch(nullIfGone);
  if (directory === null) return null;
  if (directory === 'outside') throw new Error(`"${way}" leads out of the root now`);
  try {
    return await body(directory);
  } finally {
    await files.close(directory.handle);
  }
}

async function tryingLock<R>(
  files: FileSystem,
  place: Pick<Place, 'directory' | 'name' | 'path'>,
  body: (locked: boolean) => Promise<R>,
): Promise<R> {
  const ask = { waitMs: 0, signal: new AbortController().signal };
  const got = await withLock(files, place, ask, async () => ({ done: await body(true) }));
  return 'done' in got ? got.done : body(false);
}

function nullIfGone(error: unknown): null {
  if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return null;
  throw error;
}

function unavailable({ root }: FilesBelow, path: string, why: string): FileAnswer {
  return { verdict: 'unavailable', detail: `"${path}" below ${root} cannot be looked at: ${why}` };
}
