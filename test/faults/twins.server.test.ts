// Would catch: a second wish like one that nobody can account for, sent while the first may still
// have had its effect; and one that then waits for ever. Counts are the receivers' own.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { answerAs } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import { waitsAfterAnswer } from '../support/history-events.ts';

const WITHIN_MS = 60_000;
const ada = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
let temporal: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  temporal = new Client({ connection: await Connection.connect({ address }), namespace });
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
  await stage.worker();
});
afterAll(async () => {
  await stage.close();
  await temporal.connection.close();
});

/** Equal for equal subjects: the intent of two actions. */
const notice = (subject: string) => ({
  tool: 'send_notice',
  input: { to: 'lead@example.com', subject, body: 'The printer is offline' },
});
const goesOn = { onUnknown: 'continue' } as const;

const start = (runId: string, steps: readonly object[], principal = ada) =>
  stage.client.start(runId, { goal: { kind: 'plan', steps: steps as never }, principal });

async function sent(subject: string): Promise<number> {
  const log = await stage.gateway.log();
  return log.filter(({ mail }) => (mail as { subject: string }).subject === subject).length;
}

async function verdicts(runId: string, actionId: string): Promise<readonly string[]> {
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 100 });
  return facts.flatMap(({ body }) =>
    body.kind === 'attempt_refused' && body.actionId === actionId ? [body.verdict] : [],
  );
}

/** Refused by the gate, and the run says on its page what it waits for. */
async function waitsForTwin(runId: string, actionId: string, twin: string): Promise<void> {
  const waitingFor = await until(`${actionId} waits`, WITHIN_MS, async () => {
    return (await stage.client.state(runId)).live?.waitingFor ?? null;
  });
  expect(waitingFor).toContain(`${actionId}: twin_unknown: ${twin} has the same intent`);
  expect(new Set(await verdicts(runId, actionId))).toEqual(new Set(['twin_unknown']));
}

test('R-019 a twin in the same run waits for the answer, then both were sent once', async () => {
  const subject = 'twice in one run';
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject });
  const run = await start('same-run', [
    { ...notice(subject), ...goesOn },
    { ...notice(subject), ...goesOn },
  ]);
  const [first, second] = ['same-run.t1.c1', 'same-run.t2.c1'] as const;
  await waitsForTwin('same-run', second, first);
  const question = await asked(stage.client, first);
  expect(await sent(subject)).toBe(1);
  await answerAs(stage.client, question, 'yes', 'gateway log, line 1');

  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(await sent(subject)).toBe(2);
});

test('R-019 a twin in another run of the same person waits, that of another does not', async () => {
  const subject = 'once in two runs';
  await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: subject });
  const one = await start('one-run', [notice(subject)]);
  const question = await asked(stage.client, 'one-run.t1.c1');
  const other = await start('other-run', [notice(subject)]);
  await waitsForTwin('other-run', 'other-run.t1.c1', 'one-run.t1.c1');
  expect(await sent(subject)).toBe(0);
  const bobs = await start('bobs-run', [notice(subject)], { user: 'bob', workspace: 'w1' });
  expect(await bobs.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await sent(subject)).toBe(1);

  const log = await stage.gateway.log();
  await answerAs(stage.client, question, 'no', `gateway log, whole, ${log.length} lines`);
  for (const run of [one, other])
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await sent(subject)).toBe(3);
});

test('R-019 R-049 a twin that a person gave up holds nobody back, and stays unknown', async () => {
  const subject = 'given up';
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject });
  await start('given-up', [notice(subject)]);
  const { run, more } = await asked(stage.client, 'given-up.t1.c1');
  const other = await start('goes-on', [notice(subject)]);
  await waitsForTwin('goes-on', 'goes-on.t1.c1', 'given-up.t1.c1');
  const abandon = more.find(({ verb }) => verb === 'abandon');
  await stage.client.resolve(run, { ...abandon, actor: 'ann', reason: 'lost log' } as never);

  expect(await other.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await sent(subject)).toBe(2);
  const [action] = (await stage.client.state('given-up')).recorded?.actions ?? [];
  expect(action).toMatchObject({ word: 'unknown', abandoned: true });
});

