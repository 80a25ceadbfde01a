import { describe, expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { runResultSchema } from '../../core/outcome.ts';
import { runResultOf, totalCost } from '../../core/run-result.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  again,
  change,
  contractOf,
  doubt,
  end,
  inquire,
  keyed,
  observationOf,
  openAndEnter,
  rebuy,
  resolve,
  safe,
} from '../support/story.ts';

const resultOf = (ledger: MemoryLedger) =>
  runResultSchema.parse(runResultOf(ledger.run(RUN), { end: { kind: 'completed' }, answer: null }));
const known = (inputTokens: number) =>
  ({ kind: 'known', usage: { requests: 1, inputTokens, outputTokens: 0 } }) as const;

describe('one line per action with an effect', () => {
  test.each<[string, string, (l: MemoryLedger) => unknown]>([
    ['executed', 'effects', (l) => settle(l)],
    ['executed_result_missing', 'effects', (l) => settle(l, { result: null, resultMissing: 'x' })],
    ['partial', 'effects', (l) => settle(l, { outcome: 'partial' })],
    ['accepted', 'unknowns', (l) => settle(l, { outcome: 'accepted' })],
    ['unknown', 'unknowns', () => {}],
    ['unknown', 'unknowns', (l) => resolve(l, { verb: 'abandon' })],
    ['not_executed', 'none', (l) => settle(l, { outcome: 'refused' })],
    ['not_executed', 'none', (l) => settle(l, { outcome: 'not_sent' })],
    [
      'not_executed',
      'none',
      (l) =>
        inquire(l, {
          verdict: 'not_executed',
          proof: 'closed_key',
          contract: contractOf({ closing: 'by_key' }),
        }),
    ],
  ])('%s is listed under %s', (outcome, list, tell) => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    tell(ledger);
    const { effects, unknowns, lateFacts, effectsCount, unknownsCount } = resultOf(ledger);
    const line = { actionId: ACTION, tool: 'charge_card', outcome, authRevision: 1 };
    const wanted = [expect.objectContaining(line)];
    expect(effects).toEqual(list === 'effects' ? wanted : []);
    expect(unknowns).toEqual(list === 'unknowns' ? wanted : []);
    expect([effectsCount, unknownsCount]).toEqual([effects.length, unknowns.length]);
    expect(lateFacts).toEqual([]);
  });

  test('R-120 an effect names the tools that could undo it, what had none does not', () => {
    const offered = { compensation: ['refund'] };
    const ledger = memoryLedger();
    openAndEnter(ledger, offered);
    settle(ledger);
    expect(resultOf(ledger).effects).toMatchObject([{ actionId: ACTION, ...offered }]);
    const refused = memoryLedger();
    openAndEnter(refused, offered);
    settle(refused, { outcome: 'refused' });
    expect(JSON.stringify(resultOf(refused))).not.toContain('refund');
  });

  test('a result that came after all is late, and says how it ended', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    doubt(ledger);
    settle(ledger, { outcome: 'refused' });
    expect(resultOf(ledger).lateFacts).toMatchObject([{ outcome: 'not_executed' }]);
  });

  test('what an inquiry finds while the run waits for it is no late result', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    doubt(ledger);
    inquire(ledger, { verdict: 'executed', externalId: 'ext-1' });
    expect(resultOf(ledger)).toMatchObject({ effectsCount: 1, lateFactsCount: 0 });
  });

  test('R-108 a late result keeps its old revision', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    change(ledger, 'revoke');
    end(ledger);
    settle(ledger);
    const { effects, lateFacts, lateFactsCount, undone } = resultOf(ledger);
    const line = { actionId: ACTION, outcome: 'executed', externalId: 'ext-1', authRevision: 1 };
    expect([effects, lateFacts]).toMatchObject([[line], [line]]);
    expect([lateFactsCount, undone]).toEqual([1, false]);
  });

  test('reads, model calls and what never entered have no line', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, safe);
    enter(ledger, { ...rebuy, actionId: 'r.t2.m', attemptId: 'r.t2.m~1' });
    doubt(ledger, 'r.t9.c1~1');
    expect(resultOf(ledger)).toMatchObject({
      effectsCount: 0,
      unknownsCount: 0,
      lateFactsCount: 0,
    });
  });

  test('lists are cut, counts are whole', () => {
    const ledger = memoryLedger();
    open(ledger);
    const total = limits.resultListMax + 2;
    for (let turn = 1; turn <= total; turn++) {
      const actionId = `r.t${turn}.c1`;
      const attemptId = `${actionId}~1`;
      enter(ledger, { ...keyed, actionId, attemptId });
      doubt(ledger, attemptId);
      if (turn % 2 === 0) settle(ledger, { actionId, attemptId });
    }
    const { effects, effectsCount, unknowns, unknownsCount, lateFactsCount } = resultOf(ledger);
    expect([effectsCount, unknownsCount, lateFactsCount]).toEqual([
      total / 2,
      total / 2,
      total / 2,
    ]);
    expect(effects.length + unknowns.length).toBe(total);
  });

  test('each list holds at most its limit', () => {
    const ledger = memoryLedger();
    open(ledger);
    for (let turn = 1; turn <= limits.resultListMax + 1; turn++) {
      const actionId = `r.t${turn}.c1`;
      enter(ledger, { actionId, attemptId: `${actionId}~1` });
    }
    const { unknowns, unknownsCount } = resultOf(ledger);
    expect([unknowns.length, unknownsCount]).toEqual([
      limits.resultListMax,
      limits.resultListMax + 1,
    ]);
    end(ledger);
    for (const { actionId } of [...ledger.run(RUN).actions.values()])
      settle(ledger, { actionId, attemptId: `${actionId}~1` });
    const { effects, lateFacts, effectsCount, lateFactsCount } = resultOf(ledger);
    expect([effects.length, lateFacts.length]).toEqual([
      limits.resultListMax,
      limits.resultListMax,
    ]);
    expect([effectsCount, lateFactsCount]).toEqual([unknownsCount, unknownsCount]);
  });
});

