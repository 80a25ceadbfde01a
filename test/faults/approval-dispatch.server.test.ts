// What was approved is looked at again when it goes, by whatever worker is there then. Would catch:
// an approval that lets another tool, another policy, other bytes or yesterday's decision through,
// one that is lost with a process, and one that is used or asked for twice.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewLines } from '../../client/run-text.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import { ALL, type AuthorityStage, ann, openAuthorityStage } from '../support/authority-stage.ts';
import { until } from '../support/fault-stage.ts';
import { WITHIN_MS } from '../support/zombie-stage.ts';

let stage: AuthorityStage;
let worker: Child;
beforeAll(async () => {
  stage = await openAuthorityStage();
  worker = await stage.worker(ALL);
});
afterAll(() => stage.close());

const step = (tool: string, name: string, more: object = {}) => ({
  tool,
  input: { name, ...more },
});
const forge = (word: string) => writeFileSync(join(stage.files, 'FORGED'), word);
const forgeNothing = () => rmSync(join(stage.files, 'FORGED'));

async function asked(...runIds: readonly string[]) {
  return Promise.all(runIds.map((runId) => stage.toApprove(`${runId}.t1.c1`)));
}

async function approvedNotStarted(runId: string) {
  const { recorded } = await stage.client.state(runId);
  return recorded?.approvedNotStarted.map(({ actionId }) => actionId);
}

test('K-130 approved, then withdrawn, tightened or expired: refused when it goes', async () => {
  const runs = ['withdrawn', 'tightened', 'expired'] as const;
  await stage.begin('withdrawn', [step('stamp', 'withdrawn')]);
  await stage.begin('tightened', [step('sign_large', 'tightened', { amount: 500 })]);
  const expired = await stage.begin('expired', [step('sign_briefly', 'expired')]);
  const questions = await asked(...runs);
  await worker.kill();
  for (const question of questions)
    expect(await stage.decide('approve', question)).toMatchObject({ recordedFirst: true });
  // Over before any worker is back, by its own declaration.
  await until('its end', WITHIN_MS, async () => {
    return (await approvedNotStarted('expired'))?.length === 0;
  });
  worker = await stage.declaring({ withdrawn: ['stamp'], tighter: true });

  for (const runId of ['withdrawn', 'tightened'])
    expect((await stage.client.result(runId)).end).toEqual({
      kind: 'stopped',
      reason: 'binding_changed',
    });
  // Nobody reads that it may still start.
  for (const runId of ['withdrawn', 'tightened'])
    expect(await approvedNotStarted(runId)).toEqual([]);
  expect(await stage.refusal('withdrawn.t1.c1')).toMatch(
    /^binding_changed: stamp is not registered at this worker/,
  );
  expect(await stage.refusal('tightened.t1.c1')).toMatch(
    /^binding_changed: sign_large 1 was decided on; .* is another under the same version/,
  );
  const anew = await until('another question', WITHIN_MS, async () => {
    const [about] = await asked('expired');
    return about?.answer.id === questions[2]?.answer.id ? null : about;
  });
  expect(anew?.evidence.validForMs).toBe(3_000);
  for (const runId of runs) expect(await stage.requests(runId)).toEqual([]);
  // A person who answers whenever it asks: on a slow machine that may be more than once.
  await until('the run', WITHIN_MS, async () => {
    const about = await stage.client.approval('expired', 'expired.t1.c1');
    if (about !== null) await stage.decide('approve', about);
    return (await stage.client.state('expired')).end;
  });
  expect(await expired.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived('expired.t1.c1')).toEqual(['executed']);
});

