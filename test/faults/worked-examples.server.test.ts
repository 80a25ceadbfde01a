// The worked examples of the documents, on a real server with a real worker and a real receiver,
// each with the control that would come out otherwise. Counts are the receiver's own.

import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Json } from '../../core/digest.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';
import { send } from '../support/receiver-call.ts';

const REACHED_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };
const server = () => ({ ...inject('temporal'), bundlePath: inject('bundlePath') });

let stage: FaultStage;
beforeAll(async () => {
  stage = await openFaultStage(server(), { receiverFlags: ['--counter-initial', '10'] });
  await stage.worker();
});
afterAll(() => stage.close());

/** One step, named after the operation: its action is `<run id>.<operation>`. */
async function perform(runId: string, name: string, step: { tool: string; input: Json }) {
  const goal = { kind: 'plan' as const, steps: [{ name, ...step }] };
  const run = await stage.client.start(runId, { goal, principal });
  return run.result();
}

const keyOf = (actionId: string) =>
  receiverKeyOf({ installation: 'faults', namespace: inject('temporal').namespace }, actionId);

async function requestsOf(actionId: string) {
  const requests = await stage.receiver.requests();
  return requests.filter(({ kind, key }) => kind === 'execute' && key === keyOf(actionId));
}

async function factsOf(runId: string) {
  return stage.ledger.facts(runId, { after: 0, limit: 100 });
}

const tickets = () => stage.receiver.objects('open_ticket') as Promise<Counts>;
type Counts = { tickets: number; notifications: number };

test('R-015 R-017 R-025 ticket a17, T1 to T5 unheard, is one ticket and one notice', async () => {
  const before = await tickets();
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'desk.a17' });
  const input = { subject: 'The printer is offline' };
  const result = await perform('desk', 'a17', { tool: 'open_ticket', input });
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 });

  // T1 intent, T2 arrival, T3 stored, T4 and T5 nothing heard: unknown; then it was asked about.
  const [t1, t5, settled] = (await factsOf('desk')).slice(1, 4);
  const [t2, ...again] = await requestsOf('desk.a17');
  const t3 = (await stage.receiver.effects()).find(({ key }) => key === keyOf('desk.a17'));
  expect(t1?.body.kind).toBe('attempt_entered');
  expect(t5?.body).toMatchObject({ kind: 'action_in_doubt', actionId: 'desk.a17' });
  expect(settled).toMatchObject({ source: 'receiver_inquiry', body: { outcome: 'executed' } });
  expect(again).toEqual([]);
  // What the receiver calls it was lost with the reply, and belongs to the attempt that was sent.
  const [action] = (await stage.client.state('desk')).recorded?.actions ?? [];
  expect(t3?.externalId).toBeTruthy();
  expect(action).toMatchObject({ actionId: 'desk.a17', externalId: t3?.externalId });
  expect(settled?.body).toMatchObject({ externalId: t3?.externalId });
  const [attempt, ...others] = action?.attempts ?? [];
  expect(others).toEqual([]);
  expect(t1?.body).toHaveProperty('attemptId', attempt?.attemptId);
  expect(new Set([action?.actionId, attempt?.attemptId, action?.externalId]).size).toBe(3);
  const times = [t1?.at, t2?.at, t3?.at, t5?.at, settled?.at].map(Number);
  expect(times).toEqual(times.toSorted((a, b) => a - b));

  const after = await tickets();
  expect(after.tickets - before.tickets).toBe(1);
  expect(after.notifications - before.notifications).toBe(1);
});

test('R-017 control: a fresh id is a second ticket; deleting it takes no notice back', async () => {
  const before = await tickets();
  const input = { subject: 'The scanner is offline' };
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'naive.a17' });
  await perform('naive', 'a17', { tool: 'open_ticket', input });
  await perform('naive-again', 'a17', { tool: 'open_ticket', input });
  const twice = await tickets();
  expect(twice.tickets - before.tickets).toBe(2);

  const store = new Database(stage.receiver.store);
  store.exec('DELETE FROM ticket WHERE id = (SELECT max(id) FROM ticket)');
  store.close();
  const deleted = await tickets();
  expect(deleted.tickets - before.tickets).toBe(1);
  expect(deleted.notifications - before.notifications).toBe(2);
});

/** What the receiver is asked meanwhile, and what it then has been sent. */
const askedMeanwhile = [
  // A copy that lags: no record is no proof, and all that is left is the same key again.
  ['it says no record', 'lagging_reads', (times: number) => Array(times).fill('replayed')],
  // A question that failed never leads to a resend: it is asked again.
  ['it cannot be heard', 'commit_then_drop_reply', () => []],
] as const;

describe.each(askedMeanwhile)('asked about op-1, %s', (_when, fault, again) => {
  test.each([1, 2, 3])('R-032 R-036 its receipt lost %i times is one record', async (times) => {
    const runId = `records-${fault.replaceAll('_', '-')}-${times}`;
    const actionId = `${runId}.op-1`;
    const name = `op-1 of ${runId}`;
    const keyIncludes = actionId;
    await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes, times });
    await stage.receiver.arm({ fault, on: 'close', keyIncludes, times });
    const step = { tool: 'create_record', input: { name } };
    expect(await perform(runId, 'op-1', step)).toMatchObject({ end: { kind: 'completed' } });
    const { records } = (await stage.receiver.objects('create_record')) as { records: string[] };
    expect(records.filter((record) => record === name)).toHaveLength(1);
    const answers = (await requestsOf(actionId)).map(({ answer }) => answer);
    expect(answers).toEqual(['executed', ...again(times)]);
  });
});

