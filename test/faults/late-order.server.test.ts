// Would catch: a result that overwrites the stop which came before it, a stop that overwrites the
// result, and a state that depends on which of both a replay happens to see first.
//
// Each run has two jobs: the first is raced against the stop, the second keeps the run open.

import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, inject, test } from 'vitest';
import { axesOf } from '../../core/axes.ts';
import type { End } from '../../core/fact-fields.ts';
import { runResultOf } from '../../core/run-result.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { caseStage } from '../support/case-stage.ts';
import {
  heard,
  type Jobs,
  jobCalls,
  letFinish,
  started,
  stopped,
  usageOf,
  withHeldJobs,
} from '../support/late-runs.ts';
import { moment } from '../support/signal-flood.ts';

// A replay would tell of each of its states.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const cases = caseStage(jobCalls);
const TWO: Jobs = ['rent', 'rent'];

interface Row {
  readonly stop: 'revoke' | 'cancel';
  /** `race`: 10 ms apart, and nobody waits for the other. */
  readonly first: 'stop' | 'result' | 'stop, race' | 'result, race';
}

const rows: readonly Row[] = [
  { stop: 'revoke', first: 'stop' },
  { stop: 'revoke', first: 'result' },
  { stop: 'revoke', first: 'stop, race' },
  { stop: 'cancel', first: 'stop' },
  { stop: 'cancel', first: 'result' },
  { stop: 'cancel', first: 'result, race' },
];
const words = { revoke: 'revoked', cancel: 'canceled' } as const;
const idOf = ({ stop, first }: Row) => `${stop}-${first.replaceAll(/\W+/g, '-')}`;
const endOf = ({ stop }: Row): End => ({ kind: 'stopped', reason: words[stop] });

async function play(row: Row): Promise<void> {
  const runId = idOf(row);
  const { run, jobs } = await withHeldJobs(cases(), runId, TWO);
  const [job = '', other = ''] = jobs;
  const stop = async () => {
    await cases().stage.client[row.stop](runId, { id: `stop/${runId}`, ...stopped });
    await heard(cases(), runId, words[row.stop]);
  };
  const finish = async () => void (await letFinish(cases(), job));
  const [one, two] = row.first.startsWith('stop') ? [stop, finish] : [finish, stop];
  if (row.first.endsWith('race')) await Promise.all([one(), moment(10).then(two)]);
  else {
    await one();
    await two();
  }
  await letFinish(cases(), other);
  await run.result();
}

/** From its stored bytes, by nobody who has folded them before. */
async function read(runId: string) {
  const ledger = await openSqliteLedger({ path: cases().stage.ledgerPath });
  try {
    return await ledger.read(runId);
  } finally {
    await ledger.close();
  }
}

test('K-076 R-108 result and stop in both orders: same axes, same end, nothing more', async () => {
  await Promise.all(rows.map(play));
  for (const row of rows) {
    const runId = idOf(row);
    const run = await read(runId);
    const action = run.actions.get(`${runId}.t1.c1`);
    if (action === undefined || run.ended === null) throw new Error(`${runId} is not recorded`);
    expect([runId, axesOf(run, action)]).toEqual([
      runId,
      {
        ...{ submission: 'accepted', execution: 'finished', effect: 'complete' },
        ...{ acceptance: 'not_evaluated', result: 'recorded', cost: 'known', disputed: false },
      },
    ]);
    const result = runResultOf(run, run.ended);
    expect(result).toMatchObject({ end: endOf(row), effectsCount: 2, unknownsCount: 0 });
    expect(result.cost.atLeast).toMatchObject(usageOf({ replies: 1, jobs: 2 }));
    // Attached as late where it came after, and as it came where it did not.
    const late = result.lateFacts.map(({ actionId }) => actionId).includes(action.actionId);
    if (!row.first.endsWith('race')) expect([runId, late]).toEqual([runId, row.first === 'stop']);
    expect(await started(cases(), runId, TWO)).toMatchObject({
      ...{ scheduled: ['t1.c1', 't1.c2', 't1.m'], arrived: ['t1.c1', 't1.c2'], asked: 1 },
    });
  }
});

test('K-076 replayed by another process, each order gives the same state again', async () => {
  const { stage, temporal } = cases();
  await (await stage.worker()).kill();
  await stage.worker();
  const histories = [];
  for (const row of rows) {
    const runId = idOf(row);
    const { live, end } = await stage.client.state(runId);
    expect(live).toBeNull();
    const handle = temporal.workflow.getHandle(runId);
    // No process has it in its memory: the answer is what the replay of its history gives.
    const answer = await handle.query<{ result: unknown }>('state');
    expect(answer).toMatchObject({ phase: 'ended', result: end });
    expect(end).toEqual(await handle.result());
    histories.push({ workflowId: runId, history: await handle.fetchHistory() });
  }
  const replay = { workflowBundle: { codePath: inject('bundlePath') } };
  let replayed = 0;
  for await (const { error } of Worker.runReplayHistories(replay, histories)) {
    expect(error).toBeUndefined();
    replayed++;
  }
  expect(replayed).toBe(rows.length);
});
