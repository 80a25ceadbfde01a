// Request Cancellation, and what it is not: a retry, a resume, a replay. Would catch: a cancel that
// is taken for an undo, that loses what is still under way outside, or that starts something; and a
// step that is repeated because somebody pressed another button than he meant.

import { Connection } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, inject, test } from 'vitest';
import type { ResolveCommand } from '../../core/commands.ts';
import { AGENT_RUN } from '../../workflows/messages.ts';
import {
  actionOf,
  add,
  buttonsStage,
  factsOf,
  heldAt,
  hold,
  letGo,
  notice,
  principal,
  requestsOf,
  startPlan,
  WITHIN_MS,
} from '../support/buttons.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';
import { effectRows } from './harness.ts';

// The replay would tell of each of its states.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const at = buttonsStage();
const canceled = { kind: 'stopped', reason: 'canceled' };
const sent = async (runId: string) => (await effectRows(at.stage, runId)).length;

test('R-122 canceled in flight: c8 is told, held as unknown, and nothing is undone', async () => {
  const runId = 'canceled';
  const c8 = `${runId}.c8`;
  await hold(at, c8);
  const steps = [add(runId, 'c7'), notice(runId, 'c8'), add(runId, 'c9')];
  const run = await startPlan(at, runId, steps);
  await heldAt(at, c8);
  await at.operator.cancel(runId);

  const result = await run.result();
  expect(result).toMatchObject({ end: canceled, effectsCount: 1, undone: false });
  expect(result.effects).toMatchObject([{ actionId: `${runId}.c7`, outcome: 'executed' }]);
  expect(result.unknowns).toMatchObject([{ actionId: c8, outcome: 'unknown' }]);
  const doubt = (await factsOf(at, runId)).find(({ body }) => body.kind === 'action_in_doubt');
  expect(doubt?.body).toHaveProperty('why', expect.stringContaining(`${runId}: canceled`));
  expect(await scheduledAttempts(inject('temporal'), runId, `${runId}.c9`)).toEqual([]);

  // It was too late: the gateway goes on with what it has, and only a person can tell.
  await letGo(at);
  await answerTruly(at.stage, c8);
  await until('the answer on record', WITHIN_MS, async () => {
    return (await actionOf(at, runId, 'c8')).final !== null;
  });
  expect(await run.result()).toMatchObject({ end: canceled, effectsCount: 2, unknownsCount: 0 });
  expect(await sent(runId)).toBe(2);
});

test('R-122 canceled in flight at a receiver that closes: c8 is recorded as not done', async () => {
  const runId = 'canceled-closed';
  const c8 = `${runId}.c8`;
  await hold(at, c8);
  const run = await startPlan(at, runId, [add(runId, 'c7'), add(runId, 'c8')]);
  await heldAt(at, c8);
  await at.operator.cancel(runId);
  expect((await run.result()).end).toEqual(canceled);
  await until('the receiver’s word', WITHIN_MS, async () => {
    return (await actionOf(at, runId, 'c8')).attempts[0]?.exclusion === 'proved';
  });
  await letGo(at);
  await until('the refusal of the old request', WITHIN_MS, async () => {
    return (await requestsOf(at, c8)).length === 1;
  });
  expect(await run.result()).toMatchObject({ end: canceled, effectsCount: 1, unknownsCount: 0 });
  expect(await sent(runId)).toBe(1);
});

test('R-122 closed screen, dead process, cancel and far end are four records', async () => {
  const runId = 'four-events';
  const c8 = `${runId}.c8`;
  await hold(at, c8);
  // The screen is what started it.
  const screen = await Connection.connect({ address: inject('temporal').address });
  const { taskQueue } = await at.temporal.workflow.getHandle('canceled').describe();
  const goal = { kind: 'plan', steps: [add(runId, 'c7'), notice(runId, 'c8')] };
  const { namespace } = inject('temporal');
  const started = await at.temporal.workflow.start(AGENT_RUN, {
    ...{ workflowId: runId, taskQueue, args: [{ goal, principal, tools: null, ticket: null }] },
  });
  await screen.workflowService.describeWorkflowExecution({
    ...{ namespace, execution: { workflowId: runId } },
  });
  await heldAt(at, c8);
  const kinds = async () => (await factsOf(at, runId)).map(({ body }) => body.kind);
  const before = await kinds();
  await screen.close();
  expect(await kinds()).toEqual(before);

  await (await at.stage.worker()).kill();
  await letGo(at);
  await until('the far end has it', WITHIN_MS, async () => (await sent(runId)) === 2);
  expect(await kinds()).toEqual(before);
  await at.stage.worker();
  await asked(at.stage.client, c8);
  const dead = (await factsOf(at, runId)).slice(before.length).map(({ body }) => body);
  expect(dead).toMatchObject([{ kind: 'action_in_doubt', why: 'timeout HEARTBEAT' }]);

  await at.operator.cancel(runId);
  expect(await started.result()).toMatchObject({ end: canceled, unknownsCount: 1 });
  await answerTruly(at.stage, c8);
  await until('the answer on record', WITHIN_MS, async () => {
    return (await actionOf(at, runId, 'c8')).final !== null;
  });
  expect((await kinds()).slice(before.length)).toEqual([
    'action_in_doubt',
    'authority_changed',
    'run_ended',
    'resolution',
  ]);
});

