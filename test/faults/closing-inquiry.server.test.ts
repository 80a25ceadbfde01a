// Would catch: a door that is said to be closed and is not, one that is closed on a request at
// work, and an answer that never came and is taken for a "no". The first request is kept on the
// wire while the run asks; effects are those in the receiver's own log.

import Database from 'better-sqlite3';
import { beforeAll, expect, test } from 'vitest';
import { until } from '../support/fault-stage.ts';
import { promiseStage, type Step, WITHIN_MS } from '../support/promise-stage.ts';

const at = promiseStage();
const add = (counter: string): Step => ({ tool: 'add', input: { counter, delta: 1 } });
const completed = { end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 };
const TROUBLED = 'closing-503';
const SILENT = 'closing-silent';
const QUERIES = 5;

beforeAll(async () => {
  // They ask again and again, each time later: begun first.
  const { stage, tap, start } = at();
  for (const [runId, tool] of [
    [TROUBLED, 'pay'],
    [SILENT, 'record_once'],
  ] as const) {
    await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: `${runId}.t1.c1` });
    tap.next('inquire', `${runId}.t1.c1`, { answer: 503 }, QUERIES);
    const input = tool === 'pay' ? { account: runId, amount: 10 } : { name: runId };
    await start(runId, { tool, input });
  }
});

test('A13 R-038 closed by token: a later one passes, the held one adds nothing', async () => {
  const { tap, start, effects, bodies, sends } = at();
  const runId = 'closing-by-token';
  const actionId = `${runId}.t1.c1`;
  tap.next('execute', actionId, { keep: 'forgotten' });
  const run = await start(runId, add('by-token'));
  expect(await run.result()).toMatchObject(completed);
  expect((await bodies(runId, 'observation')).map(({ proof }) => proof)).toEqual(['closed_token']);
  const [first, second] = sends(actionId);
  expect(first?.headers['idempotency-key']).toBe(second?.headers['idempotency-key']);
  const mine = await effects(actionId);
  expect(mine).toMatchObject([{ sendToken: { epoch: 1, number: 2 } }]);
  expect(await tap.release(actionId, 2)).toEqual([200, 200]);
  expect(await effects(actionId)).toEqual(mine);
});

test('A13 A14 closed by token, the next one held: the first is refused, no effect', async () => {
  const { tap, start, effects, stage } = at();
  const runId = 'closing-before-retry';
  const actionId = `${runId}.t1.c1`;
  tap.next('execute', actionId, { keep: 'forgotten' });
  // The first never came to the receiver, so it is the next one that waits there.
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  const run = await start(runId, add('before-retry'));
  await until('the next attempt', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === 1;
  });
  expect(await tap.release(actionId, 2)).toEqual([410, 410]);
  expect(await effects(actionId)).toEqual([]);
  await stage.receiver.release(actionId);
  expect(await run.result()).toMatchObject(completed);
  expect(await effects(actionId)).toHaveLength(1);
});

test('A13 A14 closed by key: the action ends not executed; another goes on', async () => {
  const { tap, start, effects, sends } = at();
  const actionId = 'closing-by-key.t1.c1';
  const step: Step = { tool: 'pay_or_burn', input: { account: 'burnt', amount: 10 } };
  tap.next('execute', actionId, { keep: 'forgotten' });
  const run = await start('closing-by-key', step);
  const end = { kind: 'stopped', reason: 'blocked' };
  expect(await run.result()).toMatchObject({ end, effectsCount: 0, unknownsCount: 0 });
  expect(await tap.release(actionId, 2)).toEqual([410, 410]);
  expect(sends(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toEqual([]);
  const other = await start('closing-by-key-2', step);
  expect(await other.result()).toMatchObject(completed);
  expect(await effects('closing-by-key-2.t1.c1')).toHaveLength(1);
  expect(await effects(actionId)).toEqual([]);
});

test('A13 R-036 in flight while it is being closed: processing, nothing is sent', async () => {
  const { stage, tap, start, effects, answered, sends } = at();
  const runId = 'closing-in-flight';
  const actionId = `${runId}.t1.c1`;
  tap.next('execute', actionId, { keep: 'forgotten' });
  const holder = new Database(stage.receiver.store);
  try {
    // Whoever has the store may be the very request that is to be closed.
    holder.exec('BEGIN IMMEDIATE');
    const run = await start(runId, add('in-flight'));
    await answered(runId, 'processing');
    expect(sends(actionId)).toHaveLength(1);
    holder.exec('ROLLBACK');
    expect(await tap.release(actionId)).toEqual([expect.any(Number)]);
    expect(await run.result()).toMatchObject(completed);
  } finally {
    holder.close();
  }
  expect(await effects(actionId)).toHaveLength(1);
});

test('R-036 five questions answered 503: nothing is sent again, it is settled later', async () => {
  const { stage, tap, effects, sends, scheduled } = at();
  const actionId = `${TROUBLED}.t1.c1`;
  expect(await stage.client.result(TROUBLED)).toMatchObject(completed);
  const looks = tap.wires(actionId).filter(({ kind }) => kind === 'inquire');
  expect(looks.length).toBeGreaterThan(QUERIES);
  expect(sends(actionId)).toHaveLength(1);
  expect(await scheduled(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toHaveLength(1);
});

test('R-036 five questions answered 503, never to be repeated: unknown till then', async () => {
  const { stage, tap, effects, sends, scheduled } = at();
  const actionId = `${SILENT}.t1.c1`;
  await until('five looks', WITHIN_MS, async () => {
    const looks = tap.wires(actionId).filter(({ kind }) => kind === 'inquire');
    return looks.length >= QUERIES;
  });
  expect(await stage.client.result(SILENT)).toMatchObject(completed);
  expect(sends(actionId)).toHaveLength(1);
  expect(await scheduled(actionId)).toHaveLength(1);
  expect(await effects(actionId)).toHaveLength(1);
});
