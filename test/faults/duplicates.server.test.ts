// Cases from the field in which something was done again. Would catch: a resume, a rerun, a second
// start or a sibling's pause that repeats an effect. Counts are the receivers' own.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { caseStage } from '../support/case-stage.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';

const WITHIN_MS = 60_000;
const letter = (subject: string) => ({ to: 'lead@example.com', subject, body: 'Hello' });

const cases = caseStage((instructions, turn) => {
  if (turn > 1) return [];
  const [first, second] = [`first of ${instructions}`, `second of ${instructions}`];
  return [
    { tool: 'send_notice', input: letter(first) },
    { tool: 'send_notice', input: letter(second) },
    { tool: 'open_ticket', input: { subject: instructions } },
  ];
});

/** All of them stand still at the point; then the one process that does is killed. */
async function killedAt(point: 'after_receiver_commit', actionIds: readonly string[]) {
  const { stage } = cases();
  const worker = await stage.worker();
  for (const _ of actionIds) await worker.line(`REACHED ${point} `, WITHIN_MS);
  await worker.kill();
}

test('K-002 killed after the commit: one effect, whatever is found of it afterwards', async () => {
  const { stage, plan, effects, requests, directory } = cases();
  const created = (name: string) => ({ tool: 'create_once', input: { name } });
  const steps = {
    'k2-found': { tool: 'open_ticket', input: { subject: 'found' } },
    'k2-hidden': created('hidden'),
    'k2-other': { tool: 'create_file', input: { path: 'k2.txt', content: 'ours' } },
    'k2-revoked': created('revoked'),
  };
  const actionIds = Object.keys(steps).map((runId) => `${runId}.t1.c1`);
  for (const actionId of actionIds) stage.arm({ point: 'after_receiver_commit', actionId });
  for (const [runId, step] of Object.entries(steps)) await plan(runId, [step]);
  await killedAt('after_receiver_commit', actionIds);
  await stage.receiver.arm({ fault: 'lagging_reads', keyIncludes: 'k2-hidden', times: 1 });
  rmSync(join(directory, 'k2.txt'));
  writeFileSync(join(directory, 'k2.txt'), 'of somebody else');
  const who = { actor: 'ann@example.com', reason: 'the order was withdrawn' };
  await stage.client.revoke('k2-revoked', { id: 'k2', ...who, keep: ['query'] });
  await stage.worker();

  // a: the receipt is there. b: hidden from the first look, found by a later one.
  for (const runId of ['k2-found', 'k2-hidden'])
    expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
  const looks = await stage.ledger.facts('k2-hidden', { after: 0, limit: 50 });
  expect(looks.map(({ body }) => ('verdict' in body ? body.verdict : body.kind))).toEqual([
    ...['run_opened', 'attempt_entered', 'action_in_doubt', 'no_record'],
    ...['attempt_settled', 'run_ended'],
  ]);
  // d: looked up, which the revocation still allows, and filed under its own revision.
  expect(await stage.client.result('k2-revoked')).toMatchObject({
    end: { kind: 'stopped', reason: 'revoked' },
    effects: [{ actionId: 'k2-revoked.t1.c1', outcome: 'executed', authRevision: 1 }],
  });
  // c: another file is there, and nobody can tell whether it took the place of ours. A person is
  // asked, and nothing is written again.
  const question = await asked(stage.client, 'k2-other.t1.c1');
  await until('the look at the file', WITHIN_MS, async () => {
    const { lastAnswer } =
      (await stage.client.question('k2-other', 'k2-other.t1.c1'))?.evidence ?? {};
    return lastAnswer?.includes('written and replaced since') === true;
  });
  expect(readFileSync(join(directory, 'k2.txt'), 'utf8')).toBe('of somebody else');
  await answerAs(stage.client, question, 'yes', 'the backup of the directory');
  expect(await stage.client.result('k2-other')).toMatchObject({ end: { kind: 'completed' } });
  for (const runId of ['k2-found', 'k2-hidden', 'k2-revoked']) {
    expect(await effects(`${runId}.t1.c1`)).toBe(1);
    expect(await requests(`${runId}.t1.c1`)).toEqual(['executed']);
  }
});

test.each([
  ['given up', 0],
  ['let go', 1],
] as const)(
  'K-086 of a batch the first is answered, the second is %s: no sibling again',
  async (how, more) => {
    const { stage, start, sent, effects, kinds, model } = cases();
    const runId = `batch-${more}`;
    await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: `first of ${runId}` });
    await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: `second of ${runId}` });
    const run = await start(runId, { kind: 'model', instructions: runId });
    const [first, second] = [`${runId}.t1.c1`, `${runId}.t1.c2`];
    const [one, two] = [await asked(stage.client, first), await asked(stage.client, second)];
    await answerAs(stage.client, one, 'yes', 'gateway log');
    await until('the first answer', WITHIN_MS, async () => {
      return (await kinds(runId, first)).includes('resolution');
    });
    for (let kills = 0; kills <= more; kills++) {
      await (await stage.worker()).kill();
      await stage.worker();
    }
    if (how === 'let go') await answerAs(stage.client, two, 'no', 'gateway log, whole');
    else {
      const abandon = two.more.find(({ verb }) => verb === 'abandon');
      const who = { actor: 'ann@example.com', reason: 'too late for it' };
      await stage.client.resolve(runId, { ...abandon, ...who } as never);
    }
    const { end } = await run.result();
    expect(end).toEqual({ kind: more === 0 ? 'ended_with_unknown' : 'completed' });
    expect(await sent(`first of ${runId}`)).toBe(1);
    expect(await sent(`second of ${runId}`)).toBe(more);
    expect(await effects(`${runId}.t1.c3`)).toBe(1);
    // One record of the doubt, and the answer beside it; the calls were proposed once.
    expect(await kinds(runId, first)).toEqual(['attempt_entered', 'action_in_doubt', 'resolution']);
    expect((await kinds(runId, second)).slice(0, 3)).toEqual(await kinds(runId, first));
    expect(model.asked(runId)).toHaveLength(1 + more);
    const told =
      model
        .asked(runId)
        .at(-1)
        ?.filter(({ role }) => role === 'tool') ?? [];
    expect(told.map(({ tool_call_id: id }) => id)).toEqual(
      more === 0 ? [] : ['call_t1_c1', 'call_t1_c2', 'call_t1_c3'],
    );
  },
);

