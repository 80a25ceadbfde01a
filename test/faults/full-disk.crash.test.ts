// Would catch: an effect without its intent, or a result that is lost, where the disk under the
// ledger is really full. The ledger is on a file system of 4 MB that the test fills up.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject, onTestFinished, test } from 'vitest';
import { openStorageStage, type StorageStage } from '../support/storage-stage.ts';
import { tempDirOfFile } from '../support/temp-dir.ts';
import { playBroken } from './broken-phases.ts';

const SIZE = '4m';
const BLOCK = Buffer.alloc(4096, 7);

const mountPoint = tempDirOfFile();
let mounted = false;
let stage: StorageStage;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  if (process.getuid?.() !== 0 || process.platform !== 'linux')
    throw new Error('test:crash mounts a small file system: run it as root on Linux');
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=700`, 'tmpfs', mountPoint]);
  mounted = true;
  const { address, namespace } = inject('temporal');
  const server = { address, namespace, bundlePath: inject('bundlePath') };
  stage = await openStorageStage(server, { ledgerDirectory: mountPoint });
  connection = await Connection.connect({ address });
  client = new Client({ connection, namespace });
});
afterAll(async () => {
  await connection?.close();
  await stage?.close();
  if (mounted) execFileSync('umount', [mountPoint]);
});

/** Until not one block is left; returns what frees them again. */
function filled(): () => void {
  const junk = join(mountPoint, 'junk');
  const file = openSync(junk, 'w');
  try {
    for (;;) writeSync(file, BLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
  return () => rmSync(junk, { force: true });
}

test('R-050 R-061 R-077 a full disk at gate, result and end: nothing doubled or lost', async () => {
  const breakIt = () => {
    const free = filled();
    onTestFinished(free);
    stage.plan({});
    return free;
  };
  await playBroken({ stage, client, name: 'disk', code: 'full', breakIt });
});
