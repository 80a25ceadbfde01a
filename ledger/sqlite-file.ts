// The file of a SQLite ledger: where it may be, how it comes into being, whether it is still there.
// Nothing here opens an existing ledger's file: closing any descriptor of it would drop the locks
// that SQLite holds on it for this whole process.

import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { chmod, link, mkdir, open, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileError } from './file-errors.ts';
import { LedgerError, type LedgerErrorCode } from './port.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

function refusal(path: string, code: LedgerErrorCode, words: string, cause?: unknown): LedgerError {
  return new LedgerError(code, `ledger ${path}: ${words}`, { nothingWritten: true, cause });
}

/** `absent`, or `present` and fit to be opened. Throws LedgerError. */
export async function lookAtFile(path: string): Promise<'absent' | 'present'> {
  const found = await statOrNull(path);
  if (found === null) {
    if ((await statOrNull(`${path}-wal`)) === null) return 'absent';
    throw refusal(
      path,
      'corrupt',
      `the file is gone but ${path}-wal is there, with transactions of the lost ledger; put the ` +
        'file back, or restore a copy',
    );
  }
  if (!found.isFile()) throw refusal(path, 'missing', 'this is no file; name a file');
  if (found.size === 0)
    throw refusal(
      path,
      'corrupt',
      'the file is empty, which a ledger never is; restore a copy, or delete it if it was none',
    );
  return 'present';
}

export function missing(path: string): LedgerError {
  return refusal(
    path,
    'missing',
    'there is no such file; check the path, restore a copy, or have a worker create a new ledger ' +
      'on purpose (HOLDFAST_LEDGER_CREATE=on, `create` in code): what an old one held would then ' +
      'be unknown',
  );
}

/**
 * Makes the ledger under another name and links it into place whole: a crash leaves no half ledger,
 * and of several processes that create it at the same time one wins and all use the same.
 */
export async function createFile(
  path: string,
  fill: (path: string) => Promise<void>,
): Promise<void> {
  const draft = `${path}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
    await (await open(draft, 'wx', FILE_MODE)).close();
    await chmod(draft, FILE_MODE);
    await fill(draft);
    await sync(draft);
    await linkOnce(draft, path);
    await unlink(draft);
    await sync(dirname(path));
  } catch (error) {
    throw fileError(path, error);
  }
}

async function linkOnce(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Throws `missing` when the path no longer leads to the file that was opened. */
export function placeCheck(path: string): () => void {
  const opened = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.ino === opened.ino && now.dev === opened.dev) return;
    throw refusal(
      path,
      'missing',
      now === undefined
        ? 'the file was removed while it was open; put it back and start again'
        : 'another file has taken its place while it was open; start again to use that one',
    );
  };
}

async function statOrNull(path: string): Promise<Awaited<ReturnType<typeof stat>> | null> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw fileError(path, error);
  }
}
