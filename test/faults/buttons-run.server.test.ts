// What else a page of a run offers: looks, and the pause of a whole workflow. Would catch: a look
// that changes something, and a paused run that acts.

import { expect, test } from 'vitest';
import {
  add,
  buttonsStage,
  factsOf,
  heldAt,
  hold,
  letGo,
  requestsOf,
  startPlan,
} from '../support/buttons.ts';

const at = buttonsStage();

test('R-135 queries, the stack and the metadata change nothing of a run', async () => {
  const runId = 'looked-at';
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, [add(runId, 'c1'), add(runId, 'c2')]);
  await heldAt(at, `${runId}.c1`);
  const handle = at.temporal.workflow.getHandle(runId);
  const facts = (await factsOf(at, runId)).length;
  const { historyLength } = await handle.describe();
  for (const query of ['state', '__stack_trace', '__temporal_workflow_metadata'])
    expect(await handle.query(query)).toBeTruthy();
  expect((await handle.describe()).historyLength).toBe(historyLength);
  expect(await factsOf(at, runId)).toHaveLength(facts);
  await letGo(at);
  await run.result();
  for (const name of ['c1', 'c2']) expect(await requestsOf(at, `${runId}.${name}`)).toHaveLength(1);
});

test('R-135 the pause of a whole workflow is refused by the server as it comes', async () => {
  const runId = 'paused-run';
  await hold(at, `${runId}.c1`);
  const run = await startPlan(at, runId, [add(runId, 'c1')]);
  await heldAt(at, `${runId}.c1`);
  const { namespace } = at.temporal.options;
  const about = { namespace, workflowId: runId, identity: 'operator', reason: 'test' };
  const pausing = at.temporal.workflowService.pauseWorkflowExecution(about);
  await expect(pausing).rejects.toThrow(/not enabled/);
  await letGo(at);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
});
