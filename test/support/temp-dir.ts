import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** A directory of the running test alone, gone when it ends. */
export function tempDir(): string {
  const { directory, remove } = newDirectory();
  onTestFinished(remove);
  return directory;
}

/** A directory of the running file; called outside of its tests, gone after the last. */
export function tempDirOfFile(): string {
  const { directory, remove } = newDirectory();
  afterAll(remove);
  return directory;
}

/** The same on a file system of which the file tools promise all: a container's root is none. */
export function triedDir(): string {
  const { directory, remove } = newDirectory(triedBase());
  onTestFinished(remove);
  return directory;
}

/** Such a one of the running file; called outside of its tests, gone after the last. */
export function triedDirOfFile(): string {
  const { directory, remove } = newDirectory(triedBase());
  afterAll(remove);
  return directory;
}

const tried: readonly number[] = [0xef53, 0x01021994];

function triedBase(): string {
  const base = [tmpdir(), '/dev/shm'].find((each) => tried.includes(statfsSync(each).type));
  if (base === undefined) throw new Error('set TMPDIR to a directory on ext4 or tmpfs');
  return base;
}

function newDirectory(base = tmpdir()) {
  const directory = mkdtempSync(join(base, 'holdfast-test-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
