// The windows of one step told apart, and what a crash in the middle of a long run costs.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { KillPoint } from '../../examples/support-desk/kill-points.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';

const REACHED_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

/** The notice's worker dies at `point`; what a person then sees, without what differs by run. */
async function seenAfter(point: KillPoint, runId: string) {
  const actionId = `${runId}.t1.c1`;
  stage.arm({ point, actionId });
  const worker = await stage.worker();
  const input = { to: 'lead@example.com', subject: `Notice ${actionId}`, body: '' };
  const goal = { kind: 'plan' as const, steps: [{ tool: 'send_notice', input }] };
  await stage.client.start(runId, { goal, principal });
  await worker.line(`REACHED ${point} `, REACHED_MS);
  await worker.kill();
  await stage.worker();
  const question = await asked(stage.client, actionId);
  const { recorded } = await stage.client.state(runId);
  const [action] = recorded?.actions ?? [];
  const sent = (await stage.gateway.log()).length;
  const scheduled = await scheduledAttempts(inject('temporal'), runId, actionId);
  const answers = [question.if_yes, question.if_no, ...question.more].map(({ verb }) => verb);
  const seen = {
    facts: (await stage.ledger.facts(runId, { after: 0, limit: 50 })).map(({ body }) => body.kind),
    word: action?.word,
    axes: action?.axes,
    answers,
    scheduled: scheduled.length,
  };
  return { question, seen, sent };
}

test('D2 R-005 R-047 R-056 crashed before send or after commit: the same unknown', async () => {
  const before = await seenAfter('after_gate', 'intent-only');
  const after = await seenAfter('after_receiver_commit', 'committed');
  expect([before.sent, after.sent]).toEqual([0, 1]);
  expect(after.seen).toEqual(before.seen);
  expect(before.seen).toMatchObject({ word: 'unknown', scheduled: 1 });
  await answerAs(stage.client, before.question, 'yes', 'said by the test, to let the run end');
  await answerAs(stage.client, after.question, 'yes', 'gateway log, line 1');
  for (const runId of ['intent-only', 'committed'])
    expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
});

test('R-078 a crash at step 7 of 20 costs step 7 a question and the others nothing', async () => {
  const runId = 'twenty';
  const actionId = `${runId}.t7.c1`;
  stage.arm({ point: 'after_receiver_commit', actionId });
  const worker = await stage.worker();
  const steps = Array.from({ length: 20 }, (_, index) => ({
    tool: 'create_record',
    input: { name: `step ${index + 1}` },
  }));
  const run = await stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
  await worker.line('REACHED ', REACHED_MS);
  await worker.kill();
  await stage.worker();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 20 });

  const { records } = (await stage.receiver.objects('create_record')) as { records: string[] };
  expect(records).toEqual(steps.map(({ input }) => input.name));
  const requests = (await stage.receiver.requests()).filter(({ key }) => key.includes(runId));
  const executed = requests.filter(({ kind }) => kind === 'execute');
  expect(executed).toHaveLength(20);
  expect(requests.filter(({ kind }) => kind === 'close').map(({ key }) => key)).toEqual([
    expect.stringContaining(actionId),
  ]);
});
