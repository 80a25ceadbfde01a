// Would catch: a ledger restored from an older copy, taken for the whole truth: what it has
// forgotten would be done again, or be called not submitted.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { main } from '../../client/main.ts';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { tempDirOfFile } from '../support/temp-dir.ts';

const REACHED_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };
const directory = tempDirOfFile();

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

/** All of `from` into `to`, as an operator would with the tools of SQLite; `to` keeps its place. */
async function copied(from: string, to: string): Promise<void> {
  const source = new Database(from);
  await source.backup(to);
  source.close();
}

/** The command as a person gives it; it reaches no Temporal. */
async function holdfast(...line: string[]): Promise<{ code: number; out: string }> {
  let out = '';
  const nothing = async (): Promise<never> => {
    throw new Error('not expected');
  };
  const say = (text: string) => {
    out += text;
  };
  const io = { env: {}, version: '0.0.0', out: say, err: say, readFile: nothing };
  const code = await main(line, { ...io, readInput: nothing, connect: nothing });
  return { code, out };
}

test('R-006 R-046 an older copy of the ledger proves nothing: nothing is sent again', async () => {
  const runId = 'restored';
  const [first, second] = [`${runId}.t1.c1`, `${runId}.t2.c1`];
  const copy = join(directory, 'copy.db');
  const notice = (actionId: string) => ({
    to: 'a@example.com',
    subject: `Notice ${actionId}`,
    body: '',
  });
  const steps = [first, second].map((id) => ({ tool: 'send_notice', input: notice(id) }));
  stage.arm({ point: 'before_gate', actionId: second });
  stage.arm({ point: 'after_receiver_commit', actionId: second });
  let worker = await stage.worker();
  const run = await stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
  await worker.line('REACHED before_gate ', REACHED_MS);
  await copied(stage.ledgerPath, copy);
  await worker.kill();
  worker = await stage.worker();
  await worker.line('REACHED after_receiver_commit ', REACHED_MS);
  await worker.kill();
  expect(await stage.gateway.log()).toHaveLength(2);

  await copied(copy, stage.ledgerPath);
  const restore = await holdfast(
    'ledger',
    'restore',
    '--ledger',
    `sqlite:${stage.ledgerPath}`,
    '--json',
  );
  expect(restore.code).toBe(0);
  expect(JSON.parse(restore.out)).toMatchObject({ ledger: { incarnation: 2 } });
  const kept = (await stage.ledger.read(runId)).head;
  await stage.worker();
  await expect(run.result()).rejects.toMatchObject({
    code: 'run_refused',
    message: expect.stringContaining('nothing was written'),
  });
  // Neither closed nor settled: an attempt that this ledger never saw is not "not submitted".
  expect((await stage.ledger.read(runId)).head).toEqual(kept);
  expect(await stage.client.state(runId)).toMatchObject({ phase: 'needs_resume' });

  // A takeover adopts what is there and sends nothing: what is not there may have happened.
  const resumed = await stage.client.resume(runId, { actor: 'ann', reason: 'the copy is all' });
  const result = await resumed.result();
  expect(result.end).toEqual({ kind: 'stopped', reason: 'ledger_mismatch' });
  expect(result.effects.map(({ actionId }) => actionId)).toEqual([first]);
  const subjects = (await stage.gateway.log()).map(({ mail }) => mail);
  expect(subjects).toEqual([notice(first), notice(second)]);
});

test('R-006 a run that began after the copy was made is not begun anew by a takeover', async () => {
  const runId = 'never-copied';
  const actionId = `${runId}.t1.c1`;
  const copy = join(directory, 'earlier.db');
  await copied(stage.ledgerPath, copy);
  stage.arm({ point: 'after_receiver_commit', actionId });
  const worker = await stage.worker();
  const input = { to: 'a@example.com', subject: `Notice ${actionId}`, body: '' };
  const goal = { kind: 'plan' as const, steps: [{ tool: 'send_notice', input }] };
  const run = await stage.client.start(runId, { goal, principal });
  await worker.line('REACHED ', REACHED_MS);
  await worker.kill();
  await copied(copy, stage.ledgerPath);
  await holdfast('ledger', 'restore', '--ledger', `sqlite:${stage.ledgerPath}`);
  await stage.worker();
  await expect(run.result()).rejects.toMatchObject({ code: 'run_refused' });
  const resumed = stage.client.resume(runId, { actor: 'ann', reason: 'tried all the same' });
  await expect(resumed).rejects.toMatchObject({ code: 'refused_by_ledger' });
  const notices = (await stage.gateway.log()).filter(({ mail }) =>
    JSON.stringify(mail).includes(actionId),
  );
  expect(notices).toHaveLength(1);
});
