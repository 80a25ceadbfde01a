// Would catch: an effect that comes after somebody had been told that there was none, or a second
// one beside the first, and nobody hears of it; or a step that builds on one of two outcomes.
// Counts are the receivers' own.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { ResolveCommand } from '../../core/commands.ts';
import { receiverKeyOf, unknownIdOf } from '../../core/ids.ts';
import type { Question } from '../../core/question.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, type FaultStage, openFaultStage, until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: FaultStage;
let temporal: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  temporal = new Client({ connection: await Connection.connect({ address }), namespace });
  stage = await openFaultStage(
    {
      ...{ address, namespace, bundlePath: inject('bundlePath') },
    },
    {
      // The attempt that is held at its receiver is given up by the run and lives on.
      settings: { HOLDFAST_START_TO_CLOSE_MS: '6000' },
    },
  );
  await stage.worker();
});
afterAll(async () => {
  await stage.close();
  await temporal.connection.close();
});

const add = (counter: string) => ({ tool: 'add', input: { counter, delta: 1 } });
const notice = (subject: string) => ({
  tool: 'send_notice',
  input: { to: 'lead@example.com', subject, body: 'The printer is offline' },
});

async function start(runId: string, steps: readonly object[]) {
  return stage.client.start(runId, { goal: { kind: 'plan', steps: steps as never }, principal });
}

async function sent(subject: string): Promise<number> {
  const log = await stage.gateway.log();
  return log.filter(({ mail }) => (mail as { subject: string }).subject === subject).length;
}

async function counted(counter: string): Promise<number> {
  const { counters } = (await stage.receiver.objects('add')) as {
    counters: { name: string; value: number }[];
  };
  return counters.find(({ name }) => name === counter)?.value ?? 0;
}

const held = (part: string) =>
  until(`a request of ${part} at the receiver`, WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.some(({ key }) => key.includes(part));
  });

/** What people see of the action, once it is disputed. */
async function disputed(runId: string, actionId: string) {
  const action = await until(`${actionId} is disputed`, WITHIN_MS, async () => {
    const { recorded } = await stage.client.state(runId);
    const found = recorded?.actions.find((each) => each.actionId === actionId);
    return found?.axes.disputed === true ? found : null;
  });
  const inbox = await stage.client.inbox();
  expect(inbox.disputed).toContainEqual(expect.objectContaining({ runId, actionId }));
  return action;
}

/** "No": with a coverage that says why the old request can no longer arrive, or without. */
function denied({ if_no }: Question, oldRequestCannotArrive: boolean): ResolveCommand {
  return {
    ...if_no,
    ...{ actor: 'ann@example.com', reason: 'not in the log', coverage: 'the log until now' },
    evidence: { kind: 'receiver_query', source: 'gateway log, whole' },
    oldRequestCannotArrive,
  } as ResolveCommand;
}

test('R-110 D9 D10 a late success after "no" disputes an ended run; it is settled', async () => {
  const [runId, subject] = ['denied', 'late after a no'];
  const actionId = `${runId}.t1.c1`;
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: subject });
  const run = await start(runId, [notice(subject), add(runId)]);
  const question = await asked(stage.client, actionId);
  await stage.client.resolve(runId, denied(question, false));
  expect(await run.result()).toMatchObject({
    end: { kind: 'stopped', reason: 'blocked' },
    effectsCount: 0,
  });
  expect(await sent(subject)).toBe(0);

  expect(await stage.gateway.release()).toEqual({ released: 1, statuses: [200] });
  expect(await disputed(runId, actionId)).toMatchObject({
    word: 'finished',
    attempts: [{ state: 'executed', late: true }],
  });
  const { end } = await stage.client.state(runId);
  expect(end).toMatchObject({ lateFacts: [{ actionId, outcome: 'executed' }], effectsCount: 1 });
  expect([await sent(subject), await counted(runId)]).toEqual([1, 0]);

  // Its question is open, with both outcomes; a person settles it although the run is over.
  const dispute = await until('the question about the dispute', WITHIN_MS, async () => {
    const { disputed: listed } = await stage.client.inbox();
    const found = listed.find((each) => each.actionId === actionId);
    return found?.child === 'open' ? found.question : null;
  });
  expect(dispute?.outcomes?.map(({ outcome }) => outcome)).toEqual(['executed', 'not_executed']);
  expect(dispute?.outcomes?.map(({ source }) => source)).toEqual([
    expect.stringMatching(`: attempt ${actionId}~`),
    'human: ann@example.com, receiver_query: gateway log, whole',
  ]);
  expect((await stage.client.state(runId)).recorded?.disputed).toEqual([dispute]);
  const child = temporal.workflow.getHandle(unknownIdOf(actionId));
  const answers = [dispute?.if_yes, dispute?.if_no].map((each) => JSON.stringify(each, null, 2));
  await until('both answers in its details', WITHIN_MS, async () => {
    const { currentDetails } = await child.query<Metadata>('__temporal_workflow_metadata');
    return answers.every((answer) => currentDetails.includes(answer));
  });
  await stage.client.resolve(runId, settling(dispute, 'if_yes'));
  expect(await child.result()).toMatchObject({ end: 'settled', outcome: 'executed' });
  expect(await listedAsDisputed(actionId)).toBe(false);
  expect((await stage.client.result(runId)).effects).toMatchObject([{ outcome: 'executed' }]);
  expect([await sent(subject), await counted(runId)]).toEqual([1, 0]);
});

