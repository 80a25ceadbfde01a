// Would catch: a run that continues as new beside an open question, and then loses the question or
// sends again what it had sent, when its worker process dies on the way.

import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { answerTruly } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { impatientServer } from '../support/impatient-server.ts';
import type { OwnServer } from '../support/workflow-stage.ts';
import { effectRows } from './harness.ts';

const REACHED_MS = 60_000;
const EVENTS = 40;

let server: OwnServer;
let stage: FaultStage;
beforeAll(async () => {
  server = await impatientServer(EVENTS);
  stage = await openFaultStage({ ...server, bundlePath: inject('bundlePath') });
});
afterAll(async () => {
  await stage.close();
  await server.stop();
});

/** The run's current execution is not its first. */
async function isContinued(runId: string): Promise<boolean> {
  const { address, namespace } = server;
  const connection = await Connection.connect({ address });
  const about = { namespace, execution: { workflowId: runId } };
  const { workflowExecutionInfo } =
    await connection.workflowService.describeWorkflowExecution(about);
  await connection.close();
  return workflowExecutionInfo?.firstRunId !== workflowExecutionInfo?.execution?.runId;
}

test('R-118 continued as new beside an open unknown, then killed: one effect each', async () => {
  const runId = 'continued';
  const [lost, late] = [`${runId}.t1.c1`, `${runId}.t9.c1`];
  const input = { to: 'lead@example.com', subject: `Notice ${lost}`, body: '' };
  const adds = Array.from({ length: 10 }, (_, n) => ({
    ...{
      tool: 'add',
      input: { counter: `${runId}-${n}`, delta: 1 },
      onUnknown: 'continue' as const,
    },
  }));
  const steps = [{ tool: 'send_notice', input, onUnknown: 'continue' as const }, ...adds];
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `Notice ${lost}` });
  stage.arm({ point: 'after_receiver_commit', actionId: late });
  const worker = await stage.worker();
  const goal = { kind: 'plan' as const, steps };
  const run = await stage.client.start(runId, {
    goal,
    principal: { user: 'ada', workspace: 'w1' },
  });
  await worker.line('REACHED ', REACHED_MS);
  await worker.kill();
  await stage.worker();
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'ended_with_unknown' }, unknownsCount: 1 });
  expect(await isContinued(runId)).toBe(true);
  await asked(stage.client, lost);
  await answerTruly(stage, lost);
  expect(await effectRows(stage, runId)).toHaveLength(steps.length);
  expect(await stage.gateway.log()).toHaveLength(1);
});