test('K-131 K-133 other bytes than were approved are refused, the approval stays', async () => {
  const [runId, actionId] = ['rewritten', 'rewritten.t1.c1'];
  await stage.begin(runId, [step('sign', 'the honest one')]);
  const [question] = await asked(runId);
  await worker.kill();
  await stage.decide('approve', question!);
  // Between the approver and the gate something rewrites the plan on its way.
  forge('honest');
  stage.arm({ point: 'before_end', about: runId });
  worker = await stage.worker(ALL);
  await worker.line(`REACHED before_end ${runId}`, WITHIN_MS);
  expect(await stage.refusal(actionId)).toMatch(/^approval_mismatch: what was approved is not/);
  expect(await stage.requests(runId)).toEqual([]);
  await worker.kill();
  await stage.operator.terminate(runId);
  expect(await approvedNotStarted(runId)).toEqual([actionId]);

  forgeNothing();
  worker = await stage.worker(ALL);
  const resumed = await stage.client.resume(runId, ann);
  expect(await resumed.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  // An old copy of the run sends nothing more under it.
  const [eventId = 0] = await stage.operator.resetPoints(runId);
  await stage.operator.reset(runId, { eventId, excludeSignals: true });
  expect(await stage.client.result(runId)).toMatchObject({ effectsCount: 1 });
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  expect((await stage.receiver.objects('create_record')) as object).toMatchObject({
    records: expect.not.arrayContaining(['the forged one']),
  });
  expect(await stage.questions(actionId)).toBe(1);
});

test('K-134 approved while no worker can start: not started, done once one can', async () => {
  const [runId, actionId] = ['unstartable', 'unstartable.t1.c1'];
  const run = await stage.begin(runId, [step('sign', runId)]);
  const [question] = await asked(runId);
  await worker.kill();
  await stage.decide('approve', question!);
  // Whoever starts it sees why, and the approval is not used up by it.
  await expect(stage.declaring({ broken: true })).rejects.toThrow(
    /tool "sign", approval: says neither never, always nor when/,
  );
  const view = await stage.client.state(runId);
  expect(view.recorded).toMatchObject({ approvals: [], approvedNotStarted: [{ actionId }] });
  expect(viewLines(view).join('\n')).toMatch(
    /did not answer: no worker[\s\S]*approved, not started: unstartable\.t1\.c1 {2}sign, by ann/,
  );
  expect(await stage.requests(runId)).toEqual([]);

  worker = await stage.worker(ALL);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  expect(await approvedNotStarted(runId)).toEqual([]);
  expect(await stage.questions(actionId)).toBe(1);
});

test('K-137 K-139 approved, moved to a fresh worker, killed, resumed: once', async () => {
  const [runId, actionId] = ['moved', 'moved.t1.c1'];
  await stage.begin(runId, [step('sign', 'moved 1'), step('sign', 'moved 2')]);
  const [question] = await asked(runId);
  await worker.kill();
  await stage.decide('approve', question!);
  stage.arm({ point: 'before_gate', about: actionId });
  const fresh = await stage.worker(ALL);
  await fresh.line(`REACHED before_gate ${actionId}`, WITHIN_MS);
  await fresh.kill();
  await stage.operator.terminate(runId);
  expect(await approvedNotStarted(runId)).toEqual([actionId]);
  // Another answer to the same question, before anything of it has begun.
  const late = { ...question!.answer, ...ann, id: 'too-late' };
  await expect(stage.client.deny(runId, late)).rejects.toThrow(/ann@example\.com decided before/);
  worker = await stage.worker(ALL);
  const resumed = await stage.client.resume(runId, ann);

  const second = await stage.toApprove('moved.t2.c1');
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  expect(await stage.questions(actionId)).toBe(1);
  // And by an old copy of the run.
  const [eventId = 0] = await stage.operator.resetPoints(runId);
  await stage.operator.reset(runId, { eventId, excludeSignals: true });
  await stage.temporal.workflow.getHandle(runId).signal('deny', { ...late, id: 'later' });
  await until('the refusal of it', WITHIN_MS, async () => {
    return (await stage.bodies(runId, 'command_rejected')).some(
      ({ commandId }) => commandId === 'later',
    );
  });
  await stage.decide('approve', second);
  expect(await resumed.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  for (const each of [actionId, 'moved.t2.c1'])
    expect([await stage.arrived(each), await stage.questions(each)]).toEqual([['executed'], 1]);
});

test('R-095 approved by the bare signal while no workflow worker runs: done later', async () => {
  const [runId, actionId] = ['by-signal', 'by-signal.t1.c1'];
  const run = await stage.begin(runId, [step('sign', runId)]);
  const [question] = await asked(runId);
  await worker.kill();
  const others = await stage.worker(ALL.filter((queue) => queue !== 'runs'));
  const handle = stage.temporal.workflow.getHandle(runId);
  await handle.signal('approve', { ...question!.answer, ...ann });
  expect(await stage.bodies(runId, 'authority_changed')).toEqual([]);
  const runs = await stage.worker(['runs']);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.arrived(actionId)).toEqual(['executed']);
  expect(await stage.bodies(runId, 'authority_changed')).toMatchObject([{ change: 'approve' }]);
  for (const each of [others, runs]) await each.kill();
});
