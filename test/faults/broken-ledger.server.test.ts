// Would catch: an effect without its intent, or a second one, or a run that never goes on, where
// the ledger is held by another process, may only be read, or is full, right at the gate, at the
// result, or at the end. Worker and receivers are processes; errors are SQLite's own.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, inject, onTestFinished, test } from 'vitest';
import { openStorageStage, type StorageStage } from '../support/storage-stage.ts';
import { playBroken } from './broken-phases.ts';

let stage: StorageStage;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openStorageStage({ address, namespace, bundlePath: inject('bundlePath') });
  connection = await Connection.connect({ address });
  client = new Client({ connection, namespace });
});
afterAll(async () => {
  await connection.close();
  await stage.close();
});

type Fault = 'locked' | 'read_only' | 'full';

/** Breaks the ledger for the worker and lets it go on into that; returns what mends it. */
function broken(fault: Fault): () => void {
  const letGo = fault === 'locked' ? stage.lock() : () => stage.plan({});
  stage.plan({ state: fault === 'locked' ? 'whole' : fault });
  onTestFinished(letGo);
  return letGo;
}

const faults: readonly [string, Fault, string][] = [
  ['another process holds the ledger', 'locked', 'unavailable'],
  ['the ledger may only be read', 'read_only', 'read_only'],
  ['the ledger is full', 'full', 'full'],
];

test.each(faults)(
  'R-050 R-061 R-077 %s at gate, result and end: no intent no effect, none twice, all go on',
  async (_condition, fault, code) => {
    await playBroken({ stage, client, name: fault, code, breakIt: () => broken(fault) });
  },
);
