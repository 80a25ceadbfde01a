// The worker dies after its effect and comes back with another ledger: what that one lacks proves
// nothing.

import { existsSync, renameSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { answerTruly } from '../support/fault-person.ts';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';

const REACHED_MS = 60_000;

let stage: FaultStage;
let connection: Connection;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
  connection = await Connection.connect({ address });
});
afterAll(async () => {
  await connection.close();
  await stage.close();
});

function move(from: string, to: string): void {
  for (const part of ['', '-wal', '-shm'])
    if (existsSync(`${from}${part}`)) renameSync(`${from}${part}`, `${to}${part}`);
}

test('R-006 R-046 another ledger proves nothing: the run stops, nothing is doubled', async () => {
  const runId = 'swapped';
  const actionId = `${runId}.t1.c1`;
  stage.arm({ point: 'after_receiver_commit', actionId });
  const worker = await stage.worker();
  const input = { to: 'lead@example.com', subject: `Notice ${actionId}`, body: '' };
  const goal = { kind: 'plan' as const, steps: [{ tool: 'send_notice', input }] };
  await stage.client.start(runId, { goal, principal: { user: 'ada', workspace: 'w1' } });
  await worker.line('REACHED ', REACHED_MS);
  await worker.kill();

  const { ledgerPath: path } = stage;
  const other = await openSqliteLedger({ path: `${path}.other`, create: true });
  await other.close();
  move(path, `${path}.right`);
  move(`${path}.other`, path);
  const mistaken = await stage.worker();
  const { workflow } = new Client({ connection, namespace: inject('temporal').namespace });
  await expect(workflow.getHandle(runId).result()).rejects.toMatchObject({
    cause: { type: 'HoldfastLedgerMismatch', message: expect.stringContaining('right ledger') },
  });
  await mistaken.kill();
  move(path, `${path}.other`);
  const left = await openSqliteLedger({ path: `${path}.other` });
  expect((await left.read(runId)).head.count).toBe(0);
  await left.close();

  move(`${path}.right`, path);
  await stage.worker();
  const resumed = await stage.client.resume(runId, { actor: 'ann', reason: 'ledger is back' });
  await answerTruly(stage, actionId);
  expect((await resumed.result()).end).toEqual({ kind: 'completed' });
  expect(await stage.gateway.log()).toHaveLength(1);
});
