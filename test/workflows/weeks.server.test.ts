// Would catch: a wait for a person that gives up, answers by itself, fills its history, or takes a
// worker's slot while it lasts. Time is skipped by the server; nothing here waits for it.

import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { unknownIdOf } from '../../core/ids.ts';
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

const ann = { actor: 'ann', reason: 'back from leave' };

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
/** A limit to give up at: run and question look once an hour each, and each look is a round trip. */
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

async function openUnknowns(runId: string): Promise<string[]> {
  const { actions } = await stage.ledger.read(runId);
  return [...actions.values()].filter(({ final }) => final === null).map((each) => each.actionId);
}