test('K-008 K-017 rerun after step 3 failed: a resume does that one, a start nothing', async () => {
  const { stage, temporal, plan, effects, requests } = cases();
  const record = (name: string) => ({ tool: 'create_record', input: { name } });
  const tooMuch = { tool: 'credit', input: { account: 'k8', amount: -1_000 } };
  const steps = [record('k8 one'), record('k8 two'), tooMuch];
  const first = await plan('k8-refused', steps);
  expect(await first.result()).toMatchObject({ end: { kind: 'stopped', reason: 'blocked' } });
  const again = await plan('k8-refused', steps);
  expect(again.how).toBe('ended');
  expect(await again.result()).toEqual(await first.result());
  await expect(
    stage.client.resume('k8-refused', { actor: 'ann', reason: 'press rerun' }),
  ).rejects.toMatchObject({ code: 'already_ended' });

  const [one, two, three] = ['t1', 't2', 't3'].map((turn) => `k8-killed.${turn}.c1`) as [
    string,
    string,
    string,
  ];
  stage.arm({ point: 'before_gate', actionId: three });
  const worker = await stage.worker();
  await plan('k8-killed', [record('k8 three'), record('k8 four'), record('k8 five')]);
  await worker.line('REACHED before_gate ', WITHIN_MS);
  await temporal.workflow.getHandle('k8-killed').terminate();
  await worker.kill();
  await stage.worker();
  const who = { actor: 'ann@example.com', reason: 'press rerun' };
  const resumed = await stage.client.resume('k8-killed', who);
  expect(await resumed.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  for (const actionId of [one, two, three]) expect(await requests(actionId)).toEqual(['executed']);
  for (const turn of ['t1', 't2']) expect(await effects(`k8-refused.${turn}.c1`)).toBe(1);
});

test('K-010 no key: a dropped reply is asked about, with a lookup it is found', async () => {
  const { stage, plan, sent, requests } = cases();
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: 'K-010' });
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'k10-looked-up' });
  const blind = await plan('k10-blind', [{ tool: 'send_notice', input: letter('K-010') }]);
  const looked = await plan('k10-looked-up', [{ tool: 'create_once', input: { name: 'K-010' } }]);
  expect(await looked.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await requests('k10-looked-up.t1.c1')).toEqual(['executed']);
  const question = await asked(stage.client, 'k10-blind.t1.c1');
  expect(await sent('K-010')).toBe(1);
  await answerAs(stage.client, question, 'yes', 'gateway log');
  expect(await blind.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await scheduledAttempts(inject('temporal'), 'k10-blind', 'k10-blind.t1.c1')).toHaveLength(
    1,
  );
  expect(await sent('K-010')).toBe(1);
});

test('K-011 a call that kills its worker is looked up afterwards: one restart', async () => {
  const { stage, plan, directory } = cases();
  writeFileSync(join(directory, 'starts'), '1');
  const worker = await stage.worker();
  const run = await plan('k11', [{ tool: 'restart_worker', input: { startsBefore: 1 } }]);
  await until('the death of the worker', WITHIN_MS, async () => worker.hasEnded());
  await stage.worker();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(readFileSync(join(directory, 'starts'), 'utf8')).toBe('2');
});

test('K-013 the same start twice is one run, with another body it is refused', async () => {
  const { plan, requests } = cases();
  const step = (name: string) => [{ tool: 'create_record', input: { name } }];
  const both = await Promise.all([plan('k13', step('one')), plan('k13', step('one'))]);
  const [first, second] = await Promise.all(both.map((run) => run.result()));
  expect(first).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(second).toEqual(first);
  await expect(plan('k13', step('two'))).rejects.toMatchObject({ code: 'other_goal' });
  expect(await requests('k13.t1.c1')).toEqual(['executed']);
});

test('K-047 a declined call is made once, whatever may be tried again', async () => {
  const { plan, requests } = cases();
  const run = await plan('k47', [{ tool: 'credit', input: { account: 'k47', amount: -1_000 } }]);
  expect(await run.result()).toMatchObject({ end: { kind: 'stopped', reason: 'blocked' } });
  expect(await requests('k47.t1.c1')).toEqual(['rejected']);
  expect(await scheduledAttempts(inject('temporal'), 'k47', 'k47.t1.c1')).toHaveLength(1);
});
