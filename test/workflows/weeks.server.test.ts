// Would catch: a wait for a person that gives up, answers by itself, fills its history, or takes a
// worker's slot while it lasts; a read that is repeated without pace or end, or by the model.
// Time is skipped by the server; nothing here waits for it.

import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
import { limits } from '../../core/limits.ts';
import type { RunResult } from '../../core/outcome.ts';
import { searchAttributes } from '../../core/search-attributes.ts';
import { timeSkippingServerBinary } from '../../workers/temporal-cli.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import { operatorOf } from '../support/operator.ts';
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

const { IndexedValueType } = proto.temporal.api.enums.v1;
const wireTypes = {
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  Int: IndexedValueType.INDEXED_VALUE_TYPE_INT,
} as const;
const DAYS = 8;
let skip: (days: number) => Promise<void>;
const stage = workflowStage({
  server: async () => {
    const path = await timeSkippingServerBinary();
    const env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path } },
    });
    // It cannot list them, and so our own check cannot ask.
    const types = Object.entries(searchAttributes).map(([name, type]) => [name, wireTypes[type]]);
    await env.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: Object.fromEntries(types),
    });
    skip = (days) => env.sleep(`${days} days`);
    return { address: env.address, namespace: 'default', stop: () => env.teardown() };
  },
});

const slowDown = { kind: 'not_taken', code: '429', message: 'slow down' } as const;
const ann = { actor: 'ann', reason: 'back from leave' };

// First of all: a server that has skipped a month is slow to skip more.

