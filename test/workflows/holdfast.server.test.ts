// `holdfast()` in somebody else's workflow, from a bundle of their own.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { packageFile } from '../../workers/workflow-bundle.ts';
import type { HoldfastResult } from '../../workflows/holdfast.ts';
import {
  answerTo,
  eventually,
  evidence,
  inDoubt,
  newRunId,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage({
  workflowsPath: packageFile(import.meta.url, './samples/pay'),
  maxCachedWorkflows: 0,
});

function start(type: string, input: object = {}, runId = newRunId(type.toLowerCase())) {
  const options = { workflowId: runId, taskQueue: stage.queues.runs, args: [input] };
  return stage.client.workflow.start(type, options);
}

const failureOf = (handle: { result(): Promise<unknown> }) =>
  handle.result().then(
    () => '',
    (error: { cause?: { message?: string } }) => error.cause?.message ?? String(error),
  );

test('R-015 a body of ten lines: typed outcomes, positions by call order or by name', async () => {
  stage.behave['read_note'] = async () => ({ kind: 'executed', result: { text: 'hello' } });
  const handle = await start('pay', { amount: 10 });
  const result = (await handle.result()) as HoldfastResult<string>;
  expect(result.value).toBe('true, hello');
  expect(result.end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${handle.workflowId}.t1.c1`, `${handle.workflowId}.note`]);
  expect(result.answer).not.toBeNull();
});

test('D3 an unknown is a typed outcome with onUnknown continue, and an open question', async () => {
  stage.behave['post_letter'] = async () => {
    throw new Error('lost');
  };
  const handle = await start('goOn', {});
  const result = (await handle.result()) as HoldfastResult<string[]>;
  expect(result.value).toEqual(['unknown', 'executed']);
  expect(result.end).toEqual({ kind: 'ended_with_unknown' });
  const action = await inDoubt(stage, handle.workflowId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, { verb: 'abandon' }));
  expect(await child.result()).toMatchObject({ end: 'abandoned' });
});

test('by default act() waits for the person', async () => {
  stage.behave['charge_card'] = async () => {
    delete stage.behave['charge_card'];
    throw new Error('lost');
  };
  const handle = await start('pay', { amount: 11 });
  const action = await inDoubt(stage, handle.workflowId, 't1.c1');
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  const yes = { verb: 'confirm_executed', evidence, result: { ok: true } };
  await child.signal('resolve', answerTo(action, yes));
  const result = (await handle.result()) as HoldfastResult<string>;
  expect(result.value).toMatch(/^true, /);
});

test('R-109 after a revoke every act() answers stopped, and the body ends in order', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.behave['charge_card'] = async () => {
    await released;
    return { kind: 'executed', result: { ok: true } };
  };
  const handle = await start('stops');
  await eventually('the first call is at work', async () => stage.effects.length === 1);
  await handle.signal('revoke', { id: 'r1', actor: 'ada', reason: 'stop it' });
  await eventually('recorded', async () => (await stage.ledger.read(handle.workflowId)).revoked);
  release();
  const result = (await handle.result()) as HoldfastResult<string[]>;
  expect(result.value).toEqual(['executed', 'stopped', 'stopped']);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'revoked' });
  expect(stage.effects.length).toBe(1);
});

test('R-137 started again after its end, it answers the recorded result', async () => {
  const handle = await start('pay', { amount: 12 });
  const first = (await handle.result()) as HoldfastResult<string>;
  const again = await start('pay', { amount: 12 }, handle.workflowId);
  const second = (await again.result()) as HoldfastResult<string>;
  expect(second.value).toBeNull();
  expect(second.answer).toEqual(first.answer);
  expect(stage.effects.length).toBe(2);
});

test.each([
  ['large', /large.*bytes, more than 65536/],
  ['lossy', /lossy.*not canonical.*\$\.amount/],
  ['twice', /same: another call has this position/],
  ['slash', /a\/b: not a position/],
  ['value', /the value of its body is not canonical/],
  ['gives up', /the body itself gives up/],
])('R-010 a careless body (%s) fails in words, with the run id', async (how, words) => {
  const handle = await start('careless', { how });
  const message = await failureOf(handle);
  expect(message).toMatch(words);
  if (how !== 'gives up') expect(message).toContain(handle.workflowId);
});

test('a run id that cannot be one is refused before anything is opened', async () => {
  const handle = await start('pay', { amount: 1 }, `${newRunId('bad')}.t3`);
  expect(await failureOf(handle)).toMatch(/ends like a position/);
  expect(stage.delivered).toEqual([]);
});
