// A reply is lost: the question, what becomes of it, and that the run survives everything about it.

import type { WorkflowHandle } from '@temporalio/client';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();

const lost = async () => {
  throw new Error('connection reset after the request was sent');
};

/** A run whose first step is in doubt, its question open. */
async function unknownRun(tool = 'post_letter', more: readonly object[] = []) {
  stage.behave[tool] = lost;
  const runId = newRunId('unknown');
  const steps = [{ tool, input: { runId } }, ...more];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  delete stage.behave[tool];
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  return { runId, handle, action, child };
}

const yes = { verb: 'confirm_executed', evidence, externalId: 'L-7' } as const;

async function endOf(handle: WorkflowHandle): Promise<RunResult> {
  return (await handle.result()) as RunResult;
}

test('R-004 R-047 a lost reply is one open question to a person, never sent again', async () => {
  const { runId, handle, action, child } = await unknownRun();
  const { searchAttributes, staticSummary } = await eventually('waits for a person', async () => {
    const about = await child.describe();
    const summary = await about.staticSummary();
    const state = about.searchAttributes['HoldfastState']?.[0];
    return state === 'waiting_human' ? { ...about, staticSummary: summary } : null;
  });
  expect(searchAttributes['HoldfastRun']).toEqual([runId]);
  expect(searchAttributes['HoldfastAction']).toEqual([action.actionId]);
  expect(staticSummary).toContain(action.actionId);
  const state = await handle.query<RunStateAnswer>('state');
  expect(state.unknowns).toEqual([{ actionId: action.actionId, child: child.workflowId }]);
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(await child.result()).toMatchObject({
    end: 'settled',
    outcome: 'executed_result_missing',
  });
  expect(stage.effects).toEqual([action.actionId]);
  const history = JSON.stringify(await handle.fetchHistory());
  expect(history).not.toContain('"failed"');
});

test('R-105 the input of the child is the question, with answers to paste', async () => {
  const { handle, action, child } = await unknownRun();
  const { events } = await child.fetchHistory();
  const data = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const question = JSON.parse(Buffer.from(data ?? []).toString('utf8'));
  expect(question.question).toContain(action.actionId);
  expect(question.evidence).toMatchObject({ level: 'L0', attempts: [expect.any(String)] });
  expect([question.if_yes.verb, question.if_no.verb]).toEqual([
    ...['confirm_executed', 'confirm_not_executed'],
  ]);
  const pasted = { ...question.if_yes, actor: 'ada', reason: 'found it', evidence };
  await child.signal('resolve', pasted);
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
});

test('R-049 abandoned: the run ends with an unknown, and nothing of it is sent again', async () => {
  const { handle, action, child } = await unknownRun('post_letter', [
    { tool: 'charge_card', input: {} },
  ]);
  await child.signal('resolve', answerTo(action, { verb: 'abandon' }));
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'ended_with_unknown' });
  expect(result.unknowns.map((line) => line.actionId)).toEqual([action.actionId]);
  expect(stage.effects).toEqual([action.actionId]);
});

test('D6 a permit lets one more attempt go: two effects, whatever the second said', async () => {
  const { handle, action, child } = await unknownRun();
  await child.signal(
    'resolve',
    answerTo(action, { verb: 'authorize_retry', acceptsPossibleDuplicate: true }),
  );
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId, action.actionId]);
  expect(await child.result()).toMatchObject({ end: 'permitted' });
});

test('not executed, but it may still arrive: on record, not sent again', async () => {
  const { handle, action, child } = await unknownRun();
  const no = { verb: 'confirm_not_executed', evidence, coverage: 'the one letter' };
  await child.signal('resolve', answerTo(action, { ...no, oldRequestCannotArrive: false }));
  expect((await endOf(handle)).end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(stage.effects).toEqual([action.actionId]);
});

test('not executed, and it cannot arrive: a new attempt of the same action', async () => {
  const { handle, action, child } = await unknownRun();
  const no = { verb: 'confirm_not_executed', evidence, coverage: 'mail server was off' };
  await child.signal('resolve', answerTo(action, { ...no, oldRequestCannotArrive: true }));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId, action.actionId]);
});

test('the receiver is asked with backoff, and its answer settles without a person', async () => {
  let asked = 0;
  stage.inquire = async () => {
    asked++;
    if (asked < 2) return { verdict: 'processing' };
    return { verdict: 'executed', result: { receipt: 'R-1' }, externalId: 'R-1' };
  };
  const { handle, child } = await unknownRun('charge_card');
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(await child.result()).toMatchObject({ end: 'settled', outcome: 'executed' });
  expect(asked).toBe(2);
});

