// The operator's buttons on the question of an unknown action. Would catch: a run that waits for a
// question which is gone, an answer that is lost with it, and an effect that somebody causes by
// pressing the same button on the question as on the run.

import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { UNKNOWN_ACTION } from '../../workflows/messages.ts';
import {
  add,
  buttonsStage,
  childOf,
  factsOf,
  heldAt,
  hold,
  letGo,
  notice,
  openRunId,
  pointBefore,
  requestsOf,
  startPlan,
  WITHIN_MS,
} from '../support/buttons.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { effectRows } from './harness.ts';

const at = buttonsStage();

/** A run whose first step was done and lost its reply: somebody is asked. The second waits. */
async function inDoubt(runId: string) {
  const actionId = `${runId}.c1`;
  await at.stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `${actionId} ` });
  const run = await startPlan(at, runId, [notice(runId, 'c1'), add(runId, 'c2')]);
  await asked(at.stage.client, actionId);
  const questionId = unknownIdOf(actionId);
  return { run, actionId, questionId, first: await openRunId(at, questionId) };
}

async function expectOneEffectEach(runId: string): Promise<void> {
  expect(await effectRows(at.stage, runId)).toHaveLength(2);
  expect(await requestsOf(at, `${runId}.c2`)).toHaveLength(1);
  const answers = (await factsOf(at, runId)).filter(({ body }) => body.kind === 'resolution');
  expect(answers).toHaveLength(1);
}

const buttons = {
  'Request Cancellation': (id: string) => at.operator.cancel(id),
  Terminate: (id: string) => at.operator.terminate(id),
  'temporal workflow delete': (id: string) => at.operator.remove(id),
  Reset: async (id: string) => {
    const eventId = await until('its first task', WITHIN_MS, async () => {
      return (await at.operator.resetPoints(id))[0] ?? null;
    });
    await at.operator.reset(id, { eventId });
  },
};

test.each(Object.keys(buttons) as (keyof typeof buttons)[])(
  'R-135 R-047 %s on an open question: it stays or is open again, and its answer counts',
  async (button) => {
    const runId = `pressed-${button.toLowerCase().replaceAll(' ', '-')}`;
    const { run, actionId, questionId, first } = await inDoubt(runId);
    await buttons[button](questionId);
    const now = await openRunId(at, questionId, button === 'Request Cancellation' ? '' : first);
    expect(now === first).toBe(button === 'Request Cancellation');
    expect(await requestsOf(at, `${runId}.c2`)).toEqual([]);
    await answerTruly(at.stage, actionId);
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
    await expectOneEffectEach(runId);
  },
);

test('R-135 an answered question reset, with and without its signals, asks nobody', async () => {
  const runId = 'answered-question';
  const { run, actionId, questionId } = await inDoubt(runId);
  await answerTruly(at.stage, actionId);
  await run.result();
  await childOf(at, actionId).result();
  for (const excludeSignals of [true, false]) {
    const [eventId = 0] = await at.operator.resetPoints(questionId);
    await at.operator.reset(questionId, { eventId, excludeSignals });
    expect(await childOf(at, actionId).result()).toMatchObject({ end: 'settled' });
  }
  await expectOneEffectEach(runId);
});

test('R-135 a question started like this one: another id is refused, its own looks', async () => {
  const runId = 'started-like';
  const { run, actionId, questionId } = await inDoubt(runId);
  const other = await at.operator.startLike(questionId, `${questionId}.again`);
  await expect(at.temporal.workflow.getHandle(other).result()).rejects.toMatchObject({
    cause: { type: 'HoldfastInvalidInput', message: expect.stringContaining(questionId) },
  });
  await expect(at.operator.startLike(questionId, questionId)).rejects.toThrow(/already/i);
  await answerTruly(at.stage, actionId);
  await run.result();
  await childOf(at, actionId).result();

  await at.operator.startLike(questionId, questionId);
  expect(await childOf(at, actionId).result()).toMatchObject({ actionId, end: 'settled' });
  await expectOneEffectEach(runId);
});

test('R-135 a batch that terminates all questions leaves every run with its question', async () => {
  const runs = await Promise.all(['batch-a', 'batch-b'].map(inDoubt));
  // Of this test only: others are asked, too.
  const ids = runs.map(({ questionId }) => `'${questionId}'`).join(', ');
  const open = `WorkflowType = '${UNKNOWN_ACTION}' AND ExecutionStatus = 'Running'`;
  await at.operator.batchTerminate(`${open} AND WorkflowId IN (${ids})`);
  for (const { run, actionId, questionId, first } of runs) {
    await openRunId(at, questionId, first);
    await answerTruly(at.stage, actionId);
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  }
  for (const runId of ['batch-a', 'batch-b']) await expectOneEffectEach(runId);
});

test('R-135 R-118 the question that a copy of a run adopted, terminated: open again', async () => {
  const runId = 'adopted-question';
  const { actionId, questionId, first } = await inDoubt(runId);
  await at.operator.reset(runId, { eventId: await pointBefore(at, runId, actionId) });
  const run = at.temporal.workflow.getHandle(runId);
  await until('the copy adopts the question', WITHIN_MS, async () => {
    const { events } = await run.fetchHistory();
    return events?.some((each) => each.startChildWorkflowExecutionFailedEventAttributes) === true;
  });
  await at.operator.terminate(questionId);
  // Its timer would do the same, minutes later.
  await run.signal('lateFact', { actionId, attemptId: null, outcomeDigest: null });
  await openRunId(at, questionId, first);
  await answerTruly(at.stage, actionId);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  await expectOneEffectEach(runId);
});

test('R-135 a question ended while the run goes on is open when the run ends', async () => {
  const runId = 'beside-question';
  const actionId = `${runId}.c1`;
  const onUnknown = 'continue';
  await at.stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `${actionId} ` });
  await hold(at, `${runId}.c2`);
  const steps = [notice(runId, 'c1', { onUnknown }), add(runId, 'c2', { onUnknown })];
  const run = await startPlan(at, runId, steps);
  await heldAt(at, `${runId}.c2`);
  const questionId = unknownIdOf(actionId);
  const first = await openRunId(at, questionId);
  await at.operator.terminate(questionId);
  await until('the run hears of it', WITHIN_MS, async () => {
    const { events } = await at.temporal.workflow.getHandle(runId).fetchHistory();
    return events?.some((each) => each.childWorkflowExecutionTerminatedEventAttributes) === true;
  });
  await letGo(at);
  expect(await run.result()).toMatchObject({ end: { kind: 'ended_with_unknown' } });
  await openRunId(at, questionId, first);
  await answerTruly(at.stage, actionId);
  await childOf(at, actionId).result();
  expect(await run.result()).toMatchObject({ effectsCount: 2, unknownsCount: 0 });
  await expectOneEffectEach(runId);
});
