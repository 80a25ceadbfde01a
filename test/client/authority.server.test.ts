// What changes a run's authority, sent by the client: it would catch a command that the ledger
// refused and the run got all the same, an approval that is lost with the worker, and a view that
// writes today's grants over the revision something was done under.

import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import type { ClientError } from '../../client/errors.ts';
import { viewLines } from '../../client/run-text.ts';
import type { GoalStart } from '../../client/start-request.ts';
import { digestOf } from '../../core/digest.ts';
import { type ClientStage, eventually, openClientStage } from '../support/client-stage.ts';

const by = { actor: 'ada', reason: 'the test says so' };
const plan = (...steps: readonly (readonly [tool: string, text: string])[]): GoalStart => ({
  goal: { kind: 'plan', steps: steps.map(([tool, text]) => ({ tool, input: { text } })) },
  principal: { user: 'ada', workspace: 'w1' },
});
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: ClientError) => error.code ?? error.stack,
  );

let stage: ClientStage;
let runId = '';
let count = 0;

beforeAll(async () => {
  stage = await openClientStage(inject('temporal'), inject('bundlePath'));
  await stage.startWorkers();
});
beforeEach(() => {
  runId = `authority-${process.pid}-${count++}`;
});
afterAll(() => stage.close());

async function signalsTo(workflowId: string): Promise<string[]> {
  const { events } = await stage.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
  );
}

test('R-109 R-137 what nobody knows gets no command, and no chain is begun for it', async () => {
  const { client } = stage;
  const bare = await stage.clientWith({ ledger: null });
  const actionId = `${runId}.t1.c1`;
  const bound = digestOf('x');
  for (const each of [client, bare])
    for (const sent of [
      () => each.amend(runId, { ...by, id: 'c', grants: [] }),
      () => each.amend(runId, { ...by, id: 'c', goal: plan(['note', 'x']).goal as never }),
      () => each.approve(runId, { ...by, id: 'c', actionId, bound }),
      () => each.deny(runId, { ...by, id: 'c', actionId, bound }),
      () => each.topUp(runId, { ...by, id: 'c', requests: 1 }),
    ])
      expect(await codeOf(sent())).toBe('run_not_found');
  const other = { ...by, id: 'c', actionId: 'other.t1.c1', bound };
  expect(await codeOf(client.approve(runId, other))).toBe('bad_input');
  expect((await stage.ledger.read(runId)).head.count).toBe(0);
});

test('the goal of a workflow of one’s own is not amended: it is its code', async () => {
  const { client } = stage;
  await client.start(runId, { workflow: 'mine', taskQueue: 'nobody-polls-here' });
  const goal = { kind: 'model', instructions: 'be brief' };
  for (const each of [client, await stage.clientWith({ ledger: null })])
    expect(await codeOf(each.amend(runId, { ...by, id: 'c', goal }))).toBe('goal_fixed');
  expect(await signalsTo(runId)).toEqual([]);
  expect((await stage.ledger.read(runId)).head.count).toBe(0);
  await stage.temporal.workflow.getHandle(runId).terminate();
});

