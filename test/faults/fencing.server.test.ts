// Would catch: a takeover that reads what the old worker came to before that one is shut out, or
// acts before it has read; an old worker that wakes up and has its effect all the same; a fence
// that is counted on where there is none; and a run that trusts a lease, a lock or a heartbeat.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { asked, until } from '../support/fault-stage.ts';
import { promiseStage, type Step, WITHIN_MS, who } from '../support/promise-stage.ts';

const at = promiseStage();
const completed = { end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 };
const pay = (account: string, tool: string): Step => ({ tool, input: { account, amount: 10 } });

let temporal: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  temporal = new Client({ connection: await Connection.connect({ address }), namespace });
});
afterAll(() => temporal.connection.close());

/** Runs whose request is held at the receiver by a worker that then says nothing any more. */
const steps: Record<string, readonly Step[]> = {
  'fence-closed': [{ tool: 'add', input: { counter: 'fence-closed', delta: 1 } }],
  'fence-refused': [pay('fence-refused', 'pay_fenced')],
  'fence-down': [{ tool: 'add', input: { counter: 'fence-down', delta: 1 } }],
  'fence-none': [
    { tool: 'record_once', input: { name: 'fence-none' } },
    { tool: 'create_record', input: { name: 'fence-none, after it' } },
  ],
  'fence-key-alone': [pay('fence-key-alone', 'credit')],
};

let frozen: Child;
let fenceIsUp: () => void;
beforeAll(async () => {
  const { stage, start, tap, worker, sends } = at();
  for (const [runId, plan] of Object.entries(steps)) {
    await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t1.c1` });
    await start(runId, ...plan);
    await until(`the request of ${runId}`, WITHIN_MS, async () => {
      return sends(`${runId}.t1.c1`).length === 1;
    });
  }
  await until('five held requests', WITHIN_MS, async () => {
    return (await stage.receiver.faults()).held.length === Object.keys(steps).length;
  });
  fenceIsUp = tap.next('fence', 'fence-down', { answer: 503 }, 999);
  // The successor hears nothing, and sends nothing, before the old request has come.
  const heard = tap.next('inquire', 'fence-refused', { answer: 503 }, 999);
  frozen = await stage.worker();
  frozen.freeze();
  await worker();
  for (const runId of Object.keys(steps)) {
    await temporal.workflow.getHandle(runId).terminate('its worker is silent');
    await stage.client.resume(runId, who);
  }
  await until('the fence', WITHIN_MS, async () => {
    return tap.wires('fence-refused').some(({ kind }) => kind === 'inquire');
  });
  await stage.receiver.release('/fence-refused.');
  heard();
});

const kindsOf = (runId: string) =>
  at()
    .tap.wires(runId)
    .map(({ kind }) => kind);

const scopesOf = async (runId: string) =>
  (await at().bodies(runId, 'run_opened')).map(({ epoch, claim }) => `${epoch} ${claim.scope}`);

const answersOf = async (runId: string) => {
  const requests = await at().stage.receiver.requests();
  return requests
    .filter(({ kind, key }) => kind === 'execute' && key.includes(`/${runId}.`))
    .map(({ sendToken, answer }) => `${sendToken?.epoch}.${sendToken?.number} ${answer}`);
};

test('B6 R-102 claim of facts, fence, question, claim of effects, effect', async () => {
  const { stage, effects } = at();
  const runId = 'fence-closed';
  expect(await stage.client.result(runId)).toMatchObject(completed);
  expect(kindsOf(runId)).toEqual(['execute', 'fence', 'close', 'execute']);
  expect(await scopesOf(runId)).toEqual(['1 effects', '2 facts', '2 effects']);
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 100 });
  const [asking, acting] = [
    facts.find(({ source }) => source === 'receiver_inquiry')?.seq,
    facts.findLast(({ body }) => body.kind === 'run_opened')?.seq,
  ];
  expect(asking).toBeLessThan(Number(acting));
  expect(await effects(`${runId}.t1.c1`)).toMatchObject([{ sendToken: { epoch: 2, number: 2 } }]);
});

test('B6 R-104 the fence is not to be had: nothing is read, facts alone', async () => {
  const { stage, effects } = at();
  const runId = 'fence-down';
  await until('two tries', WITHIN_MS, async () => {
    return kindsOf(runId).filter((kind) => kind === 'fence').length > 1;
  });
  expect(new Set(kindsOf(runId).slice(1))).toEqual(new Set(['fence']));
  expect(await scopesOf(runId)).toEqual(['1 effects', '2 facts']);
  fenceIsUp();
  expect(await stage.client.result(runId)).toMatchObject(completed);
  const kinds = kindsOf(runId).slice(1);
  expect(kinds.slice(kinds.lastIndexOf('fence'))).toEqual(['fence', 'close', 'execute']);
  expect(await effects(`${runId}.t1.c1`)).toMatchObject([{ sendToken: { epoch: 2, number: 2 } }]);
});

test('B9 R-101 the receiver knows keys alone: the same key, under the new claim', async () => {
  const { stage, effects, sends } = at();
  const runId = 'fence-key-alone';
  expect(await stage.client.result(runId)).toMatchObject(completed);
  expect(sends(`${runId}.t1.c1`)).toHaveLength(2);
  expect(await effects(`${runId}.t1.c1`)).toHaveLength(1);
});

test('R-101 R-102 frozen past its lease: its request is refused by the fence', async () => {
  const { stage, effects } = at();
  const runId = 'fence-refused';
  frozen.thaw();
  expect(await stage.client.result(runId)).toMatchObject(completed);
  expect(await answersOf(runId)).toEqual(['1.1 fenced', '2.2 executed']);
  expect(await effects(`${runId}.t1.c1`)).toMatchObject([{ sendToken: { epoch: 2, number: 2 } }]);
});

test('B10 R-102 a receiver that knows no token: no fence, what builds on it waits', async () => {
  const { stage, effects, tap } = at();
  const runId = 'fence-none';
  const next = `${runId}.t2.c1`;
  await asked(stage.client, `${runId}.t1.c1`);
  // The lease of its attempt is long over, and its workflow closed: neither is a proof.
  expect(kindsOf(runId)).not.toContain('fence');
  expect(await scopesOf(runId)).toEqual(['1 effects', '2 facts']);
  expect(tap.wires(next)).toEqual([]);
  await stage.receiver.release(`/${runId}.`);
  const both = { ...completed, effectsCount: 2 };
  expect(await stage.client.result(runId)).toMatchObject(both);
  expect(await answersOf(runId)).toEqual(['1.1 executed', '2.1 executed']);
  for (const actionId of [`${runId}.t1.c1`, next]) expect(await effects(actionId)).toHaveLength(1);
});
