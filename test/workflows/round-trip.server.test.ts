// Would catch: a step that continue-as-new loses, repeats or decides otherwise. Nothing is kept in
// memory: every workflow task replays its whole history.

import { expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import { impatientServer } from '../support/impatient-server.ts';
import { maskedRecord } from '../support/masked-record.ts';
import { factsOf, newRunId, startRun, workflowStage } from '../support/workflow-stage.ts';

const STEPS = 12;
const server = () => impatientServer(14);
const stage = workflowStage({ server, maxCachedWorkflows: 0 });
const patient = workflowStage({ maxCachedWorkflows: 0 });
const goal = {
  kind: 'plan',
  steps: Array.from({ length: STEPS }, (_, n) => ({ tool: 'charge_card', input: { n } })),
};

test('R-076 R-018 continued as new at each of 12 steps: the record is the same', async () => {
  const continued = newRunId('continued');
  const straight = newRunId('straight');
  const handle = await startRun(stage, continued, goal);
  const first = (await handle.describe()).runId;
  const results = [await handle.result(), await (await startRun(patient, straight, goal)).result()];
  for (const result of results) expect((result as RunResult).end).toEqual({ kind: 'completed' });

  const facts = await factsOf(stage, continued);
  expect(maskedRecord(continued, facts)).toEqual(
    maskedRecord(straight, await factsOf(patient, straight)),
  );
  expect(stage.effects).toEqual(goal.steps.map((_, n) => `${continued}.t${n + 1}.c1`));
  // Each execution has brought the run one step further.
  let executions = 1;
  for (let runId = first; ; executions++) {
    const { events } = await stage.client.workflow.getHandle(continued, runId).fetchHistory();
    const next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    if (next === undefined || next === null || next === '') break;
    runId = next;
  }
  expect(executions).toBe(STEPS);
}, 240_000);