test.each(['terminate', 'cancel'] as const)(
  'R-047 the run survives a %s of its question, which is open again',
  async (verb) => {
    const { handle, action, child } = await unknownRun();
    const first = (await child.describe()).runId;
    await child[verb]();
    if (verb === 'terminate')
      await eventually('the question is open again', async () => {
        const now = await child.describe();
        return now.runId !== first && now.status.name === 'RUNNING';
      });
    await child.signal('resolve', answerTo(action, yes));
    expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
    expect(stage.effects).toEqual([action.actionId]);
  },
);

test('R-118 after a reset the open question is adopted; its answer arrives', async () => {
  const { runId, handle, action, child } = await unknownRun();
  const before = (await child.describe()).runId;
  const { events } = await handle.fetchHistory();
  const completed = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await stage.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: runId, runId: handle.firstExecutionRunId },
    reason: 'test',
    requestId: newRunId('reset'),
    workflowTaskFinishEventId: completed?.eventId ?? null,
  });
  const now = stage.client.workflow.getHandle(runId);
  await eventually('the new execution waits', async () => {
    const state = await now.query<RunStateAnswer>('state').catch(() => null);
    return state?.phase === 'waiting';
  });
  expect((await child.describe()).runId).toBe(before);
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(now)).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId]);
});

test('D3 T-11 onUnknown continue: independent steps go on, the end is unknown', async () => {
  stage.behave['post_letter'] = lost;
  const runId = newRunId('goes-on');
  const steps = [
    { tool: 'post_letter', input: { runId }, onUnknown: 'continue' },
    { tool: 'charge_card', input: {}, onUnknown: 'continue' },
  ];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'ended_with_unknown' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
  const child = stage.client.workflow.getHandle(unknownIdOf(`${runId}.t1.c1`));
  expect((await child.describe()).status.name).toBe('RUNNING');
  const action = (await stage.ledger.read(runId)).actions.get(`${runId}.t1.c1`);
  await child.signal('resolve', answerTo(action as never, yes));
  expect(await child.result()).toMatchObject({ end: 'settled' });
});

test('a step that holds waits for what an earlier one left unknown', async () => {
  stage.behave['post_letter'] = lost;
  const runId = newRunId('holds');
  const steps = [
    { tool: 'post_letter', input: { runId }, onUnknown: 'continue' },
    { tool: 'charge_card', input: {} },
  ];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  await eventually('it waits', async () => {
    const state = await handle.query<RunStateAnswer>('state');
    return state.phase === 'waiting';
  });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await child.signal('resolve', answerTo(action, yes));
  expect((await endOf(handle)).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
});

test('accepted by the receiver: asked until it is final, never sent again', async () => {
  stage.behave['charge_card'] = async () => ({ kind: 'accepted', externalId: 'job-1' });
  let asked = 0;
  stage.inquire = async () => {
    asked++;
    return asked < 2
      ? { verdict: 'processing' }
      : { verdict: 'executed', result: { ok: true }, externalId: 'job-1' };
  };
  const runId = newRunId('accepted');
  const goal = { kind: 'plan', steps: [{ tool: 'charge_card', input: {} }] };
  const result = await endOf(await startRun(stage, runId, goal));
  expect(result.end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

test('R-110 an attempt that stays paused is asked about by the run’s own timer', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  stage.behave['slow'] = async () => {
    await released;
    return { kind: 'executed', result: { ok: true }, externalId: 'late-1' };
  };
  const runId = newRunId('paused');
  const handle = await startRun(stage, runId, {
    kind: 'plan',
    steps: [{ tool: 'slow', input: {} }],
  });
  const [pending] = await eventually('it is at work', async () => {
    if (stage.effects.length === 0) return null;
    return (await handle.describe()).raw.pendingActivities ?? null;
  });
  await stage.client.workflowService.pauseActivity({
    namespace: 'default',
    execution: { workflowId: runId },
    id: pending?.activityId ?? '',
    identity: 'test',
  });
  const action = await inDoubt(stage, runId, 't1.c1');
  release();
  const result = await endOf(handle);
  expect(result.end).toEqual({ kind: 'completed' });
  expect(result.lateFacts.map((line) => line.actionId)).toEqual([action.actionId]);
  expect(stage.effects).toEqual([action.actionId]);
  const doubts = (await factsOf(stage, runId)).filter(
    ({ body }) => body.kind === 'action_in_doubt',
  );
  expect(doubts.length).toBe(1);
});