test('R-019 R-039 said to be another wish, it wakes at once; its twin is in doubt', async () => {
  const subject = 'wished for twice';
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject });
  const run = await start('two-wishes', [
    { ...notice(subject), ...goesOn },
    { ...notice(subject), ...goesOn },
  ]);
  const [first, second] = ['two-wishes.t1.c1', 'two-wishes.t2.c1'] as const;
  await waitsForTwin('two-wishes', second, first);
  const question = await until('the question', WITHIN_MS, async () => {
    return (await stage.client.inbox()).twins.find((each) => each.actionId === second) ?? null;
  });
  const { recorded, live } = await stage.client.state('two-wishes');
  expect(recorded?.twins).toEqual([question]);
  expect(live?.twins).toMatchObject([{ actionId: second, twin: first, tool: 'send_notice' }]);
  expect(question.answer).toMatchObject({ verb: 'confirm_distinct', distinctFrom: first });
  const handle = temporal.workflow.getHandle('two-wishes');
  const details = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(details.currentDetails).toContain(JSON.stringify(question.answer, null, 2));

  // As pasted, based on an older record, and from somebody who names another action: refused.
  const filled = { ...question.answer, actor: 'ann@example.com', reason: 'two were ordered' };
  const answers = [
    [question.answer, 'FILL IN'],
    [{ ...filled, id: 'stale', recordVersion: 1 }, 'look again'],
    [{ ...filled, id: 'else', distinctFrom: 'given-up.t1.c1' }, `it waits for ${first}`],
  ] as const;
  for (const [answer, why] of answers)
    expect(
      await stage.client.resolve('two-wishes', answer as never, { by: 'update' }),
    ).toMatchObject({
      by: 'update',
      answer: { what: 'rejected', why: expect.stringContaining(why) },
    });
  expect(await sent(subject)).toBe(1);

  await stage.client.resolve('two-wishes', filled as never);
  expect(await run.result()).toMatchObject({
    end: { kind: 'ended_with_unknown' },
    effectsCount: 1,
  });
  expect(await sent(subject)).toBe(2);
  const history = await handle.fetchHistory();
  expect(waitsAfterAnswer(history, filled.id, `${second}, again`)).toBe(0);
  const { resolutions } = (await stage.ledger.read('two-wishes')).actions.get(second) ?? {};
  expect(resolutions).toMatchObject([
    { actor: 'ann@example.com', reason: 'two were ordered', distinctFrom: first },
  ]);
  const box = await stage.client.inbox();
  expect(box.twins.map(({ actionId }) => actionId)).not.toContain(second);
  // Its twin is still asked about.
  expect(box.questions.map(({ actionId }) => actionId)).toContain(first);
});

test('R-019 R-028 twins that are both unknown are resent by their keys, none waits', async () => {
  const runIds = ['pay-a', 'pay-b'] as const;
  const accounts = async () => {
    const { accounts } = (await stage.receiver.objects('credit')) as {
      accounts: { name: string; value: number }[];
    };
    return accounts.find(({ name }) => name === 'u9')?.value;
  };
  for (const runId of runIds) await stage.receiver.arm({ fault: 'hold', keyIncludes: runId });
  const credit = { tool: 'credit', input: { account: 'u9', amount: 10 } };
  const worker = await stage.worker();
  const runs = await Promise.all(runIds.map((runId) => start(runId, [credit])));
  await until('both requests at the receiver', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === 2;
  });
  await worker.kill();
  await stage.worker();

  for (const run of runs) expect(await run.result()).toMatchObject({ end: { kind: 'completed' } });
  // What was under way all the time meets its own record.
  expect(await stage.receiver.release()).toMatchObject({ statuses: [200, 200] });
  expect(await accounts()).toBe(120);
});
