// Would catch: a result that is dropped because nobody waits for it any more, that is filed under
// another permission than its job was decided under, or that sets something going: the next call,
// the model, a resend. Beside each scene is its twin that nobody stopped: there it does go on.

import { expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import { JOB_USAGE } from '../support/billed-tools.ts';
import { caseStage } from '../support/case-stage.ts';
import { asked, until } from '../support/fault-stage.ts';
import {
  detailsOf,
  heard,
  type Jobs,
  jobCalls,
  letFinish,
  started,
  stopped,
  usageOf,
  WITHIN_MS,
  withHeldJobs,
} from '../support/late-runs.ts';
import { operatorOf } from '../support/operator.ts';

const cases = caseStage(jobCalls);
const ONE: Jobs = ['rent'];
const BRIEF: Jobs = ['rent_briefly'];
const BOTH: Jobs = ['rent_briefly', 'rent'];

const revoked = { kind: 'stopped', reason: 'revoked' };
const revoke = (runId: string) =>
  cases().stage.client.revoke(runId, { id: `revoke/${runId}`, ...stopped });
const terminate = (runId: string) => operatorOf(cases().temporal).terminate(runId);
const resume = (runId: string) => cases().stage.client.resume(runId, stopped);
const of = (runId: string, jobs: Jobs) => withHeldJobs(cases(), runId, jobs);

/** Nobody waits for it any more: its start-to-close, or the end of its run, has passed. */
async function inDoubt(actionId: string) {
  const question = await asked(cases().stage.client, actionId);
  expect(question.evidence.authRevision).toBe(1);
  return question;
}

/** The question has ended by itself, and says how. */
async function questionSettled(actionId: string) {
  const child = cases().temporal.workflow.getHandle(`unknown.${actionId}`);
  expect(await child.result()).toEqual({ actionId, end: 'settled', outcome: 'executed' });
}

/** The fact of the result, under the revision its job was decided under, with what it cost. */
async function finishesUnder(actionId: string, source: 'late_result' | 'execution') {
  const fact = await letFinish(cases(), actionId);
  expect(fact).toMatchObject({
    source,
    body: {
      ...{ outcome: 'executed', revisions: { goal: 1, auth: 1 } },
      cost: { kind: 'known', usage: JOB_USAGE },
    },
  });
  return fact.seq;
}

/** In `holdfast state`, and in the answer of the run. */
async function shownAsLate(runId: string, actionId: string, result: RunResult) {
  const view = await cases().stage.client.state(runId);
  expect(view).toMatchObject({ phase: 'ended', recorded: { revoked: true, authRevision: 2 } });
  expect(view.recorded?.actions.find((action) => action.actionId === actionId)).toMatchObject({
    ...{ word: 'finished', cost: { atLeast: JOB_USAGE, unknownAttempts: 0 } },
    axes: { effect: 'complete', result: 'recorded', cost: 'known', disputed: false },
    attempts: [{ state: 'executed', authRevision: 1, late: true }],
  });
  const line = { actionId, tool: expect.any(String), outcome: 'executed', authRevision: 1 };
  expect(result).toMatchObject({ end: revoked, undone: false, unknownsCount: 0 });
  expect(result.effects).toContainEqual(expect.objectContaining(line));
  expect(result.lateFacts).toContainEqual(expect.objectContaining(line));
  expect(view.end).toEqual(result);
}

/** Everything that could start something has ended by now. */
async function startedNothing(runId: string, jobs: Jobs, since: number) {
  const arrived = jobs.map((_, index) => `t1.c${index + 1}`);
  const seen = await started(cases(), runId, jobs);
  // Nothing at all where the run that is looked at is the one that was resumed.
  const scheduled = seen.scheduled.length === 0 ? [] : [...arrived, 't1.m'];
  expect(seen).toEqual({ scheduled, arrived, asked: 1 });
  const later = await cases().stage.ledger.facts(runId, { after: since, limit: 1_000 });
  expect(later.filter(({ body }) => body.kind === 'attempt_entered')).toEqual([]);
}

/** Its twin: the model is told, and what it then wants is done. */
async function wentOn(runId: string, jobs: Jobs, result: RunResult) {
  expect(result).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
  expect(result.effectsCount).toBe(jobs.length + 1);
  const { arrived, asked: times } = await started(cases(), runId, jobs);
  expect([arrived.at(-1), times]).toEqual(['t2.c1', 3]);
  expect(result.cost.atLeast).toMatchObject(usageOf({ replies: 3, jobs: jobs.length + 1 }));
}

test.concurrent('R-108 R-110 after a revoke: kept as it was, the model is not told', async () => {
  const [late, twin] = await Promise.all([of('revoked', ONE), of('let-be', ONE)]);
  const [job = ''] = late.jobs;
  await revoke('revoked');
  await heard(cases(), 'revoked', 'revoked');
  const since = await finishesUnder(job, 'late_result');
  const result = await late.run.result();
  await shownAsLate('revoked', job, result);
  expect(result.cost.atLeast).toMatchObject(usageOf({ replies: 1, jobs: 1 }));
  await startedNothing('revoked', ONE, since);
  const details = await detailsOf(cases(), 'revoked');
  expect(details).toContain('Authority revision 2.');
  expect(details).toContain(`- late: ${job}, executed, under authority revision 1`);

  await finishesUnder('let-be.t1.c1', 'execution');
  await wentOn('let-be', ONE, await twin.run.result());
});

test.concurrent('R-108 R-110 after start-to-close: kept, while another is at work', async () => {
  const [late, twin] = await Promise.all([of('timed-out', BOTH), of('awaited', BOTH)]);
  const [brief = '', other = ''] = late.jobs;
  await Promise.all([inDoubt(brief), inDoubt('awaited.t1.c1')]);
  await revoke('timed-out');
  await heard(cases(), 'timed-out', 'revoked');
  const since = await finishesUnder(brief, 'late_result');
  // The run is open, and has heard of it: its other job is still held.
  await questionSettled(brief);
  expect((await cases().stage.client.state('timed-out')).phase).toBe('open');
  await finishesUnder(other, 'late_result');
  const result = await late.run.result();
  for (const job of late.jobs) await shownAsLate('timed-out', job, result);
  await startedNothing('timed-out', BOTH, since);

  await finishesUnder('awaited.t1.c1', 'late_result');
  await finishesUnder('awaited.t1.c2', 'execution');
  await wentOn('awaited', BOTH, await twin.run.result());
});

test.concurrent('R-110 after the end: kept beside an end that stays as it is', async () => {
  const late = await of('over', BRIEF);
  const [job = ''] = late.jobs;
  await inDoubt(job);
  await revoke('over');
  const before = await late.run.result();
  expect(before).toMatchObject({ end: revoked, effectsCount: 0, unknownsCount: 1 });
  expect(before.unknowns).toMatchObject([{ actionId: job, authRevision: 1 }]);
  await inDoubt(job);

  const since = await finishesUnder(job, 'late_result');
  await questionSettled(job);
  const after = await late.run.result();
  await shownAsLate('over', job, after);
  expect(after.cost.atLeast).toMatchObject(usageOf({ replies: 1, jobs: 1 }));
  await startedNothing('over', BRIEF, since);
});

test.concurrent('R-108 R-110 after Terminate: kept without its run, starts nothing', async () => {
  const [late] = await Promise.all([of('gone', ONE), of('gone-on', ONE)]);
  const [job = ''] = late.jobs;
  for (const runId of ['gone', 'gone-on']) await terminate(runId);
  expect(await revoke('gone')).toMatchObject({ recordedFirst: true, signaled: false });
  const since = await finishesUnder(job, 'late_result');
  const { phase, recorded } = await cases().stage.client.state('gone');
  expect(phase).toBe('needs_resume');
  expect(recorded?.actions.at(-1)?.attempts).toMatchObject([{ authRevision: 1, late: true }]);
  const resumed = await resume('gone');
  await shownAsLate('gone', job, await resumed.result());
  await startedNothing('gone', ONE, since);

  // Nothing goes on by itself; what a person resumes is told.
  const alone = await finishesUnder('gone-on.t1.c1', 'execution');
  await startedNothing('gone-on', ONE, alone);
  await wentOn('gone-on', ONE, await (await resume('gone-on')).result());
});

test.concurrent('R-108 R-110 after a resume: kept under the claim that it began in', async () => {
  const [late] = await Promise.all([of('resumed', ONE), of('taken-over', ONE)]);
  const [job = ''] = late.jobs;
  for (const runId of ['resumed', 'taken-over']) await terminate(runId);
  const [run, twin] = await Promise.all([resume('resumed'), resume('taken-over')]);
  await Promise.all([inDoubt(job), inDoubt('taken-over.t1.c1')]);
  await revoke('resumed');
  expect(await run.result()).toMatchObject({ end: revoked, unknownsCount: 1 });
  const since = await finishesUnder(job, 'late_result');
  await questionSettled(job);
  await shownAsLate('resumed', job, await run.result());
  const { opened, actions } = await cases().stage.ledger.read('resumed');
  expect(opened?.epoch).toBe(2);
  expect(actions.get(job)?.attempts.map(({ entry }) => entry.sendToken.epoch)).toEqual([1]);
  await startedNothing('resumed', ONE, since);

  await finishesUnder('taken-over.t1.c1', 'late_result');
  const result = await until('its end', WITHIN_MS, () => twin.result());
  await wentOn('taken-over', ONE, result);
});