async function counter(): Promise<number | undefined> {
  const { counters } = (await stage.receiver.objects('add')) as {
    counters: { name: string; value: number }[];
  };
  return counters.find(({ name }) => name === 'visits')?.value;
}

test('R-004 counter op7 goes from 10 to 11; its reply lost, it is unknown, never 12', async () => {
  const step = { tool: 'add', input: { counter: 'visits', delta: 1 } };
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'visits.op7' });
  // The receiver stays silent until somebody has seen the unknown.
  await stage.receiver.arm({ fault: 'hold', on: 'close', keyIncludes: 'visits.op7' });
  const ending = perform('visits', 'op7', step);
  await until('the question to the receiver', REACHED_MS, async () => {
    const { held } = await stage.receiver.faults();
    return held.some(({ key }) => key.endsWith('visits.op7'));
  });
  const { recorded } = await stage.client.state('visits');
  expect(recorded?.actions).toMatchObject([{ actionId: 'visits.op7', word: 'unknown' }]);
  expect(JSON.stringify(recorded)).not.toMatch(/fail/i);
  expect(await counter()).toBe(11);

  await stage.receiver.release('visits.op7');
  expect(await ending).toMatchObject({ end: { kind: 'completed' } });
  expect(await counter()).toBe(11);
  expect(await scheduledAttempts(inject('temporal'), 'visits', 'visits.op7')).toHaveLength(1);
});

test('R-017 control: op8 in the place of op7 does give 12', async () => {
  await perform('visits-again', 'op8', {
    tool: 'add',
    input: { counter: 'visits', delta: 1 },
  });
  expect(await counter()).toBe(12);
});

async function balance(at: FaultStage, account: string): Promise<number | undefined> {
  const { accounts } = (await at.receiver.objects('credit')) as {
    accounts: { name: string; value: number }[];
  };
  return accounts.find(({ name }) => name === account)?.value;
}

const k7 = (account: string, amount = 10) => ({ tool: 'credit', input: { account, amount } });

test('R-028 account u7 gets 10 under k7 once: 110, and 110 when it is repeated', async () => {
  await stage.receiver.arm({ fault: 'commit_then_drop_reply', keyIncludes: 'u7.k7' });
  expect(await perform('u7', 'k7', k7('u7'))).toMatchObject({ end: { kind: 'completed' } });
  expect(await balance(stage, 'u7')).toBe(110);
  const answers = (await requestsOf('u7.k7')).map(({ answer }) => answer);
  expect(answers).toEqual(['executed', 'replayed']);
});

test('R-019 two equal payments are two intents: both are done, and each of them once', async () => {
  const steps = ['first', 'second'].map((name) => ({ name, ...k7('u8') }));
  const run = await stage.client.start('pay-u8', { goal: { kind: 'plan', steps }, principal });
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(await balance(stage, 'u8')).toBe(120);
  for (const { name } of steps) expect(await requestsOf(`pay-u8.${name}`)).toHaveLength(1);
});

test('R-020 k7 with 20 is refused by harness and receiver, and u7 stays at 110', async () => {
  await perform('u7', 'k7', k7('u7'));
  await expect(perform('u7', 'k7', k7('u7', 20))).rejects.toMatchObject({ code: 'other_goal' });
  const call = { operation: 'credit', key: keyOf('u7.k7'), principal: 'w1/ada' };
  const reply = await send(stage.receiver.url, { ...call, input: { account: 'u7', amount: 20 } });
  expect(reply).toMatchObject({ status: 422, body: { operation_state: 'key_reused' } });
  expect(await balance(stage, 'u7')).toBe(110);
});

test('R-027 k7 is not sent again after its retention; a person is asked', async () => {
  const retention = { retentionMs: 8_000, retentionMarginMs: 2_000 };
  const short = await openFaultStage(server(), retention);
  try {
    const actionId = 'late-u7.k7';
    short.arm({ point: 'after_receiver_commit', actionId });
    const worker = await short.worker();
    const goal = { kind: 'plan' as const, steps: [{ name: 'k7', ...k7('late-u7') }] };
    const run = await short.client.start('late-u7', { goal, principal });
    await worker.line('REACHED ', REACHED_MS);
    await worker.kill();
    const entry = (await short.ledger.read('late-u7')).actions.get(actionId)?.attempts[0]?.entry;
    await until('the end of the resends', REACHED_MS, async () => {
      return Date.now() > Number(entry?.resendUntil);
    });
    await short.worker();
    const question = await asked(short.client, actionId);
    expect(await short.receiver.requests()).toHaveLength(1);
    expect(await balance(short, 'late-u7')).toBe(110);
    await answerAs(short.client, question, 'yes', 'effects of the receiver, row 1');
    expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, unknownsCount: 0 });
    expect(await balance(short, 'late-u7')).toBe(110);

    // Control: a receiver that has forgotten k7 does it again.
    await short.receiver.arm({ fault: 'forget_key', keyIncludes: actionId });
    const call = { operation: 'credit', key: keyOf(actionId), principal: 'w1/ada' };
    await send(short.receiver.url, { ...call, input: { account: 'late-u7', amount: 10 } });
    expect(await balance(short, 'late-u7')).toBe(120);
  } finally {
    await short.close();
  }
});
