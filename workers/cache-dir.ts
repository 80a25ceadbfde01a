// Where the project keeps what it can make again: server binaries and workflow bundles.

import { accessSync, constants, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The cache directory, made if missing: `HOLDFAST_CACHE`, or the user's cache, or a private
 * directory under the system's temporary one where the home is not writable.
 * Throws when `HOLDFAST_CACHE` cannot be used, or when none of the others can.
 */
export function cacheDirOf(env: Environment, uid = process.getuid?.()): string {
  const named = env['HOLDFAST_CACHE'];
  if (named !== undefined) {
    const problem = unusable(named);
    if (problem === null) return named;
    throw new Error(`HOLDFAST_CACHE ${named}: ${problem}; name a directory you may write to`);
  }
  const candidates = [
    join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'holdfast'),
    join(tmpdir(), `holdfast-cache-${process.getuid?.() ?? 'user'}`),
  ];
  const problems: string[] = [];
  for (const candidate of candidates) {
    const problem = unusable(candidate) ?? foreign(candidate, uid);
    if (problem === null) return candidate;
    problems.push(`${candidate}: ${problem}`);
  }
  throw new Error(`no directory for the cache (${problems.join('; ')}); set HOLDFAST_CACHE`);
}

/** Why nothing can be kept there, or null. */
function unusable(directory: string): string | null {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What lies in the cache is executed: a directory that we merely found must be ours alone. */
function foreign(directory: string, uid: number | undefined): string | null {
  const status = lstatSync(directory);
  if (!status.isDirectory()) return 'is a link';
  if (uid !== undefined && status.uid !== uid) return 'belongs to another user';
  return (status.mode & 0o022) === 0 ? null : 'can be written by others';
}
