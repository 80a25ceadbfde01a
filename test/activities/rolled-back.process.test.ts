// A shell command inside a database transaction is not rolled back with it. Catches: an action that
// is called rolled back, refused or not executed, and so done again, while its file is there.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { defineTool, httpReceiver } from '../../activities/index.ts';
import type { Tools } from '../../activities/registry.ts';
import { wordOf } from '../../core/action-status.ts';
import { axesOf } from '../../core/axes.ts';
import type { Ledger } from '../../ledger/port.ts';
import { listenerOf, openReceiver, receiverHandler, serve } from '../../receiver/index.ts';
import { activityRig, failureOfRun, portOf, type Rig, RUN } from '../support/activity-rig.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACTION = `${RUN}.t1.c1`;
const about = { version: '1', description: 'Books, and tells it.', input: z.strictObject({}) };

function shellWrite(file: string): void {
  execFileSync('sh', ['-c', 'printf told > "$0"', file]);
}

/** A database of the tool's own, with the row that its transaction writes. */
function bookingDatabase(directory: string) {
  const db = new Database(join(directory, 'booking.db'));
  onTestFinished(() => void db.close());
  db.exec('CREATE TABLE booking (id INTEGER PRIMARY KEY)');
  const book = (then: () => void) =>
    db.transaction(() => {
      db.exec('INSERT INTO booking DEFAULT VALUES');
      then();
      throw new Error('the transaction is rolled back');
    })();
  return { book, rows: () => db.prepare('SELECT id FROM booking').all() };
}

/** Sends the action once, records the doubt as its run does, and tells what is said of it then. */
async function said(rig: Rig) {
  const opened = await rig.open({
    goal: { kind: 'plan', steps: [{ tool: 'book', input: {} }] },
  });
  const call = rig.call(opened, { input: { kind: 'inline', value: {} } });
  await failureOfRun(rig.perform(call));
  const { attemptId } = call;
  const of = { runId: RUN, pin: null, actionId: ACTION };
  const doubt = { kind: 'doubt', why: 'no outcome', externalId: null, attemptId } as const;
  await rig.activities().recordFacts({ ...of, ...doubt });
  const lost = await status(rig);
  await rig.activities().inquire({ ...of, mode: 'ask', attemptIds: [attemptId], wantsValue: true });
  return { lost, asked: await status(rig) };
}

async function status({ ledger }: Rig) {
  const run = await ledger.read(RUN);
  const action = run.actions.get(ACTION);
  if (action === undefined) throw new Error('the action is not known');
  const { submission, execution, effect } = axesOf(run, action);
  return [wordOf(action), submission, execution, effect];
}

const unknown = ['unknown', 'maybe_submitted', 'unknown', 'unknown'];
const finished = ['finished', 'accepted', 'finished', 'complete'];

/** It can be asked: the file tells. */
const bookTool = (file: string, execute: () => void) =>
  defineTool({
    ...{ name: 'book', ...about },
    receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
    async execute(_, attempt) {
      attempt.beforeSend();
      execute();
      return { kind: 'executed', result: {}, externalId: 'told' };
    },
    async inquire() {
      return existsSync(file)
        ? { verdict: 'executed', externalId: 'told' }
        : { verdict: 'not_executed', proof: 'settled' };
    },
  });

test('R-130 a tool rolls back after a shell write: unknown, then found', async () => {
  const directory = tempDir();
  const file = join(directory, 'told.txt');
  const { book, rows } = bookingDatabase(directory);
  const tools: Tools = { book: bookTool(file, () => book(() => shellWrite(file))) };
  expect(await said(await activityRig({ tools }))).toEqual({ lost: unknown, asked: finished });
  expect([existsSync(file), rows()]).toEqual([true, []]);
});

test('R-130 the ledger rolls back after a shell write: unknown, then found', async () => {
  const file = join(tempDir(), 'told.txt');
  const tools: Tools = { book: bookTool(file, () => shellWrite(file)) };
  let rolledBack = 0;
  const decorateLedger = (ledger: Ledger): Ledger => ({
    ...portOf(ledger),
    transact: (look, decide) =>
      ledger.transact(look, (view) => {
        const decided = decide(view);
        const settles = decided.facts.some(({ body }) => body.kind === 'attempt_settled');
        if (!settles || rolledBack > 0) return decided;
        rolledBack++;
        throw new Error('rolled back with its result');
      }),
  });
  expect(await said(await activityRig({ tools, decorateLedger }))).toEqual({
    ...{ lost: unknown, asked: finished },
  });
  expect([existsSync(file), rolledBack]).toEqual([true, 1]);
});

test('R-130 a receiver rolls back after a shell write: nobody calls it not executed', async () => {
  const directory = tempDir();
  const file = join(directory, 'told.txt');
  const { book, rows } = bookingDatabase(directory);
  const receiver = await openReceiver({
    path: join(directory, 'receiver.db'),
    operations: {
      book: {
        ...{ version: '1', downstream: 'unkeyed' },
        async perform() {
          book(() => shellWrite(file));
          return { externalId: 'told' };
        },
      },
    },
  });
  onTestFinished(() => receiver.shutdown());
  const server = await serve(listenerOf(receiverHandler(receiver)), 0);
  onTestFinished(() => server.stop());
  const scope = { receiver: 'desk', account: 'a', workspace: 'w', region: 'r' };
  const http = httpReceiver({
    baseUrl: server.url,
    ...{ operation: 'book', operationVersion: '1' },
    contract: { scope, retentionMs: 86_400_000 },
  });
  const tools: Tools = { book: defineTool({ name: 'book', ...about, replay: 'keyed', ...http }) };
  expect(await said(await activityRig({ tools }))).toEqual({ lost: unknown, asked: unknown });
  expect([existsSync(file), rows()]).toEqual([true, []]);
  expect(await receiver.effects()).toEqual([]);
});
