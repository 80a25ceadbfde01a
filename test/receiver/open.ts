// A receiver in this process on a fresh file, with a clock the test turns.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { exampleOperations, openReceiver, type ReceiverSettings } from '../../receiver/index.ts';

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'receiver-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export async function openForTest(options: Partial<ReceiverSettings> & { path?: string } = {}) {
  const path = options.path ?? join(tempFolder(), 'store');
  const time = { now: 1_700_000_000_000 };
  const receiver = await openReceiver({
    path,
    operations: exampleOperations(),
    clock: () => time.now,
    ...options,
  });
  onTestFinished(() => receiver.shutdown());
  return { receiver, path, time };
}
