// What the traces of one attempt on the disk prove, once its draft has been withdrawn: from then on
// nothing of it arrives any more, whoever was frozen. Pure and total. "Ours" is the file that the
// attempt prepared, by device, inode and birth; a like content is no evidence of who wrote it.
//
// INV-1 `executed` only where ours was published: it stands at the target, or what it displaced
//       stands at the draft's name.
// INV-2 `not_executed` only where ours was never published, or was put back: it stands at the
//       draft's name. A publication by rename or exchange takes it away from there; one by link
//       leaves it, and leaves a mark on it (its change time).
// INV-3 Everything else is for a person, and no file that it could be told by is removed.

import type { Digest } from '../../../core/digest.ts';
import type { InquiryAnswer } from '../../tool.ts';

export type Publish = 'link' | 'rename' | 'swap';

/** What the attempt recorded before it could publish. */
export interface Prepared {
  readonly publish: Publish;
  /** What stood at the target. */
  readonly old: Digest | 'absent';
  readonly new: Digest;
}

/** What stands at the target now. */
export type AtTarget =
  | { readonly kind: 'absent' }
  | { readonly kind: 'ours' | 'file'; readonly digest: Digest }
  /** No regular file: a directory, a link, a pipe. */
  | { readonly kind: 'other' };

/** What stands at the name of the draft, once it is withdrawn. */
export type AtDraft =
  | { readonly kind: 'gone' }
  /** `touched`: something on it was changed after it was prepared, e.g. a name was added. */
  | { readonly kind: 'ours'; readonly touched: boolean }
  /** Another file: what an exchange displaced. `name`: where it is kept. Null: no regular file. */
  | { readonly kind: 'file'; readonly digest: Digest | null; readonly name: string };

/** In order of precedence; the first that fits. */
export const verdicts = [
  /** The ledger has no mark: publishing was, and stays, out of its reach. */
  'not_prepared',
  /** Ours at both names, though nothing but a link makes two of one. */
  'two_names',
  /** An exchange displaced what the attempt never saw, and ours stands in its place, unchanged. */
  'displaced_another',
  /** As above, but ours was changed or replaced since: it cannot be put back. */
  'displaced_another_for_good',
  'published',
  'published_then_changed',
  /** The old content stands where an exchange puts it, and ours was replaced since. */
  'published_then_replaced',
  'withdrawn',
  /** A name was added to it, and is gone: or something else was done to it. */
  'touched',
  /** Published and replaced, or the draft was removed: nothing tells. */
  'no_trace',
] as const;
export type FileVerdict = (typeof verdicts)[number];

export interface Traces {
  readonly prepared: Prepared | null;
  readonly target: AtTarget;
  readonly draft: AtDraft;
}

export function verdictOf({ prepared, target, draft }: Traces): FileVerdict {
  if (prepared === null) return 'not_prepared';
  const { publish } = prepared;
  const isOurs = target.kind === 'ours';
  if (isOurs && draft.kind === 'ours' && publish !== 'link') return 'two_names';
  if (publish === 'swap' && draft.kind === 'file' && draft.digest !== prepared.old)
    return isUnchanged(prepared, target) ? 'displaced_another' : 'displaced_another_for_good';
  if (isOurs) return isUnchanged(prepared, target) ? 'published' : 'published_then_changed';
  if (publish === 'swap' && draft.kind === 'file') return 'published_then_replaced';
  if (draft.kind !== 'ours') return 'no_trace';
  return publish === 'link' && draft.touched ? 'touched' : 'withdrawn';
}

function isUnchanged(prepared: Prepared, target: AtTarget): boolean {
  return target.kind === 'ours' && target.digest === prepared.new;
}

/** From the root on, as the attempt had it. */
export interface Named extends Traces {
  readonly path: string;
}

type FileAnswer = InquiryAnswer<never>;

const answers: Record<FileVerdict, (at: Named) => FileAnswer> = {
  not_prepared: () => notExecuted('it never came to where it could publish'),
  two_names: (at) =>
    conflict(at, 'is the file of this attempt, by a link that the attempt did not make'),
  displaced_another: (at) => conflict(at, `took the place of another change; ${keptAt(at)}`),
  displaced_another_for_good: (at) =>
    conflict(at, `took the place of another change, and did not last; ${keptAt(at)}`),
  published: (at) => executed(at, null),
  published_then_changed: (at) => executed(at, `changed since: ${nowAt(at)}`),
  published_then_replaced: (at) => executed(at, `replaced since: ${nowAt(at)}`),
  withdrawn: (at) => notExecuted(`never published: ${nowAt(at)}`),
  touched: (at) =>
    conflict(at, `was linked and removed since, or its draft was touched: ${nowAt(at)}`),
  no_trace: (at) =>
    conflict(at, `was written and replaced since, or its draft was removed: ${nowAt(at)}`),
};

/** Of `displaced_another`: the answer where it could not be put back. */
export function answerOf(verdict: FileVerdict, at: Named): FileAnswer {
  return answers[verdict](at);
}

/** Once the displaced change stands where it stood, and the draft is the attempt's again. */
export function answerOfPutBack({ path }: Named): FileAnswer {
  return notExecuted(`conflict: another change of "${path}" was displaced, and is put back`);
}

/** `path` with what another hand did, in words; never a result: a like file is no receipt. */
function executed({ path, prepared }: Named, detail: string | null): FileAnswer {
  return {
    verdict: 'executed',
    externalId: path,
    ...(prepared === null ? {} : { objectVersion: prepared.new }),
    ...(detail === null ? {} : { detail }),
  };
}

function notExecuted(detail: string): FileAnswer {
  return { verdict: 'not_executed', proof: 'closed_token', detail };
}

function conflict({ path }: Named, words: string): FileAnswer {
  return { verdict: 'conflict', detail: `"${path}" ${words}` };
}

function keptAt({ draft }: Named): string {
  return draft.kind === 'file' ? `that change is kept as "${draft.name}"` : 'that change is gone';
}

function nowAt({ target, prepared }: Named): string {
  if (target.kind === 'absent') return 'no file is there now';
  if (target.kind === 'other') return 'something that is no regular file is there now';
  if (target.digest === prepared?.old) return 'the old content is there now';
  if (target.digest === prepared?.new)
    return 'the same content is there by another hand (already satisfied)';
  return `a third content is there now (conflict): ${target.digest}`;
}
