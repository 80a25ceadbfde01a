// Would catch: a second wish like one that nobody can account for, sent while the first may still
// have had its effect; and one that then waits for ever. Counts are the receivers' own.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { answerAs } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const ada = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
  await stage.worker();
});
afterAll(() => stage.close());

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
