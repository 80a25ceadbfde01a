// Would catch: a gate that checks first and writes afterwards, so that two workers, or one that
// knows an older revision, both get through. Two processes, one SQLite ledger.

import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { decideAuthority, decideTicket } from '../../core/authority.ts';
import { decideOpen } from '../../core/open-run.ts';
import { type Child, startChild } from '../../examples/support-desk/child.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';
import { openAsk, RUN } from '../support/asks.ts';
import { builtProgram } from '../support/built-program.ts';
import { newDirectory } from './places.ts';
import type { RacerAnswer, RacerOrder } from './programs/gate-racer.ts';

const WITHIN_MS = 60_000;
const ROUNDS = 25;

let ledger: Ledger;
let racers: readonly [Child, Child];
beforeEach(async () => {
  const directory = await newDirectory();
  const path = join(directory, 'ledger.db');
  ledger = await openSqliteLedger({ path, create: true });
  await ledger.transact({ runId: RUN }, decideOpen(openAsk()));
  const script = [await builtProgram('test/ledger/programs/gate-racer.ts'), path] as const;
  const racer = async () => {
    const child = await startChild({ script, logPath: join(directory, 'racer.log') });
    await child.line('READY', WITHIN_MS);
    return child;
  };
  racers = await Promise.all([racer(), racer()]);
});
afterEach(async () => {
  for (const racer of racers) await racer.kill();
  await ledger.close();
});

async function both(order: Omit<RacerOrder, 'attemptId'>): Promise<readonly RacerAnswer[]> {
  for (const [index, racer] of racers.entries())
    racer.tell(JSON.stringify({ ...order, attemptId: `${order.actionId}~${index}` }));
  const lines = await Promise.all(racers.map((racer) => racer.line('ANSWER ', WITHIN_MS)));
  return lines.map((line) => JSON.parse(line) as RacerAnswer);
}

const attemptsOf = async (actionId: string) =>
  (await ledger.read(RUN)).actions.get(actionId)?.attempts.length;
const rounds = Array.from({ length: ROUNDS }, (_, index) => `${RUN}.t${index + 1}.c1`);
const command = { actor: 'ann', reason: 'a test' };

test('R-096 two gates race under one revision and epoch: one of them enters', async () => {
  for (const actionId of rounds) {
    const answers = await both({ kind: 'enter', actionId });
    const verdicts = answers.map((answer) => ('verdict' in answer ? answer.verdict : answer));
    expect(verdicts.toSorted()).toEqual(['action_in_doubt', 'entered']);
    expect(await attemptsOf(actionId)).toBe(1);
  }
});

test('R-096 two that decided on the same state: the store takes one and refuses one', async () => {
  for (const actionId of rounds) {
    expect(await both({ kind: 'look', actionId })).toEqual([
      { verdict: 'entered' },
      { verdict: 'entered' },
    ]);
    const answers = await both({ kind: 'commit', actionId });
    const refused = answers.filter((answer) => 'refused' in answer);
    expect(refused).toMatchObject([{ refused: 'rule_violation' }]);
    expect(await attemptsOf(actionId)).toBe(1);
  }
});

async function revoke(): Promise<void> {
  const ask = { verb: 'revoke', command: { ...command, id: 'r1' } } as const;
  await ledger.transact({ runId: RUN }, decideAuthority(ask));
}

async function takeOver(): Promise<void> {
  await ledger.transact({ runId: RUN }, decideTicket({ ...command, id: 'p1' }, 't1'));
  const opening = openAsk({ firstExecutionRunId: 'exec-2', ticket: 't1' });
  await ledger.transact({ runId: RUN }, decideOpen(opening));
}

test.each([
  { bump: revoke, what: 'revoke', verdict: 'revoked', rule: /revoked/ },
  { bump: takeOver, what: 'takeover', verdict: 'claim_stale', rule: /epoch/ },
])('R-096 after a $what, gate and store refuse what was decided before', async (row) => {
  const decided = `${RUN}.t1.c1`;
  await both({ kind: 'look', actionId: decided });
  await row.bump();
  for (const answer of await both({ kind: 'commit', actionId: decided }))
    expect(answer).toMatchObject({
      refused: 'rule_violation',
      words: expect.stringMatching(row.rule),
    });
  const answers = await both({ kind: 'enter', actionId: `${RUN}.t2.c1` });
  expect(answers).toEqual([{ verdict: row.verdict }, { verdict: row.verdict }]);
  expect(await attemptsOf(decided)).toBeUndefined();
});
