// What goes on although nobody waits for it any more: the loser of a race, an attempt that hears no
// cancellation, an activity that fails after its tool has paid.

import { expect, test } from 'vitest';
import { packageFile } from '../../workers/workflow-bundle.ts';
import type { HoldfastResult } from '../../workflows/holdfast.ts';
import { eventually, factsOf, newRunId, workflowStage } from '../support/workflow-stage.ts';

const stage = workflowStage({ workflowsPath: packageFile(import.meta.url, './samples/pay') });

async function start(type: string, input: object = {}) {
  const workflowId = newRunId(type);
  const options = { workflowId, taskQueue: stage.queues.runs, args: [input] };
  return stage.client.workflow.start(type, options);
}

function gate() {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}

/** The card is charged, and the answer comes when the gate is opened. */
function slowCharge() {
  const { open, passed } = gate();
  stage.behave['charge_card'] = async () => {
    await passed;
    return { kind: 'executed', result: { ok: true }, externalId: 'charge-1' };
  };
  return open;
}

test('K-055 the loser of a race is an unknown at the end, and its effect a late fact', async () => {
  const open = slowCharge();
  const handle = await start('race');
  await eventually('the attempt is at work', async () => stage.effects.length === 1);
  await handle.signal('over');
  const result = (await handle.result()) as HoldfastResult<string>;
  const actionId = `${handle.workflowId}.t1.c1`;
  expect(result).toMatchObject({ value: 'the other', end: { kind: 'ended_with_unknown' } });
  expect(result.unknowns).toMatchObject([{ actionId }]);
  open();
  const settled = await eventually('the late fact', async () => {
    const facts = await factsOf(stage, handle.workflowId);
    return facts.find(({ body }) => body.kind === 'attempt_settled');
  });
  expect(settled).toMatchObject({ source: 'late_result', body: { actionId, outcome: 'executed' } });
  expect(stage.effects).toEqual([actionId]);
});

test('K-056 a canceled run has not ended while its attempt may still act', async () => {
  const open = slowCharge();
  const handle = await start('pay', { amount: 10 });
  await eventually('the attempt is at work', async () => stage.effects.length === 1);
  await handle.signal('revoke', { id: 'r1', actor: 'ada', reason: 'stop it' });
  const actionId = `${handle.workflowId}.t1.c1`;
  const canceling = await eventually('cancellation is requested', async () => {
    const { raw } = await handle.describe();
    return raw.pendingActivities?.find(
      ({ activityId, state }) => activityId?.startsWith(actionId) === true && state === 3,
    );
  });
  expect(canceling.activityType?.name).toBe('performAction');
  expect((await handle.describe()).status.name).toBe('RUNNING');
  open();
  const result = (await handle.result()) as HoldfastResult<string>;
  expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, effectsCount: 1 });
  expect(result.effects).toMatchObject([{ actionId, outcome: 'executed' }]);
});

test('K-007 the activity fails after its tool has paid: the stored result is taken', async () => {
  stage.behave['read_note'] = async () => ({ kind: 'executed', result: { text: 'hello' } });
  stage.around.performAction = async (call, next) => {
    const reply = await next(call);
    if (call.position === 't1.c1') throw new Error('after the tool, before the turn ended');
    return reply;
  };
  const handle = await start('pay', { amount: 10 });
  const result = (await handle.result()) as HoldfastResult<string>;
  expect(result).toMatchObject({ end: { kind: 'completed' }, value: 'true, hello' });
  const charged = stage.effects.filter((actionId) => actionId.endsWith('.t1.c1'));
  expect(charged).toHaveLength(1);
});
