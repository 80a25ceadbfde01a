// Would catch: a cancel that is taken for an undo, schedules once more, or reaches no tool at work;
// and an end of one thing (the model's reply, a screen, a process, a job far away) that is taken
// for the end of another. Each of these is a fact of its own, or none.

import { expect, test } from 'vitest';
import { startChild } from '../../examples/support-desk/child.ts';
import { scheduledAfter } from '../support/after-signal.ts';
import { builtProgram } from '../support/built-program.ts';
import { caseStage } from '../support/case-stage.ts';
import { answerTruly } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import {
  heard,
  jobCalls,
  letFinish,
  REPLY_USAGE,
  started,
  stopped,
  WITHIN_MS,
  withHeldJobs,
} from '../support/late-runs.ts';
import type { ModelCall } from '../support/model-service.ts';
import { operatorOf } from '../support/operator.ts';

/** Replies that are as long in coming as a test wants, by their instructions. */
const thinking = new Map<string, (calls: readonly ModelCall[]) => void>();
const THINK = 'think of ';
const cases = caseStage((instructions, turn) =>
  instructions.startsWith(THINK)
    ? new Promise((resolve) => thinking.set(instructions, resolve))
    : jobCalls(instructions, turn),
);

const canceled = { kind: 'stopped', reason: 'canceled' };
const cancel = (runId: string) =>
  cases().stage.client.cancel(runId, { id: `cancel/${runId}`, ...stopped });
const factsOf = (runId: string, after = 0) =>
  cases().stage.ledger.facts(runId, { after, limit: 1_000 });
const kindsOf = async (runId: string, after = 0) =>
  (await factsOf(runId, after)).map(({ body, source }) => `${body.kind} by ${source}`);

function stepsOf(runId: string) {
  const add = (name: string) => ({ name, tool: 'add', input: { counter: runId + name, delta: 1 } });
  const mail = { to: 'lead@example.com', subject: `Notice ${runId}.c8 `, body: '' };
  return [add('c7'), { name: 'c8', tool: 'send_notice', input: mail }, add('c9')];
}

/** What it returns waits until c8 stands at its receiver. */
async function heldBefore(runId: string) {
  const { gateway } = cases().stage;
  const bodyIncludes = `Notice ${runId}.c8 `;
  await gateway.arm({ fault: 'hold', bodyIncludes });
  return () =>
    until(`c8 of ${runId} at the gateway`, WITHIN_MS, async () => {
      const { armed } = await gateway.faults();
      return armed.some((each) => each.bodyIncludes === bodyIncludes && each.hits > 0);
    });
}

/** c7 has happened, c8 stands at its receiver, c9 is to come. */
async function inTheMiddle(runId: string) {
  const held = await heldBefore(runId);
  const run = await cases().plan(runId, stepsOf(runId));
  await held();
  return { run, c8: `${runId}.c8`, seq: (await factsOf(runId)).length };
}

/** At each beat an attempt looks into the ledger, the last time perhaps not yet; or it is over. */
async function beatsOf(runId: string, count: number): Promise<void> {
  const operator = operatorOf(cases().temporal);
  const beats = new Set<number>();
  await until(`${count} beats of ${runId}`, WITHIN_MS, async () => {
    const atWork = await operator.pending(runId);
    for (const { heardAt } of atWork) beats.add(heardAt);
    return beats.size > count || atWork.length === 0;
  });
}

async function historyOf(runId: string) {
  const { events } = await cases().temporal.workflow.getHandle(runId).fetchHistory();
  return events ?? [];
}

test.each([
  ['by the signal', 'cancel'],
  ['by Temporal’s own cancel', 'cancel request'],
] as const)('R-122 %s: nothing new, c8 is told through the ledger, c7 stays', async (_, how) => {
  const runId = how.replace(' ', '-');
  const { run, c8, seq } = await inTheMiddle(runId);
  await (how === 'cancel' ? cancel(runId) : operatorOf(cases().temporal).cancel(runId));
  const result = await run.result();
  expect(result).toMatchObject({ end: canceled, effectsCount: 1, undone: false });
  expect(result.effects).toMatchObject([{ actionId: `${runId}.c7`, outcome: 'executed' }]);
  expect(result.unknowns).toMatchObject([{ actionId: c8, outcome: 'unknown' }]);
  expect(scheduledAfter(await historyOf(runId), how)).toEqual([]);
  // The fact comes first; the heartbeat reads it there, and the tool ends with its words.
  const facts = await factsOf(runId, seq);
  expect(facts.map(({ body }) => body)).toMatchObject([
    { kind: 'authority_changed', change: 'cancel' },
    { kind: 'action_in_doubt', actionId: c8, why: expect.stringContaining(`${runId}: canceled`) },
    { kind: 'run_ended' },
  ]);
  await cases().stage.gateway.release();
  await answerTruly(cases().stage, c8);
  expect(await cases().sent(c8)).toBe(1);
});

test('T-09 R-122 a revoke tells no tool to stop: what is at work comes to its end', async () => {
  const { run, c8 } = await inTheMiddle('let-finish');
  await cases().stage.client.revoke('let-finish', { id: 'revoke/let-finish', ...stopped });
  await heard(cases(), 'let-finish', 'revoked');
  await beatsOf('let-finish', 3);
  await cases().stage.gateway.release();
  const result = await run.result();
  expect(result).toMatchObject({ end: { reason: 'revoked' }, effectsCount: 2, unknownsCount: 0 });
  expect(result.lateFacts).toMatchObject([{ actionId: c8, outcome: 'executed', authRevision: 1 }]);
  expect(scheduledAfter(await historyOf('let-finish'), 'revoke')).toEqual([]);
});

