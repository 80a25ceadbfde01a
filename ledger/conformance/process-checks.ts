// Checks with other processes: writers that are killed, and writers at the same time.

import { strict as assert } from 'node:assert';
import type { Check, LedgerAdapter } from '../conformance.ts';
import type { Ledger } from '../port.ts';
import { attemptOf } from './sample-facts.ts';
import type { Acknowledged } from './writer.ts';
import { WriterProcess } from './writer-process.ts';

const RUN = 'invoice-42';
const KILLS = 3;
const COMMITS_BEFORE_KILL_MAX = 40;
/** Far more than a writer gets to before it is killed. */
const ENDLESS = 100_000;
const RACERS = 4;
const RACE_STEPS = 25;

export const processChecks: readonly Check[] = [
  {
    name: 'INV-2 R-061 every commit a killed writer had acknowledged is there, and the run goes on',
    run: killing,
  },
  {
    name: `INV-1 INV-4 INV-5 of ${RACERS} processes one enters each attempt, and all line up`,
    run: racing,
  },
];

/** Each writer begins at the first step again: it finds what the ones before it have left. */
async function killing(adapter: LedgerAdapter, random: () => number): Promise<void> {
  const location = await adapter.newLocation();
  const acknowledged: Acknowledged[] = [];
  for (let round = 1; round <= KILLS; round++) {
    const fresh = await killedWriter(adapter, location, acknowledged.length, random);
    acknowledged.push(...fresh);
    const ledger = await adapter.open(location);
    await assertAllThere(ledger, acknowledged);
    await ledger.close();
  }
}

async function racing(adapter: LedgerAdapter): Promise<void> {
  const location = await adapter.newLocation();
  const writers = Array.from(
    { length: RACERS },
    () => new WriterProcess(adapter.writerProcess(location)),
  );
  try {
    await Promise.all(writers.map((writer) => writer.ready()));
    assertOneEnters(await race(writers, () => 1));
    const commits = await race(writers, (index) => 1 + RACE_STEPS * (index + 1));
    await Promise.all(writers.map((writer) => writer.finish()));
    const ledger = await adapter.open(location);
    assertSerial(commits, 1 + 2 * RACE_STEPS);
    assert.equal((await ledger.read(RUN)).head.count, 1 + 2 * RACE_STEPS * (1 + RACERS));
    await assertAllThere(ledger, commits);
    await ledger.close();
  } finally {
    await Promise.all(writers.map((writer) => writer.kill()));
  }
}

/** All work at once, each from its own step on. */
async function race(
  writers: readonly WriterProcess[],
  from: (index: number) => number,
): Promise<Acknowledged[]> {
  writers.forEach((writer, index) => {
    const entryToken = `token-${index}`;
    writer.order({ runId: RUN, from: from(index), count: RACE_STEPS, entryToken });
  });
  return (await Promise.all(writers.map((writer) => writer.commits()))).flat();
}

function assertOneEnters(commits: readonly Acknowledged[]): void {
  for (let step = 1; step <= RACE_STEPS; step++) {
    const mine = commits.filter((commit) => commit.step === step && commit.entryToken !== null);
    assert.equal(mine.length, RACERS);
    assert.equal(mine.filter((commit) => commit.did === 'entered').length, 1, 'one enters');
    assert.equal(new Set(mine.map((commit) => commit.entryToken)).size, 1, 'all see its token');
  }
}

function assertSerial(commits: readonly Acknowledged[], begin: number): void {
  let end = begin;
  for (const commit of commits.toSorted((a, b) => a.saw - b.saw)) {
    assert.equal(commit.saw, end, 'a commit falls between a decision and what it wrote');
    end = commit.head.count;
  }
}

/** The commits it acknowledged, those in the pipe when it died among them. */
async function killedWriter(
  adapter: LedgerAdapter,
  location: string,
  known: number,
  random: () => number,
): Promise<Acknowledged[]> {
  const writer = await new WriterProcess(adapter.writerProcess(location)).ready();
  const commits: Acknowledged[] = [];
  try {
    writer.order({ runId: RUN, from: 1, count: ENDLESS, entryToken: 'first' });
    const enough = known + 1 + Math.floor(random() * COMMITS_BEFORE_KILL_MAX);
    while (commits.length < enough) {
      const commit = await writer.nextCommit();
      assert(commit !== null, 'the writer ended before it was killed');
      commits.push(commit);
    }
    // Anywhere inside the commits that follow.
    for (let turn = Math.floor(random() * 50); turn > 0; turn--)
      await new Promise((resolve) => setImmediate(resolve));
  } finally {
    await writer.kill();
  }
  return [...commits, ...(await writer.commits())];
}

async function assertAllThere(ledger: Ledger, commits: readonly Acknowledged[]): Promise<void> {
  for (const commit of commits) {
    const { runId, step, head, did } = commit;
    const attemptId = attemptOf({ runId, step });
    const seen = await ledger.transact({ runId, attemptId, pin: head }, (view) => ({
      reply: { pinHolds: view.pinHolds, row: view.gateRow },
      facts: [],
    }));
    const what = `${did} of ${attemptId}, fact ${head.count}`;
    assert(seen.reply.pinHolds, `${what}: acknowledged, and not in the chain`);
    assert.equal(seen.reply.row?.kind, 'entered', `${what}: its gate row is gone`);
    if (commit.payload !== null)
      assert(await ledger.payload(commit.payload), `${what}: its payload is gone`);
  }
}