test('R-041 R-042 a read that fails five times asks the same, at no model turn', async () => {
  const asked: object[] = [];
  stage.behave['look_up'] = async (input, { receiverKey, principal, payloadDigest }) => {
    asked.push({ input, receiverKey, principal, payloadDigest });
    if (asked.length === 1) return { ...slowDown, retryAfterMs: 7_000 };
    if (asked.length <= 5) throw new Error('connection reset');
    return { kind: 'executed', result: { text: 'hello' } };
  };
  const turns: number[] = [];
  stage.turns = (turn) => {
    turns.push(turn);
    return { text: '', calls: turn === 1 ? [{ tool: 'look_up', input: { n: 1 } }] : [] };
  };
  const run = await startRun(stage, newRunId('read'), { kind: 'model', instructions: 'look' });
  await eventually('the first look', async () => asked.length > 0);
  await skip(1);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  expect([turns, asked.length]).toEqual([[1, 2], 6]);
  expect(new Set(asked.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(await firstWaitMs(run)).toBeGreaterThanOrEqual(7_000);
});

test('R-041 R-048 a read that is put off again and again ends at its deadline', async () => {
  stage.behave['look_up'] = async () => ({ ...slowDown, retryAfterMs: 400_000 });
  const runId = newRunId('put-off');
  const plan = { kind: 'plan', steps: [{ tool: 'look_up', input: { n: 1 } }] };
  const run = await startRun(stage, runId, plan);
  await eventually('the first look', async () => stage.effects.length > 0);
  await skip(1);
  expect(await run.result()).toMatchObject({ end: { kind: 'stopped', reason: 'blocked' } });
  // At 0, 400 and 800 s of 900; the fourth would come too late.
  expect(stage.effects).toEqual(Array.from({ length: 3 }, () => `${runId}.t1.c1`));
});

test('R-049 a receiver is silent for hours: asked on, sent once, left as unknown', async () => {
  stage.behave['charge_card'] = async () => {
    throw new Error('lost');
  };
  let asked = 0;
  stage.inquire = async () => {
    asked++;
    return { verdict: 'unavailable' };
  };
  const runId = newRunId('silent');
  const plan = { kind: 'plan', steps: [{ tool: 'charge_card', input: { n: 1 } }] };
  const run = await startRun(stage, runId, plan);
  const before = await inDoubt(stage, runId, 't1.c1');
  await skip(0.25);
  expect(asked).toBeGreaterThan(limits.inquiriesBeforeEscalation);
  const action = (await stage.ledger.read(runId)).actions.get(before.actionId) ?? before;
  const question = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await question.signal('resolve', answerTo(action, { verb: 'abandon' }));
  expect(await run.result()).toMatchObject({
    end: { kind: 'ended_with_unknown' },
    ...{ effectsCount: 0, unknownsCount: 1 },
    unknowns: [{ actionId: action.actionId, outcome: 'unknown', externalId: null }],
  });
  expect(stage.effects).toEqual([action.actionId]);
});

test('K-136 an approval pending for a week stays pending, holds no slot, works', async () => {
  const runId = newRunId('weeks');
  const plan = { kind: 'plan', steps: [{ tool: 'sign_off', input: { n: 1 } }] };
  const run = await startRun(stage, runId, plan);
  const asked = () =>
    eventually('what to approve', async () => {
      const { approvals } = (await run.query('state')) as RunStateAnswer;
      return approvals[0];
    });
  const before = await asked();
  await skip(DAYS);
  expect(await asked()).toEqual(before);
  expect(await operatorOf(stage.client).pending(runId)).toEqual([]);
  expect(stage.effects).toEqual([]);
  const { historyLength } = await run.describe();
  // A look an hour: far from where a history has to be continued.
  expect(historyLength).toBeLessThan(DAYS * 24 * 12);
  await run.signal('approve', {
    id: 'approve-1',
    ...ann,
    actionId: before.actionId,
    bound: before.bound,
  });
  const result = (await run.result()) as RunResult;
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

const MONTH = 30;
/** A limit to give up at: run and question look once an hour each, over the wire. */
const GIVE_UP_MS = 300_000;

test(
  'R-040 D11 an unknown that nobody answers for 30 days is open: no timer answers',
  async () => {
    stage.behave['post_letter'] = async () => {
      throw new Error('lost');
    };
    const runId = newRunId('unanswered');
    const plan = { kind: 'plan', steps: [{ tool: 'post_letter', input: { n: 1 } }] };
    const run = await startRun(stage, runId, plan);
    const action = await inDoubt(stage, runId, 't1.c1');
    const before = await factsOf(stage, runId);
    await skip(MONTH);
    expect(await factsOf(stage, runId)).toEqual(before);
    expect(await openUnknowns(runId)).toEqual([action.actionId]);
    const question = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
    for (const open of [run, question]) expect((await open.describe()).status.name).toBe('RUNNING');
    expect(stage.effects).toEqual([action.actionId]);
    await question.signal('resolve', answerTo(action, { verb: 'confirm_executed', evidence }));
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
    expect(stage.effects).toEqual([action.actionId]);
  },
  GIVE_UP_MS,
);

/** Between the end of the first attempt at the call and the next one, as the server was told. */
async function firstWaitMs(run: WorkflowHandle): Promise<number> {
  const { events } = await run.fetchHistory();
  const all = events ?? [];
  const of = (id: string | null | undefined) => id?.includes('.t1.c1~') === true;
  const scheduled = all.filter((each) => of(each.activityTaskScheduledEventAttributes?.activityId));
  const [first, second] = scheduled.map((each) => Number(each.eventId));
  const ended = all.findIndex((each) => {
    const { activityTaskCompletedEventAttributes: completed } = each;
    return Number(completed?.scheduledEventId) === first;
  });
  const between = all.slice(ended).filter((each) => Number(each.eventId) < Number(second));
  const waits = between.map((each) => each.timerStartedEventAttributes?.startToFireTimeout);
  return Math.max(...waits.map((wait) => Number(wait?.seconds ?? 0) * 1_000));
}

async function openUnknowns(runId: string): Promise<string[]> {
  const { actions } = await stage.ledger.read(runId);
  return [...actions.values()].filter(({ final }) => final === null).map((each) => each.actionId);
}