/** A run whose model is at work on its first reply. */
async function thinks(runId: string) {
  const instructions = `${THINK}${runId}`;
  const run = await cases().start(runId, { kind: 'model', instructions });
  await until(`the model’s work for ${runId}`, WITHIN_MS, async () => thinking.has(instructions));
  const say = (calls: readonly ModelCall[]) => thinking.get(instructions)?.(calls);
  return { run, instructions, say, seq: (await factsOf(runId)).length };
}

test('R-122 K-080 K-124 model stopped: its request given up, its cost unknown', async () => {
  const { run, instructions, seq } = await thinks('model-stopped');
  expect(cases().model.abandoned(instructions)).toBe(0);
  await cancel('model-stopped');
  const result = await run.result();
  await until('the request given up', WITHIN_MS, async () => {
    return cases().model.abandoned(instructions) === 1;
  });
  expect(result).toMatchObject({ end: canceled, effectsCount: 0 });
  expect(result.cost).toMatchObject({
    ...{ atLeast: { requests: 1, inputTokens: 0, outputTokens: 0 }, unknownAttempts: 1 },
  });
  expect(result.costText).toMatch(/^at least 0 tokens in 1 requests, .*1 of unknown cost$/);
  expect(await kindsOf('model-stopped', seq)).not.toContain('attempt_settled by execution');
  expect(cases().model.asked(instructions)).toHaveLength(1);
});

test('R-108 K-080 revoked in a long model call: reply and cost are kept, no more', async () => {
  const runId = 'thinking';
  const { run, instructions, say, seq } = await thinks(runId);
  await cases().stage.client.revoke(runId, { id: `revoke/${runId}`, ...stopped });
  await heard(cases(), runId, 'revoked');
  say([{ tool: 'rent', input: { name: runId } }]);
  const result = await run.result();
  expect(result).toMatchObject({ end: { reason: 'revoked' }, effectsCount: 0, unknownsCount: 0 });
  const usage = { requests: 1, ...REPLY_USAGE };
  expect(result.cost).toMatchObject({ atLeast: usage, unknownAttempts: 0 });
  const [, reply] = await factsOf(runId, seq);
  expect(reply).toMatchObject({
    source: 'late_result',
    body: {
      ...{ kind: 'attempt_settled', actionId: `${runId}.t1.m`, outcome: 'executed' },
      ...{ revisions: { auth: 1 }, cost: { kind: 'known', usage }, calls: [{ tool: 'rent' }] },
    },
  });
  const { recorded } = await cases().stage.client.state(runId);
  expect(recorded?.actions).toMatchObject([{ attempts: [{ authRevision: 1, late: true }] }]);
  expect(await started(cases(), runId, ['rent'])).toMatchObject({ scheduled: ['t1.m'] });
  expect((await started(cases(), runId, ['rent'])).arrived).toEqual([]);
  expect(cases().model.asked(instructions)).toHaveLength(1);
  expect(cases().model.abandoned(instructions)).toBe(0);
});

test('R-122 screen closed: who follows the run is gone, and nothing is recorded', async () => {
  const runId = 'screen-closed';
  const { stage, directory } = cases();
  const c8 = await heldBefore(runId);
  const screen = await startChild({
    script: [await builtProgram('test/support/follower.ts'), runId],
    env: { ...stage.env, FOLLOWED_GOAL: JSON.stringify({ kind: 'plan', steps: stepsOf(runId) }) },
    logPath: `${directory}/screen.log`,
  });
  await screen.line('FOLLOWS', WITHIN_MS);
  await c8();
  const seq = (await factsOf(runId)).length;
  await screen.kill();
  expect(await kindsOf(runId, seq)).toEqual([]);
  await stage.gateway.release();
  const result = await stage.client.result(runId);
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  expect(await kindsOf(runId, seq)).not.toContain('authority_changed by human');
});

test('R-122 process exited: what it was at is unknown, never failed, and asked about', async () => {
  const { run, c8, seq } = await inTheMiddle('process-exited');
  const { stage } = cases();
  await (await stage.worker()).kill();
  expect(await kindsOf('process-exited', seq)).toEqual([]);
  await stage.worker();
  const { evidence } = await asked(stage.client, c8);
  expect(evidence.doubt).toContain('HEARTBEAT');
  expect(await kindsOf('process-exited', seq)).toEqual(['action_in_doubt by history']);
  const view = await stage.client.state('process-exited');
  expect(view.recorded?.actions.at(-1)).toMatchObject({ actionId: c8, word: 'unknown' });
  expect(view.recorded).toMatchObject({ revoked: false, canceled: false });
  expect(JSON.stringify(view)).not.toMatch(/fail/i);
  await stage.gateway.release();
  await answerTruly(stage, c8);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
});

test('R-122 far job: it goes on after the cancel, its end is recorded when it comes', async () => {
  const { run, jobs } = await withHeldJobs(cases(), 'far-job', ['rent']);
  const [job = ''] = jobs;
  await cancel('far-job');
  await heard(cases(), 'far-job', 'canceled');
  expect(await letFinish(cases(), job)).toMatchObject({ source: 'late_result' });
  const result = await run.result();
  expect(result).toMatchObject({ end: canceled, effectsCount: 1, undone: false });
  expect(result.lateFacts).toMatchObject([{ actionId: job, outcome: 'executed' }]);
  expect(await cases().effects(job)).toBe(1);
});