describe('R-131 cost', () => {
  test('every attempt and every observation counts; a lost model reply is of unknown cost', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, rebuy);
    enter(ledger, { ...rebuy, ...again() });
    settle(ledger, { attemptId: `${ACTION}~2`, cost: known(100) });
    const cost = known(7);
    ledger.write(RUN, { source: 'execution', body: observationOf({ cost }) });
    const { cost: total, costText } = resultOf(ledger);
    expect(total).toEqual({
      atLeast: { requests: 3, inputTokens: 107, outputTokens: 0 },
      unknownAttempts: 1,
      unpriced: 2,
    });
    expect(costText).toBe('at least 107 tokens in 3 requests, 1 of unknown cost');
  });

  test('a lost attempt of a tool with a bill is of unknown cost, until its cost comes', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, { ...keyed, reserve: { requests: 1, tokens: 0, money: null } });
    doubt(ledger);
    inquire(ledger, { verdict: 'executed', contract: contractOf() });
    expect(totalCost(ledger.run(RUN)).unknownAttempts).toBe(1);
    settle(ledger, { cost: known(7) });
    const { atLeast, unknownAttempts } = totalCost(ledger.run(RUN));
    expect([atLeast.requests, unknownAttempts]).toEqual([1, 0]);
  });

  test('an open attempt of a tool without a bill costs nothing', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    expect(totalCost(ledger.run(RUN)).unknownAttempts).toBe(0);
  });
});

test('R-059 the end and the answer are those that were written', () => {
  const answer = { digest: `sha256:${'0'.repeat(64)}`, bytes: 2 } as const;
  const ending = { end: { kind: 'stopped', reason: 'budget' }, answer } as const;
  expect(runResultOf(memoryLedger().run(RUN), ending)).toMatchObject({ runId: RUN, ...ending });
});
