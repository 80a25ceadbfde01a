// Holders of a target's lock that are processes of their own, and those who wait for it here.

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { withLock } from '../../../activities/tools/files/lock.ts';
import { lockName } from '../../../activities/tools/files/names.ts';
import { atPlace } from '../../../activities/tools/files/place.ts';
import { type FileSystem, nodeFiles } from '../../../activities/tools/files/system.ts';
import { type Child, startChild } from '../../../examples/support-desk/child.ts';
import { builtProgram } from '../../support/built-program.ts';

export const WITHIN_MS = 60_000;
export const TARGET = 'state.json';
export const LOCK = lockName(TARGET);

/** Killed with the test. `waitMs`: how long it asks for the lock. */
export async function startHolder(root: string, waitMs = 0): Promise<Child> {
  const program = await builtProgram('test/activities/files/programs/lock-holder.ts');
  const script = [program, root, TARGET, String(waitMs)] as const;
  const child = await startChild({ script, logPath: join(root, 'holder.log') });
  onTestFinished(() => child.kill());
  await child.line('READY', WITHIN_MS);
  return child;
}

export interface Waiting {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called at each try. */
  readonly onTry?: () => void;
}

/** `got`, or the outcome of not getting it. */
export function waitForLock(root: string, waiting: Waiting = {}) {
  const { waitMs = WITHIN_MS, signal = new AbortController().signal, onTry } = waiting;
  const files: FileSystem = {
    ...nodeFiles,
    tryLock: (file) => {
      onTry?.();
      return nodeFiles.tryLock(file);
    },
  };
  return atPlace(files, { root, path: TARGET, symlinks: 'refuse' }, (place) =>
    withLock(files, place, { waitMs, signal }, async () => ({ kind: 'got' }) as const),
  );
}
