// What a run's file actions wrote, by the ledger, and what it means that something else is on the
// disk now. Pure; whoever looks at the disk only reads. A file that is as it was written is no
// receipt: nothing here makes a result, repairs a file or writes a fact.

import * as z from 'zod';
import { type Digest, digestSchema } from './digest.ts';
import { hasEffectBy } from './finality.ts';
import type { ActionState, AttemptState, RunState } from './run-state.ts';

/** Of an attempt's marks, what tells a file tool's. */
const marksSchema = z.object({
  target: z.string().min(1),
  old: z.union([digestSchema, z.literal('absent')]),
  new: digestSchema,
  draft: z.string().min(1),
});

export interface WrittenFile {
  readonly actionId: string;
  readonly tool: string;
  /** From the tool's root on. */
  readonly path: string;
  readonly wrote: Digest;
  readonly replaced: Digest | 'absent';
  /** Whether the tool's own result is there, or only the effect is known. */
  readonly result: 'recorded' | 'missing';
  /** Of its facts, the one from which the file was next to change: under a lock, an order. */
  readonly seq: number;
}

/** What is at a path now. */
export type Found = Digest | 'absent' | 'no_file' | 'unreadable';

const fileStates = [
  'as_written',
  /** A later action of this run replaced it; that one is what the disk is compared with. */
  'overwritten',
  /** What this action, or an earlier one of the run, had replaced is there again. */
  'gone_back',
  'missing',
  'changed',
  'unreadable',
] as const;
export type FileState = (typeof fileStates)[number];

export interface FileFinding extends Omit<WrittenFile, 'seq'> {
  readonly state: FileState;
  readonly found: Found;
  /** Of `overwritten`: the action that did it. */
  readonly by: string | null;
}

/** Actions with an effect whose attempt had prepared a file, in the order of their writing. */
export function writtenFiles({ actions }: RunState): WrittenFile[] {
  return [...actions.values()]
    .flatMap((action) => writtenBy(action) ?? [])
    .sort((one, other) => one.seq - other.seq);
}

function writtenBy(action: ActionState): WrittenFile | null {
  const { actionId, attempts, final } = action;
  if (final === null || !hasEffectBy(final)) return null;
  const attempt = attempts.findLast((each) => wrote(each, final.attemptId));
  const marks = marksSchema.safeParse(attempt?.prepared);
  if (attempt === undefined || !marks.success) return null;
  const { target: path, new: digest, old: replaced } = marks.data;
  const result = final.resultRef === null ? 'missing' : 'recorded';
  const tool = attempt.entry.binding.tool;
  return { actionId, tool, path, wrote: digest, replaced, result, seq: attempt.preparedSeq };
}

/** By a person's answer it was one of those that had prepared; the last is taken. */
function wrote({ attemptId, prepared }: AttemptState, finalId: string | null): boolean {
  return prepared !== null && (finalId === null || attemptId === finalId);
}

/** One finding for each, in the same order; `found` says what is at a path. */
export function fileFindings(
  files: readonly WrittenFile[],
  found: (path: string) => Found,
): FileFinding[] {
  return files.map(({ seq: _seq, ...file }, index) => {
    const after = files.slice(index + 1).find(({ path }) => path === file.path);
    const now = found(file.path);
    const before = files.slice(0, index).filter(({ path }) => path === file.path);
    const state = after === undefined ? stateOf(file, before, now) : 'overwritten';
    return { ...file, state, found: now, by: after?.actionId ?? null };
  });
}

type Compared = Pick<WrittenFile, 'wrote' | 'replaced'>;

function stateOf(file: Compared, before: readonly Compared[], now: Found): FileState {
  if (now === 'unreadable') return 'unreadable';
  if (now === file.wrote) return 'as_written';
  if ([file, ...before].some(({ replaced }) => replaced === now)) return 'gone_back';
  return now === 'absent' ? 'missing' : 'changed';
}

/** The end of a draft's name: as it was written, and as an inquiry may have renamed it (C13). */
export const draftEnds = ['draft', 'withdrawn', 'touched', 'kept'] as const;
export type DraftEnd = (typeof draftEnds)[number];

export interface PreparedDraft {
  readonly actionId: string;
  /** From the tool's root on, without its end. */
  readonly stem: string;
  /** Nobody needs it as evidence any more. */
  readonly over: boolean;
}

/** Of every attempt that had prepared a file, whatever became of it. */
export function preparedDrafts({ actions }: RunState): PreparedDraft[] {
  return [...actions.values()].flatMap(({ actionId, attempts, final }) =>
    attempts.flatMap(({ prepared }) => {
      const marks = marksSchema.safeParse(prepared);
      if (!marks.success) return [];
      const stem = marks.data.draft.replace(/\.draft$/, '');
      return [{ actionId, stem, over: final !== null }];
    }),
  );
}
