// Starting: twice, like another one, by the screen or the command line. Would catch: a second run
// of the same task, and a start that takes over a run which somebody left.

import { expect, test } from 'vitest';
import { AGENT_RUN } from '../../workflows/messages.ts';
import {
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
import { effectRows } from './harness.ts';

const at = buttonsStage();
const effects = async (runId: string) => (await effectRows(at.stage, runId)).length;
const ann = { actor: 'ann@example.com', reason: 'nobody worked on it' };

/** `temporal workflow start`, or the screen's form: nothing of the client library is asked. */
async function startByHand(runId: string, goal: object, over: object = {}) {
  const args = [{ goal, principal, tools: null, ticket: null }];
  const { taskQueue } = await at.temporal.workflow.getHandle('twice').describe();
  return at.temporal.workflow.start(AGENT_RUN, { workflowId: runId, taskQueue, args, ...over });
}

test('R-137 R-022 started twice at once: one run, and the second call attaches to it', async () => {
  const runId = 'twice';
  const steps = [add(runId, 'c1')];
  const runs = await Promise.all([startPlan(at, runId, steps), startPlan(at, runId, steps)]);
  expect(runs.map(({ how }) => how).sort()).toEqual(['attached', 'started']);
  const [one, other] = await Promise.all(runs.map((run) => run.result()));
  expect(one).toEqual(other);
  expect((await factsOf(at, runId)).map(({ body }) => body.kind)).toEqual([
    ...['run_opened', 'attempt_entered', 'attempt_settled', 'run_ended'],
  ]);
  expect(await effects(runId)).toBe(1);
});

test('R-137 R-022 started again, running and ended: attached, its end, or refused', async () => {
  const runId = 'again';
  const steps = [add(runId, 'c1')];
  const others = [add(runId, 'c1'), add(runId, 'c2')];
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, steps);
  await heldAt(at, `${runId}.c1`);
  expect((await startPlan(at, runId, steps)).how).toBe('attached');
  await expect(startPlan(at, runId, others)).rejects.toMatchObject({ code: 'other_goal' });
  await letGo(at);
  const result = await run.result();
  const later = await startPlan(at, runId, steps);
  expect([later.how, await later.result()]).toEqual(['ended', result]);
  await expect(startPlan(at, runId, others)).rejects.toMatchObject({ code: 'other_goal' });
  expect(await effects(runId)).toBe(1);
});

test('R-022 R-135 started by hand after its end: the same end, and nothing is sent', async () => {
  const runId = 'by-hand';
  const steps = [add(runId, 'c1')];
  const run = await startPlan(at, runId, steps);
  const result = await run.result();
  const facts = (await factsOf(at, runId)).length;
  const same = await startByHand(runId, { kind: 'plan', steps });
  expect(await same.result()).toEqual(result);
  const other = await startByHand(runId, { kind: 'plan', steps: [add(runId, 'c2')] });
  await expect(other.result()).rejects.toMatchObject({ cause: { type: 'HoldfastOtherGoal' } });
  expect(await factsOf(at, runId)).toHaveLength(facts);
  expect(await requestsOf(at, `${runId}.c1`)).toHaveLength(1);
});

test('R-099 R-135 started by hand over a running one: it claims nothing, resume does', async () => {
  const runId = 'over-it';
  const steps = [notice(runId, 'c1')];
  await hold(at, `${runId}.c1`);
  await startPlan(at, runId, steps);
  await heldAt(at, `${runId}.c1`);
  const goal = { kind: 'plan', steps };
  await expect(startByHand(runId, goal)).rejects.toThrow(/already/i);
  const policy = { workflowIdConflictPolicy: 'TERMINATE_EXISTING' };
  const over = await startByHand(runId, goal, policy);
  const needsResume = { cause: { type: 'HoldfastNeedsResume' } };
  await expect(over.result()).rejects.toMatchObject(needsResume);
  const resumed = await at.stage.client.resume(runId, ann);
  await asked(at.stage.client, `${runId}.c1`);
  await letGo(at);
  expect(await resumed.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await effects(runId)).toBe(1);
});

test('R-135 “like this one” under another id, ended and running: a task of its own', async () => {
  const runId = 'like';
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, [add(runId, 'c1')]);
  await heldAt(at, `${runId}.c1`);
  await at.operator.startLike(runId, 'like-running');
  const beside = await at.stage.client.result('like-running');
  expect(beside.effects).toMatchObject([{ actionId: 'like-running.c1', outcome: 'executed' }]);
  await letGo(at);
  await run.result();
  await at.operator.startLike(runId, 'like-ended');
  expect((await at.stage.client.result('like-ended')).effectsCount).toBe(1);
  for (const id of [runId, 'like-running', 'like-ended']) expect(await effects(id)).toBe(1);
});

test('R-135 “like this one” of a run in doubt waits for the answer to the first', async () => {
  const runId = 'like-unknown';
  const actionId = `${runId}.c1`;
  await at.stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `${actionId} ` });
  const run = await startPlan(at, runId, [notice(runId, 'c1')]);
  await asked(at.stage.client, actionId);
  await at.operator.startLike(runId, 'like-unknown-2');
  await until('it waits for its twin', WITHIN_MS, async () => {
    const { live } = await at.stage.client.state('like-unknown-2');
    return live?.waitingFor?.includes(actionId) === true;
  });
  // Equal words on purpose: both runs would send the same notice.
  expect(await effects(runId)).toBe(1);
  await answerTruly(at.stage, actionId);
  await run.result();
  const other = await at.stage.client.result('like-unknown-2');
  expect(other.effects).toMatchObject([{ actionId: 'like-unknown-2.c1', outcome: 'executed' }]);
  expect(await effects(runId)).toBe(2);
});

test('R-135 “like this one” under the same id: refused, the recorded end, or resume', async () => {
  const runId = 'like-same';
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, [add(runId, 'c1')]);
  await heldAt(at, `${runId}.c1`);
  await expect(at.operator.startLike(runId, runId)).rejects.toThrow(/already/i);
  await at.operator.terminate(runId);
  await at.operator.startLike(runId, runId);
  const again = at.temporal.workflow.getHandle(runId);
  await expect(again.result()).rejects.toMatchObject({ cause: { type: 'HoldfastNeedsResume' } });
  await at.stage.client.resume(runId, ann);
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  await letGo(at);
  // With the input of the resumed one, whose ticket is used.
  await at.operator.startLike(runId, runId);
  expect(await again.result()).toMatchObject({ end: result.end, effectsCount: 1 });
  expect(await effects(runId)).toBe(1);
});