interface Metadata {
  readonly currentDetails: string;
}

function settling(question: Question | null | undefined, answer: 'if_yes' | 'if_no') {
  return {
    ...question?.[answer],
    ...{ actor: 'grace@example.com', reason: 'looked at both' },
    evidence: { kind: 'object_observation', source: 'the mailbox itself' },
  } as ResolveCommand;
}

async function listedAsDisputed(actionId: string): Promise<boolean> {
  const { disputed: listed } = await stage.client.inbox();
  return listed.some((each) => each.actionId === actionId);
}

test('R-110 it came after a sure no: both effects show, nothing builds on them', async () => {
  const [runId, subject] = ['doubled', 'late after a sure no'];
  const actionId = `${runId}.t1.c1`;
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: subject });
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t2.c1` });
  const run = await start(runId, [notice(subject), add(runId), add(runId)]);
  const question = await asked(stage.client, actionId);
  await stage.client.resolve(runId, denied(question, true));
  await held(`${runId}.t2.c1`);
  expect(await sent(subject)).toBe(1);

  await stage.gateway.release();
  expect(await disputed(runId, actionId)).toMatchObject({
    attempts: [
      { number: 1, state: 'executed', late: true },
      { number: 2, state: 'executed', late: false },
    ],
  });
  await stage.receiver.release(`${runId}.t2.c1`);
  expect((await run.result()).end).toEqual({ kind: 'stopped', reason: 'disputed' });
  expect([await sent(subject), await counted(runId)]).toEqual([2, 1]);
});

test('R-110 a second ticket by the older request disputes the first', async () => {
  const runId = 'tickets';
  const actionId = `${runId}.t1.c1`;
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t2.c1` });
  const ticket = { tool: 'open_ticket', input: { subject: 'The scanner is offline' } };
  const run = await start(runId, [ticket, add(runId), add(runId)]);
  await held(`${runId}.t2.c1`);
  // The receiver loses what it knew of the key, door and record, before the held request goes on.
  await stage.receiver.arm({ fault: 'forget_key', on: 'inquire', keyIncludes: actionId });
  const scope = { installation: 'faults', namespace: inject('temporal').namespace };
  const key = encodeURIComponent(receiverKeyOf(scope, actionId));
  await fetch(`${stage.receiver.url}/operations/open_ticket/keys/${key}`, {
    headers: { 'Holdfast-Principal': 'w1/ada' },
  });
  expect(await stage.receiver.release(actionId)).toMatchObject({ statuses: [200] });
  const { externalId, attempts } = await disputed(runId, actionId);
  expect(attempts.map((each) => each.externalId)).toEqual(['ticket-2', 'ticket-1']);
  expect(externalId).toBe('ticket-1');

  await stage.receiver.release(`${runId}.t2.c1`);
  expect((await run.result()).end).toEqual({ kind: 'stopped', reason: 'disputed' });
  expect(await stage.receiver.objects('open_ticket')).toMatchObject({ tickets: 2 });
  expect(await counted(runId)).toBe(1);
});

test('R-039 D7 a second person’s opposite disputes it, an outdated answer does not', async () => {
  const [runId, subject] = ['two-people', 'contradicted'];
  const actionId = `${runId}.t1.c1`;
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: subject });
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t2.c1` });
  const run = await start(runId, [notice(subject), add(runId), add(runId)]);
  const question = await asked(stage.client, actionId);
  await answerAs(stage.client, question, 'yes', 'gateway log, line 1');
  await held(`${runId}.t2.c1`);
  const stale = await stage.client.resolve(runId, denied(question, true));
  expect(stale.answer).toMatchObject({ what: 'rejected' });
  const { recorded } = await stage.client.state(runId);
  const [settled] = recorded?.actions ?? [];
  expect(settled?.axes.disputed).toBe(false);

  const { recordVersion = 0 } = settled ?? {};
  const opposite = { ...denied(question, true), id: 'opposite-1', recordVersion };
  expect(await stage.client.resolve(runId, opposite)).toMatchObject({
    by: 'ledger',
    answer: { what: 'disputed' },
  });
  await disputed(runId, actionId);
  await stage.receiver.release(`${runId}.t2.c1`);
  expect((await run.result()).end).toEqual({ kind: 'stopped', reason: 'disputed' });
  expect([await sent(subject), await counted(runId)]).toEqual([1, 1]);

  // No question of it is open any more: the ledger takes the answer, of the newest record alone.
  const asking = await stage.client.question(runId, actionId);
  const answer = settling(asking, 'if_no');
  const older = { ...answer, id: 'older', recordVersion: answer.recordVersion - 1 };
  expect(await stage.client.resolve(runId, older)).toMatchObject({
    answer: { what: 'rejected', why: expect.stringContaining('look again') },
  });
  expect(await stage.client.resolve(runId, answer)).toMatchObject({
    by: 'ledger',
    answer: { what: 'applied' },
  });
  expect(await listedAsDisputed(actionId)).toBe(false);
  const after = (await stage.ledger.read(runId)).actions.get(actionId);
  expect(after).toMatchObject({ disputed: false, final: { kind: 'not_executed' } });
  expect(after?.resolutions.map(({ verb }) => verb)).toEqual([
    'confirm_executed',
    'confirm_not_executed',
    'settle_dispute',
  ]);
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 100 });
  expect(facts.findLast(({ body }) => body.kind === 'resolution')?.source).toBe('human');
});
