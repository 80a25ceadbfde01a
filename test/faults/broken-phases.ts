// Four runs on one ledger that breaks while one stands at its gate, two at a result and one at its
// end; what must hold then, and once it is whole again.

import type { Client } from '@temporalio/client';
import { expect } from 'vitest';
import type { Moment } from '../support/broken-ledger.ts';
import { answerTruly } from '../support/fault-person.ts';
import { type FaultStage, until } from '../support/fault-stage.ts';
import { failedActivities } from '../support/history-failures.ts';
import { type StorageStage, said } from '../support/storage-stage.ts';

const WITHIN_MS = 60_000;
const principal = { user: 'ada', workspace: 'w1' };

export interface Breaking {
  readonly stage: StorageStage;
  readonly client: Client;
  /** Begins the ids of its runs. */
  readonly name: string;
  /** Breaks the ledger and lets the worker go on into that; returns what mends it. */
  readonly breakIt: () => () => void;
  /** The ledger's own word for it. */
  readonly code: string;
}

const first = (runId: string) => `${runId}.t1.c1`;

async function startTicket(stage: FaultStage, runId: string) {
  const steps = [{ tool: 'open_ticket', input: { subject: `The printer is offline (${runId})` } }];
  return stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

async function startLetter(stage: FaultStage, runId: string) {
  const input = { to: 'lead@example.com', subject: `Notice ${first(runId)}`, body: '' };
  const steps = [{ tool: 'post_letter', input }];
  return stage.client.start(runId, { goal: { kind: 'plan', steps }, principal });
}

async function ticketsOf(stage: FaultStage, runId: string): Promise<number> {
  return (await stage.receiver.effects()).filter(({ key }) => key.includes(`/${runId}.`)).length;
}

async function sendsOf(stage: FaultStage, runId: string): Promise<number> {
  const requests = await stage.receiver.requests();
  return requests.filter(({ kind, key }) => kind === 'execute' && key.includes(`/${runId}.`))
    .length;
}

async function lettersOf(stage: FaultStage, runId: string): Promise<number> {
  const log = await stage.gateway.log();
  return log.filter(({ mail }) => JSON.stringify(mail).includes(`Notice ${runId}.`)).length;
}

export async function playBroken({ stage, client, name, breakIt, code }: Breaking): Promise<void> {
  const runOf = (at: string) => `${name}-${at}`;
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
  const runs = [
    await startTicket(stage, gate),
    await startTicket(stage, back),
    await startTicket(stage, end),
  ];
  for (const moment of moments.slice(0, 3)) await said(worker, 'HELD', moment);
  // Last, because its time runs.
  runs.push(await startLetter(stage, gone));
  await said(worker, 'HELD', moments[3] as Moment);
  const mend = breakIt();
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
  expect([await sendsOf(stage, gate), await ticketsOf(stage, gate)]).toEqual([0, 0]);
  expect([
    await ticketsOf(stage, back),
    await ticketsOf(stage, end),
    await lettersOf(stage, gone),
  ]).toEqual([1, 1, 1]);

  mend();
  // What the receiver had said is all that is left of the result, and the person sees it.
  const question = await answerTruly(stage, first(gone));
  expect(JSON.stringify(question.evidence)).toContain(receipt.externalId);
  expect(JSON.stringify(question.evidence)).toContain(receiptDigest);
  for (const run of runs) expect((await run.result()).end).toEqual({ kind: 'completed' });
  for (const runId of [gate, back, end])
    expect([await sendsOf(stage, runId), await ticketsOf(stage, runId)]).toEqual([1, 1]);
  expect(await lettersOf(stage, gone)).toBe(1);
  const letters = await stage.ledger.read(gone);
  expect(letters.actions.get(first(gone))?.attempts).toHaveLength(1);
}
