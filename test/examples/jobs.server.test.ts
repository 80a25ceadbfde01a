// The job example with real processes. Would catch: a job that is submitted again because its
// reply, its worker or a look at it was lost, an id that is written down only once the job is done,
// and a wait that begins anew. Jobs are the job API's own list.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { BodyOf } from '../../core/facts.ts';
import { type Job, jobsFor } from '../../examples/jobs/job-log.ts';
import { jobStory } from '../../examples/jobs/story.ts';
import { openStoryStage, type StoryStage } from '../../examples/stories/stage.ts';
import { type Counted, principal } from '../../examples/stories/story.ts';
import { builtProgram } from '../support/built-program.ts';

let stage: StoryStage;
let counted: readonly Counted[];
beforeAll(async () => {
  stage = await openStoryStage(jobStory.cast, {
    existing: inject('temporal').address,
    program: builtProgram,
    say: () => undefined,
  });
});
beforeAll(async () => {
  counted = await jobStory.play(stage);
});
afterAll(() => stage.stop());

test('R-036 two jobs, their workers killed and a reply lost: two jobs, asked about', () => {
  expect(counted).toMatchObject([
    { effects: 1, settled: '1 attempt, settled by asking the receiver' },
    { effects: 1, settled: '1 attempt, settled by asking the receiver' },
  ]);
});

async function settlementOf(actionId: string) {
  const runId = actionId.split('.')[0] ?? '';
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 1_000 });
  const found = facts.findIndex(
    ({ body }) => body.kind === 'attempt_settled' && body.actionId === actionId,
  );
  const body = facts[found]?.body as BodyOf<'attempt_settled'>;
  return { body, source: facts[found]?.source, before: facts.slice(0, found), facts };
}

test('K-019 the id of a job is on record first; then three workers wait on it', async () => {
  const actionId = `${stage.runId}.sales`;
  const [job] = await jobsFor(stage.receiver, actionId);
  const { body, source, before } = await settlementOf(actionId);
  expect(source).toBe('execution');
  expect(body).toMatchObject({ outcome: 'accepted', externalId: job?.id });
  expect(before.some(({ body }) => body.kind === 'observation')).toBe(false);
});

test('R-025 a job whose reply was lost is found by its key, and its id is bound late', async () => {
  const actionId = `${stage.runId}.stock`;
  const [job] = await jobsFor(stage.receiver, actionId);
  const { body, source } = await settlementOf(actionId);
  expect(source).toBe('receiver_inquiry');
  expect(body).toMatchObject({ outcome: 'executed', externalId: job?.id });
  expect(job?.client_reference).toMatch(/^jobs\/.*\.stock$/);
});

test('K-020 R-041 three looks answered 429 are three looks more, and one job', async () => {
  const { client, receiver, until } = stage;
  const runId = `${stage.runId}-busy`;
  await receiver.arm({ fault: 'rate_limited', operation: 'status', times: 3 });
  const steps = [{ name: 'tax', tool: 'make_report', input: { report: 'Tax of May' } }];
  const run = await client.start(runId, { goal: { kind: 'plan', steps }, principal });
  const job = await until<Job>('the job', async () => {
    const [found] = await jobsFor(receiver, `${runId}.tax`);
    return found ?? null;
  });
  await receiver.post(`/jobs/${job.id}/finish`);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await jobsFor(receiver, `${runId}.tax`)).toHaveLength(1);
  const { armed } = await receiver.get<{ armed: { operation?: string; hits: number }[] }>(
    '/faults',
  );
  expect(armed.find(({ operation }) => operation === 'status')?.hits).toBe(3);
});
