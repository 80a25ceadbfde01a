// One writer at a time for each target, over all processes of the host: a kernel lock on a file
// beside it, never on the target itself, which is another file after each replacement.
//
// Owns: the lock file's name, and that it is the one still under that name once it is locked. Does
// not own: what those do who take no lock (a shell, an editor); they are found by comparing.
// INV-1 The kernel alone says whether it is taken. What is in the file, its age and process ids
//       mean nothing; a holder that is dead has lost it, one that is stopped has it.
// INV-2 The file is never removed and never written: whoever removed it would let two in.
// INV-3 Each holder has an opening of its own: a second lock on the same one counts for nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, type Unwritten, unwrittenBy } from './errno.ts';
import { lockName } from './names.ts';
import type { Place } from './place.ts';
import type { FileSystem, OpenFile } from './system.ts';

/** Most holders are gone within a few: reading, writing and syncing a small file. */
const PAUSE_MIN_MS = 2;
/** A hundred waiters ask a thousand times a second; one is let in this late at the most. */
const PAUSE_MAX_MS = 100;
const RETRY_AFTER_MS = 1_000;
/** For the owner alone: whoever can open it can lock everybody out. */
const MODE = 0o600;

export interface LockAsk {
  /** How long to ask for a lock that another has. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `body` under the target's lock, which is given back however it ends. Not got: an outcome
 * that names the lock file, and `body` has not run. Throws only what `body` throws.
 */
export async function withLock<R>(
  files: FileSystem,
  { directory, name, path }: Pick<Place, 'directory' | 'name' | 'path'>,
  ask: LockAsk,
  body: () => Promise<R>,
): Promise<R | Unwritten> {
  const own = lockName(name);
  const shown = `${path.slice(0, path.length - name.length)}${own}`;
  const file = await locked(files, { at: directory.at(own), shown, target: path, ...ask });
  if ('kind' in file) return file;
  try {
    return await body();
  } finally {
    await giveBack(files, file.lock);
  }
}

interface Locking extends LockAsk {
  readonly at: string;
  /** From the root on. */
  readonly shown: string;
  readonly target: string;
}

async function locked(
  files: FileSystem,
  locking: Locking,
): Promise<{ lock: OpenFile } | Unwritten> {
  const deadline = performance.now() + locking.waitMs;
  let pauseMs = PAUSE_MIN_MS;
  for (;;) {
    const tried = await tryOnce(files, locking);
    if (tried !== 'taken') return tried;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || locking.signal.aborted) return notGot(locking);
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal: locking.signal }).catch(isAborted);
    pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
  }
}

/** Opens it anew each time: a name that was taken away and given again is another file. */
async function tryOnce(
  files: FileSystem,
  { at, shown, target }: Locking,
): Promise<{ lock: OpenFile } | Unwritten | 'taken'> {
  let lock: OpenFile;
  try {
    lock = await files.openOrCreate(at, MODE);
  } catch (error) {
    return errnoOf(error) === 'ELOOP' ? notRegular(shown) : notLocked(error, shown, target);
  }
  let keeps = false;
  try {
    const opened = await files.status(lock);
    if (!opened.isFile()) return notRegular(shown);
    if (!files.tryLock(lock)) return 'taken';
    const named = await files.statusAt(at);
    keeps = named.dev === opened.dev && named.ino === opened.ino;
    return keeps ? { lock } : 'taken';
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 'taken' : notLocked(error, shown, target);
  } finally {
    if (!keeps) await giveBack(files, lock);
  }
}

/**
 * An error is no matter of the effect: the kernel gives the lock back with the descriptor, at the
 * latest when the process ends, and nothing was written through it.
 */
async function giveBack(files: FileSystem, lock: OpenFile): Promise<void> {
  try {
    files.unlock(lock);
  } catch {}
  await files.close(lock).catch(() => undefined);
}

function notGot({ shown, target, waitMs, signal }: Locking): Unwritten {
  const why = signal.aborted
    ? `canceled while it waited for its lock, ${shown}`
    : `another process has had its lock, ${shown}, for ${waitMs} ms`;
  const message = `${JSON.stringify(target)} was not touched: ${why}`;
  const code = signal.aborted ? 'canceled' : 'locked';
  return { kind: 'not_taken', code, message, retryAfterMs: RETRY_AFTER_MS };
}

/** Whoever reads it asked for the target, and has not heard of a lock file. */
function notLocked(error: unknown, shown: string, target: string): Unwritten {
  const by = unwrittenBy(error, shown);
  return { ...by, message: `${JSON.stringify(target)} was not touched: its lock ${by.message}` };
}

function notRegular(shown: string): Unwritten {
  const message = `the lock file ${shown} is no regular file; look who made it, and remove it`;
  return { kind: 'refused', code: 'lock_file', message };
}

function isAborted(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error;
}
