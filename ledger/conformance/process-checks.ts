// Checks with other processes: writers that are killed, and writers at the same time.

import { strict as assert } from 'node:assert';
import type { Check, LedgerAdapter } from '../conformance.ts';
import type { Ledger } from '../port.ts';
import { attemptOf } from './sample-facts.ts';
import type { Acknowledged, WriterOrder } from './writer.ts';
import { WriterProcess } from './writer-process.ts';

const KILLS = 5;
const COMMITS_BEFORE_KILL_MAX = 40;
/** Far more than a writer gets to before it is killed. */
const ENDLESS = 100_000;
const RACERS = 4;
const RACE_STEPS = 25;

export const processChecks: readonly Check[] = [
  {
    name: 'INV-2 R-061 every commit a killed writer had acknowledged is there when it is reopened',
    run: async (adapter, random) => {
      const location = await adapter.newLocation();
      for (let round = 1; round <= KILLS; round++) {
        const acknowledged = await killedWriter(adapter, location, random, `kill-${round}`);
        const ledger = await adapter.open(location);
        await assertAllThere(ledger, acknowledged);
        await ledger.close();
      }
    },
  },
  {
    name: 'INV-2 what a writer leaves behind when it is killed is a whole chain that goes on',
    run: async (adapter, random) => {
      const location = await adapter.newLocation();
      const acknowledged = await killedWriter(adapter, location, random, 'again');
      const next = await new WriterProcess(adapter.writerProcess(location)).ready();
      next.order({ runId: 'again', from: 1, count: acknowledged.length, entryToken: 'second' });
      const commits = await next.commits();
      await next.finish();
      assert.equal(commits.length, 2 * acknowledged.length);
      const ledger = await adapter.open(location);
      await assertAllThere(ledger, [...acknowledged, ...commits]);
      await ledger.close();
    },
  },
  {
    name: `INV-5 of ${RACERS} processes that enter the same attempts, one enters each`,
    run: async (adapter) => {
      const orders = racers((token) => ({
        runId: 'race',
        from: 1,
        count: RACE_STEPS,
        entryToken: token,
      }));
      const { commits, ledger } = await race(adapter, orders);
      for (let step = 1; step <= RACE_STEPS; step++) {
        const mine = commits.filter(
          (commit) => commit.step === step && /^entered$|^found_row$/.test(commit.did),
        );
        assert.equal(mine.length, RACERS);
        assert.equal(mine.filter((commit) => commit.did === 'entered').length, 1);
        assert.equal(new Set(mine.map((commit) => commit.entryToken)).size, 1, 'all see one token');
      }
      await ledger.close();
    },
  },
  {
    name: 'INV-1 INV-4 writers racing on one run each decide on what the one before had written',
    run: async (adapter) => {
      const orders = racers((entryToken, index) => ({
        runId: 'race',
        from: 1 + index * RACE_STEPS,
        count: RACE_STEPS,
        entryToken,
      }));
      const { commits, ledger } = await race(adapter, orders);
      const inOrder = commits.toSorted((a, b) => a.saw - b.saw);
      let end = 0;
      for (const commit of inOrder) {
        assert.equal(commit.saw, end, 'no other commit falls between a decision and its facts');
        end = commit.head.count;
      }
      assert.equal((await ledger.read('race')).head.count, end);
      assert.equal(end, 1 + 2 * RACERS * RACE_STEPS);
      await assertAllThere(ledger, commits);
      await ledger.close();
    },
  },
];

function racers(orderOf: (token: string, index: number) => WriterOrder): WriterOrder[] {
  return Array.from({ length: RACERS }, (_, index) => orderOf(`token-${index}`, index));
}

/** All writers are up before the first order goes out. */
async function race(
  adapter: LedgerAdapter,
  orders: readonly WriterOrder[],
): Promise<{ commits: Acknowledged[]; ledger: Ledger }> {
  const location = await adapter.newLocation();
  const writers = orders.map(() => new WriterProcess(adapter.writerProcess(location)));
  try {
    await Promise.all(writers.map((writer) => writer.ready()));
    orders.forEach((order, index) => {
      writers[index]?.order(order);
    });
    const commits = await Promise.all(writers.map((writer) => writer.commits()));
    await Promise.all(writers.map((writer) => writer.finish()));
    return { commits: commits.flat(), ledger: await adapter.open(location) };
  } finally {
    await Promise.all(writers.map((writer) => writer.kill()));
  }
}

/** The commits it acknowledged, those in the pipe when it died among them. */
async function killedWriter(
  adapter: LedgerAdapter,
  location: string,
  random: () => number,
  runId: string,
): Promise<Acknowledged[]> {
  const writer = await new WriterProcess(adapter.writerProcess(location)).ready();
  const commits: Acknowledged[] = [];
  try {
    writer.order({ runId, from: 1, count: ENDLESS, entryToken: 'first' });
    const enough = 1 + Math.floor(random() * COMMITS_BEFORE_KILL_MAX);
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