/** At event 20: c7 has succeeded, c8 is under way outside. */
async function atEvent20(runId: string) {
  const done = ['a1', 'a2', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];
  const c8 = `${runId}.c8`;
  await hold(at, c8);
  const steps = [...done.map((name) => add(runId, name)), notice(runId, 'c8'), add(runId, 'c9')];
  const run = await startPlan(at, runId, steps);
  await heldAt(at, c8);
  const facts = await factsOf(at, runId);
  expect(facts).toHaveLength(20);
  expect(facts[18]?.body).toMatchObject({ kind: 'attempt_settled', actionId: `${runId}.c7` });
  expect(facts[19]?.body).toMatchObject({ kind: 'attempt_entered', actionId: c8 });
  return { run, c8, c7: `${runId}.c7` };
}

function retryOf(actionId: string, recordVersion: number): ResolveCommand {
  return {
    ...{ id: `retry/${actionId}`, actor: 'ann@example.com', reason: 'the screen went dark' },
    ...{ actionId, recordVersion, verb: 'authorize_retry', acceptsPossibleDuplicate: false },
  };
}

test('R-107 at event 20 retry, replay and resume never repeat c7, cancel keeps c8', async () => {
  const runId = 'event-20';
  const { run, c7, c8 } = await atEvent20(runId);
  const { client } = at.stage;

  // Retry asks whether the receiver de-duplicates; c7 is final, and c8 promises nothing.
  for (const [actionId, why] of [
    [c7, 'its outcome is final'],
    [c8, 'does not de-duplicate'],
  ] as const) {
    const { recordVersion } = await actionOf(at, runId, actionId.slice(runId.length + 1));
    const { answer } = await client.resolve(runId, retryOf(actionId, recordVersion));
    expect(answer).toEqual({ what: 'rejected', why: expect.stringContaining(why) });
  }

  // Replay rebuilds what was decided, and sends nothing.
  const requests = (await at.stage.receiver.requests()).length;
  const history = await at.temporal.workflow.getHandle(runId).fetchHistory();
  const workflowBundle = { codePath: inject('bundlePath') };
  await Worker.runReplayHistory({ workflowBundle }, history, runId);
  expect((await at.stage.receiver.requests()).length).toBe(requests);

  // Resume is refused while it runs; after Terminate it goes on from what is recorded.
  const ann = { actor: 'ann@example.com', reason: 'the screen went dark' };
  await expect(client.resume(runId, ann)).rejects.toMatchObject({ code: 'still_open' });
  await at.operator.terminate(runId);
  const resumed = await client.resume(runId, ann);
  await asked(client, c8);
  expect((await at.stage.receiver.requests()).length).toBe(requests);

  // Cancel ends it; c8 stays unknown until it is known.
  await at.operator.cancel(runId);
  const result = await resumed.result();
  expect(result).toMatchObject({ end: canceled, effectsCount: 9, undone: false });
  expect(result.unknowns).toMatchObject([{ actionId: c8 }]);
  await letGo(at);
  await answerTruly(at.stage, c8);
  await until('the answer on record', WITHIN_MS, async () => {
    return (await actionOf(at, runId, 'c8')).final !== null;
  });
  expect(await run.result()).toMatchObject({ end: canceled, effectsCount: 10, unknownsCount: 0 });
  expect(await requestsOf(at, c7)).toHaveLength(1);
  expect(await sent(runId)).toBe(10);
});
