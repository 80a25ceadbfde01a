// What a failed system call means for an attempt that has published nothing: a decision that stands
// (refused) or a machine that is short of something now (not taken). One table; what it does not
// list is a machine in trouble, and was not taken either, for nothing was published.

import { messageOf } from '../../failures.ts';

/** An attempt that ended before anything was published: nothing is under the target's name. */
export type Unwritten =
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | {
      readonly kind: 'not_taken';
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
    };

interface Row {
  readonly kind: Unwritten['kind'];
  /** After the path: what it is, and what to do. */
  readonly words: string;
  readonly retryAfterMs?: number;
}

const full = { kind: 'not_taken', retryAfterMs: 30_000 } as const;
const busy = { kind: 'not_taken', retryAfterMs: 1_000 } as const;

export const errnoTable: Readonly<Record<string, Row>> = {
  ENOENT: { kind: 'refused', words: 'is not there; name one that is' },
  ENOTDIR: { kind: 'refused', words: 'leads through something that is no directory' },
  EEXIST: { kind: 'refused', words: 'exists; it was left as it is' },
  EISDIR: { kind: 'refused', words: 'is a directory; name a file' },
  ELOOP: { kind: 'refused', words: 'leads through links that never end' },
  ENAMETOOLONG: { kind: 'refused', words: 'is longer than the file system takes; name it shorter' },
  EILSEQ: { kind: 'refused', words: 'has, or leads through, a name of other bytes than it takes' },
  EINVAL: { kind: 'refused', words: 'is not a name that the file system takes' },
  EXDEV: { kind: 'refused', words: 'is a mount of its own; it can not be replaced as a whole' },
  EROFS: { kind: 'refused', words: 'is on a file system that is mounted to be read only' },
  EACCES: { kind: 'refused', words: 'may not be touched by the user that the worker runs as' },
  EPERM: { kind: 'refused', words: 'may not be changed by the user that the worker runs as' },
  ENXIO: { kind: 'refused', words: 'is a socket or a device, no regular file' },
  ENODEV: { kind: 'refused', words: 'is a device, no regular file' },
  EMLINK: { kind: 'refused', words: 'has as many links as the file system takes' },
  EFBIG: { kind: 'refused', words: 'would be larger than the file system takes' },
  ETXTBSY: { kind: 'refused', words: 'is a program that is running' },
  ENOTSUP: { kind: 'refused', words: 'is on a file system that has no such call' },
  EOPNOTSUPP: { kind: 'refused', words: 'is on a file system that has no such call' },
  ENOSYS: { kind: 'refused', words: 'is on a system that has no such call' },
  ENOSPC: { ...full, words: 'does not fit: the disk is full; what was there is untouched' },
  EDQUOT: { ...full, words: 'does not fit: the quota is used up; what was there is untouched' },
  EMFILE: { ...busy, words: 'could not be opened: this process has too many files open' },
  ENFILE: { ...busy, words: 'could not be opened: the machine has too many files open' },
  ENOMEM: { ...busy, words: 'could not be handled: the machine is short of memory' },
  EAGAIN: { ...busy, words: 'is busy' },
  EBUSY: { ...busy, words: 'is busy' },
  EINTR: { ...busy, words: 'could not be handled: the call was interrupted' },
};

/** `path`: as the tool was asked for it. Only for errors of before the publication. */
export function unwrittenBy(error: unknown, path: string): Unwritten {
  const code = errnoOf(error) ?? 'unknown_error';
  const row = errnoTable[code];
  if (row === undefined)
    return {
      kind: 'not_taken',
      code,
      message: `${JSON.stringify(path)}: ${messageOf(error)}; nothing was written`,
    };
  const { kind, words, retryAfterMs } = row;
  const message = `${JSON.stringify(path)} ${words} (${code})`;
  if (kind === 'refused' || retryAfterMs === undefined) return { kind, code, message };
  return { kind, code, message, retryAfterMs };
}

/** The system's name of the error; null where it is none of the system's. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}
