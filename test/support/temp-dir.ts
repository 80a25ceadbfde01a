import { mkdtempSync, rmSync } from 'node:fs';
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

function newDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}