test('R-136 what the budget does not let in is listed until it is topped up', async () => {
  const { client } = stage;
  const budget = { requests: 1 };
  await client.start(runId, { ...plan(['bill', 'b1'], ['bill', 'b2']), budget });
  expect(await codeOf(client.start(runId, plan(['bill', 'b1'], ['bill', 'b2'])))).toBe(
    'other_start',
  );
  const exhausted = async () =>
    (await client.inbox()).exhausted.filter((each) => each.runId === runId);
  await eventually('it is listed', async () => (await exhausted()).length === 1);
  expect(await exhausted()).toMatchObject([{ actionId: `${runId}.t2.c1` }]);
  const view = await client.state(runId);
  expect(view.recorded?.budget?.requests).toMatchObject({ limit: 1, used: 1, held: 0 });
  expect(viewLines(view)).toContain('  requests: 1 used, of 1');
  const refused = client.topUp(runId, { ...by, id: 'more-tokens', tokens: 9 });
  await expect(refused).rejects.toThrow(/has no limit on tokens/);
  expect(await codeOf(refused)).toBe('refused_by_ledger');
  expect(await signalsTo(runId)).toEqual([]);
  const more = { ...by, id: 'more', requests: 1 };
  const told = await client.topUp(runId, more, { by: 'update' });
  expect(told).toMatchObject({ recorded: 'applied', answer: { what: 'duplicate' } });
  expect(await client.topUp(runId, more)).toMatchObject({ recorded: 'duplicate' });
  expect((await client.result(runId)).end).toEqual({ kind: 'completed' });
  expect(await exhausted()).toEqual([]);
  expect([stage.notes.get('b1'), stage.notes.get('b2')]).toEqual([1, 1]);
});

test('R-084 the revision it was done under stands beside the grants of now', async () => {
  const { client } = stage;
  await client.start(runId, plan(['note', 'g1'], ['hold', 'g2']));
  await eventually('g2 acts', async () => stage.notes.get('g2') === 1);
  const grants = ['query', 'read'] as const;
  await client.amend(runId, { ...by, id: 'less', grants: [...grants] });
  const view = await client.state(runId);
  expect(view.recorded).toMatchObject({ authRevision: 2, goalRevision: 1, grants });
  for (const { attempts, revisions } of view.recorded?.actions ?? [])
    expect([revisions, attempts[0]?.authRevision]).toEqual([{ goal: 1, auth: 1 }, 1]);
  const lines = viewLines(view).join('\n');
  expect(lines).toContain('granted: query, read');
  expect(lines).toMatch(/attempt 1 executed, .*under goal revision 1, authority revision 1/);
  stage.release();
  expect((await client.result(runId)).effects.map((line) => line.authRevision)).toEqual([1, 1]);
});

test('K-134 R-136 approved while no worker runs: approved, not started, then done', async () => {
  const { client } = stage;
  const actionId = `${runId}.t1.c1`;
  await client.start(runId, plan(['ask', 'a1']));
  const listed = async () => (await client.inbox()).approvals.filter((each) => each.run === runId);
  await eventually('it is listed', async () => (await listed()).length === 1);
  const asked = await client.approval(runId, actionId);
  expect(await listed()).toEqual([asked]);
  expect(await client.sent(asked!)).toEqual({ text: 'a1' });
  const bare = await stage.clientWith({ ledger: null });
  expect((await bare.approval(runId, actionId))?.answer).toEqual(asked?.answer);
  await stage.stopWorkers();
  const command = { ...asked!.answer, ...by };
  const another = { ...command, bound: digestOf('another') };
  expect(await codeOf(client.approve(runId, another))).toBe('refused_by_ledger');
  expect(await signalsTo(runId)).toEqual([]);
  expect(await client.approve(runId, command)).toMatchObject({
    recordedFirst: true,
    signaled: true,
  });
  const view = await client.state(runId);
  expect(view.recorded).toMatchObject({
    approvals: [],
    approvedNotStarted: [{ actionId, tool: 'ask', actor: 'ada', validUntil: null }],
  });
  expect(viewLines(view)).toContain(
    `approved, not started: ${actionId}  ask, by ada: ${by.reason}`,
  );
  const deny = { ...command, id: 'too-late' };
  await expect(client.deny(runId, deny)).rejects.toThrow(/ada decided before: approve/);
  expect(await signalsTo(runId)).toEqual(['approve']);
  expect(stage.notes.get('a1')).toBe(undefined);
  await stage.startWorkers();
  expect((await client.result(runId)).end).toEqual({ kind: 'completed' });
  expect(stage.notes.get('a1')).toBe(1);
  const after = await client.state(runId);
  expect([after.recorded?.approvedNotStarted, await listed()]).toEqual([[], []]);
});
