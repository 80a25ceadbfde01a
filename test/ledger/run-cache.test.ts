// What a process remembers of runs: read once, grown by what is new, dropped when it does not fit.

import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { NewFact } from '../../core/facts.ts';
import { emptyRun } from '../../core/fold.ts';
import { limits } from '../../core/limits.ts';
import * as sample from '../../ledger/conformance/sample-facts.ts';
import type { Ledger } from '../../ledger/port.ts';
import { RunCache } from '../../ledger/run-loader.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { newPlace } from './places.ts';

const runId = 'invoice-42';
const STEPS = 99;
/** Opened, and then whole rounds of notes. */
const LONG = 1 + 20 * STEPS;

interface FactQuery {
  readonly after: unknown;
}

/** `factQueries` lists, by their starting number, the reads of facts since it was last emptied. */
async function watchedLedger(path: string) {
  const factQueries: FactQuery[] = [];
  const ledger = await openSqliteLedger(
    { path, create: true },
    {
      onQuery: ({ sql, parameters }) => {
        if (/^select "seq", "text", "hash" from "fact"/.test(sql))
          factQueries.push({ after: parameters[1] });
      },
    },
  );
  return { ledger, factQueries };
}

function enterSteps(ledger: Ledger, from: number, count: number) {
  return ledger.transact({ runId }, (view) => {
    const opening: NewFact[] = view.run.opened === null ? [sample.opened(view.ledger)] : [];
    const steps = Array.from({ length: count }, (_, index) => ({ runId, step: from + index }));
    return { reply: null, facts: [...opening, ...steps.map((step) => sample.entered(step))] };
  });
}

/** The notes go round among the actions of the steps. */
function observe(ledger: Ledger, count: number) {
  const noteOn = (step: number): NewFact => ({
    source: 'receiver_inquiry',
    body: {
      kind: 'observation',
      actionId: sample.actionOf({ runId, step }),
      attemptId: null,
      about: 'note',
      verdict: null,
      proof: null,
      detail: 'still nothing',
      externalId: null,
      objectVersion: null,
      cost: { kind: 'none' },
    },
  });
  const facts = Array.from({ length: count }, (_, index) => noteOn(1 + (index % STEPS)));
  return ledger.transact({ runId }, () => ({ reply: null, facts }));
}

test(`a run of ${LONG} facts is read once; later transactions read only what is new`, async () => {
  const path = await newPlace();
  const writer = await openSqliteLedger({ path, create: true });
  await enterSteps(writer, 1, STEPS);
  for (let written = 1 + STEPS; written < LONG; written += STEPS) await observe(writer, STEPS);
  const { ledger, factQueries } = await watchedLedger(path);
  expect((await ledger.read(runId)).head.count).toBe(LONG);
  await observe(ledger, 1);
  await observe(ledger, 1);
  await observe(writer, 2);
  expect((await observe(ledger, 1)).head.count).toBe(LONG + 5);
  expect(factQueries).toEqual([0, LONG, LONG + 1, LONG + 2].map((after) => ({ after })));
  await writer.close();
  await ledger.close();
}, 120_000);

test('what a transaction that failed had built is not remembered', async () => {
  const { ledger } = await watchedLedger(await newPlace());
  const before = (await enterSteps(ledger, 1, 2)).run;
  const attempt = ledger.transact({ runId }, () => ({
    reply: null,
    facts: [sample.entered({ runId, step: 3 }), sample.orphanResult(runId)],
  }));
  await expect(attempt).rejects.toThrow('result without intent');
  expect(await ledger.read(runId)).toEqual(before);
  await ledger.close();
});

test('a remembered run that is no prefix of the stored one is read anew', async () => {
  const path = await newPlace();
  const { ledger, factQueries } = await watchedLedger(path);
  await enterSteps(ledger, 1, 5);
  const other = await newPlace();
  const shorter = await openSqliteLedger({ path: other, create: true });
  await enterSteps(shorter, 7, 2);
  await shorter.close();
  const db = new Database(path);
  db.exec('drop trigger fact_no_update; drop trigger fact_no_delete');
  db.exec(`attach '${other}' as other; delete from fact; delete from run`);
  db.exec('insert into fact select * from other.fact; insert into run select * from other.run');
  db.close();
  factQueries.length = 0;
  const run = await ledger.read(runId);
  expect(run.head.count).toBe(3);
  expect([...run.actions.keys()]).toEqual([7, 8].map((step) => sample.actionOf({ runId, step })));
  expect(factQueries.at(-1)).toEqual({ after: 0 });
  await ledger.close();
});

test('the run that was used longest ago is forgotten first', () => {
  const cache = new RunCache();
  for (let index = 0; index < limits.ledgerCacheRuns; index++) cache.put(emptyRun(`run-${index}`));
  cache.put(emptyRun('run-0'));
  cache.put(emptyRun('one-more'));
  expect(cache.get('run-1')).toBeUndefined();
  expect(cache.get('run-0')).toBeDefined();
  expect(cache.get('one-more')).toBeDefined();
});
