// Would catch: an effect without its intent, or a second one, or a run that never goes on, where
// the ledger is held by another process, may only be read, or is full, right at the gate, at the
// result, or at the end. Worker and receivers are processes; errors are SQLite's own.

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { Moment } from '../support/broken-ledger.ts';
import { answerTruly } from '../support/fault-person.ts';
import { until } from '../support/fault-stage.ts';
import { failedActivities } from '../support/history-failures.ts';
import { openStorageStage, type StorageStage, said } from '../support/storage-stage.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };

let stage: StorageStage;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openStorageStage({ address, namespace, bundlePath: inject('bundlePath') });
  connection = await Connection.connect({ address });
  client = new Client({ connection, namespace });
});
afterAll(async () => {
  await connection.close();
  await stage.close();
});

type Fault = 'locked' | 'read_only' | 'full';

/** Breaks the ledger for the worker and lets it go on into that; returns what mends it. */
function broken(fault: Fault): () => void {
  const letGo = fault === 'locked' ? stage.lock() : () => stage.plan({});
  stage.plan({ state: fault === 'locked' ? 'whole' : fault });
  onTestFinished(letGo);
  return letGo;
}

const first = (runId: string) => `${runId}.t1.c1`;

async function startTicket(runId: string) {
  const steps = [{ tool: 'open_ticket', input: { subject: `The printer is offline (${runId})` } }];
  return stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

async function startLetter(runId: string) {
  const input = { to: 'lead@example.com', subject: `Notice ${first(runId)}`, body: '' };
  const steps = [{ tool: 'post_letter', input }];
  return stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

async function ticketsOf(runId: string): Promise<number> {
  return (await stage.receiver.effects()).filter(({ key }) => key.includes(`/${runId}.`)).length;
}

async function sendsOf(runId: string): Promise<number> {
  const requests = await stage.receiver.requests();
  return requests.filter(({ kind, key }) => kind === 'execute' && key.includes(`/${runId}.`))
    .length;
}

async function lettersOf(runId: string): Promise<number> {
  const log = await stage.gateway.log();
  return log.filter(({ mail }) => JSON.stringify(mail).includes(`Notice ${runId}.`)).length;
}

const faults: readonly [string, Fault, string][] = [
  ['another process holds the ledger', 'locked', 'unavailable'],
  ['the ledger may only be read', 'read_only', 'read_only'],
  ['the ledger is full', 'full', 'full'],
];

test.each(faults)(
  'R-050 R-061 R-077 %s at gate, result and end: no intent no effect, none twice, all go on',
  async (_condition, fault, code) => {
    const runOf = (at: string) => `${fault}-${at}`;
    const { gate, back, gone, end } = {
      ...{ gate: runOf('gate'), back: runOf('back'), gone: runOf('gone'), end: runOf('end') },
    };
    const moments: readonly Moment[] = [
      { phase: 'gate', id: first(gate) },
      { phase: 'result', id: first(back) },
      { phase: 'end', id: end },
      { phase: 'result', id: first(gone) },
    ];
    stage.plan({ holds: moments });
    const worker = await stage.worker();
    const runs = [await startTicket(gate), await startTicket(back), await startTicket(end)];
    for (const moment of moments.slice(0, 3)) await said(worker, 'HELD', moment);
    // Last, because its time runs.
    runs.push(await startLetter(gone));
    await said(worker, 'HELD', moments[3] as Moment);
    const mend = broken(fault);
    for (const moment of moments) expect(await said(worker, 'STRUCK', moment)).toBe(code);

    const failure = await until('the letter is given up', WITHIN_MS, async () => {
      const failed = await failedActivities(client, gone);
      return failed.find(({ id }) => id.startsWith(`${first(gone)}~`)) ?? null;
    });
    expect(failure.type).toBe('ResultNotStored');
    const receipt = { externalId: `letter of Notice ${first(gone)}`, phase: 'result' };
    expect(failure.details).toEqual([expect.objectContaining(receipt)]);
    const { receiptDigest } = failure.details[0] as { receiptDigest: string };
    expect(receiptDigest).toMatch(/^sha256:/);
    expect([await sendsOf(gate), await ticketsOf(gate)]).toEqual([0, 0]);
    expect([await ticketsOf(back), await ticketsOf(end), await lettersOf(gone)]).toEqual([1, 1, 1]);

    mend();
    // What the receiver had said is all that is left of the result, and the person sees it.
    const question = await answerTruly(stage, first(gone));
    expect(JSON.stringify(question.evidence)).toContain(receipt.externalId);
    expect(JSON.stringify(question.evidence)).toContain(receiptDigest);
    for (const run of runs) expect((await run.result()).end).toEqual({ kind: 'completed' });
    for (const runId of [gate, back, end])
      expect([await sendsOf(runId), await ticketsOf(runId)]).toEqual([1, 1]);
    expect(await lettersOf(gone)).toBe(1);
    const letters = await stage.ledger.read(gone);
    expect(letters.actions.get(first(gone))?.attempts).toHaveLength(1);
  },
);
