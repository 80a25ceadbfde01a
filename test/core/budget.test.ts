// What is used up and held, and whether one more attempt fits. Would catch an unknown cost that
// counts as nothing, a reserve that is lost or kept for ever, and a sum that a restart begins anew.

import { describe, expect, test } from 'vitest';
import { budgetProblem, spentOf, toppedUp, topUpProblem } from '../../core/budget.ts';
import { type Budget, budgetSchema, type Reserve } from '../../core/budget-limits.ts';
import type { Cost } from '../../core/cost.ts';
import type { EntryAsk } from '../../core/gate.ts';
import type { SettleAsk } from '../../core/settle.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { attempt, topUp } from '../support/authority-story.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  change,
  contractOf,
  doubt,
  inquire,
  keyed,
  later,
  observationOf,
  rebuy,
} from '../support/story.ts';

const usd = (micros: number) => ({ currency: 'USD', micros });
const reserve: Reserve = { requests: 1, tokens: 100, money: usd(1_000) };
const priced = (micros: number, tokens = 10): Cost => ({
  kind: 'known',
  usage: { requests: 1, inputTokens: tokens, outputTokens: 0 },
  estimate: { ...usd(micros), tableDate: '2026-11-01' },
});
const unpriced: Cost = { kind: 'known', usage: { requests: 1, inputTokens: 10, outputTokens: 0 } };
const zero: Cost = { kind: 'known', usage: { requests: 0, inputTokens: 0, outputTokens: 0 } };
const notSaid: Cost = { kind: 'unknown', reason: 'aborted' };
const ample = { requests: 99, tokens: 9_999, money: usd(99_999) };

function opened(budget: Partial<Budget> | null = ample): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger, { budget: budget === null ? null : { ...budget, onExhausted: 'ask' } });
  return ledger;
}
const ask = (ledger: MemoryLedger, no: number, over: Partial<EntryAsk> = {}) =>
  enter(ledger, { ...rebuy, ...attempt(no), reserve, ...over });
const settled = (ledger: MemoryLedger, no: number, over: Partial<SettleAsk>) =>
  settle(ledger, { attemptId: `${ACTION}~${no}`, ...over });
const uses = (ledger: MemoryLedger) => {
  const { requests, tokens, micros, unknown } = spentOf(ledger.run(RUN));
  return [requests, tokens, micros]
    .map(({ known, held }) => `${known}+${held}`)
    .join(' ')
    .concat(` ?${unknown}`);
};

describe('R-131 what is used and held, as known+held of requests, tokens and money', () => {
  test.each<[string, string, (l: MemoryLedger) => unknown]>([
    ['0+0 0+0 0+0 ?0', 'before anything', () => {}],
    ['0+1 0+100 0+1000 ?1', 'at work', (l) => ask(l, 1)],
    ['0+1 0+100 0+1000 ?1', 'lost', (l) => [ask(l, 1), doubt(l)]],
    [
      '1+0 10+0 30+0 ?0',
      'answered, and its cost is known',
      (l) => [ask(l, 1), settled(l, 1, { cost: priced(30) })],
    ],
    [
      '0+1 0+100 0+1000 ?1',
      'K-124 answered, and its cost is unknown',
      (l) => [ask(l, 1), settled(l, 1, { cost: notSaid })],
    ],
    ['0+0 0+0 0+0 ?0', 'not sent', (l) => [ask(l, 1), settled(l, 1, { outcome: 'not_sent' })]],
    ['0+0 0+0 0+0 ?0', 'not taken', (l) => [ask(l, 1), settled(l, 1, { outcome: 'not_taken' })]],
    ['0+0 0+0 0+0 ?0', 'a known zero', (l) => [ask(l, 1), settled(l, 1, { cost: zero })]],
    [
      '1+0 10+0 0+1000 ?0',
      'known usage without a price holds the money',
      (l) => [ask(l, 1), settled(l, 1, { cost: unpriced })],
    ],
    [
      '1+1 10+100 30+1000 ?1',
      'T-20 lost, and bought again',
      (l) => [ask(l, 1), ask(l, 2), settled(l, 2, { cost: priced(30) })],
    ],
    [
      '1+0 10+0 30+0 ?0',
      'lost, and its cost came later',
      (l) => [ask(l, 1), settled(l, 1, { cost: notSaid }), settled(l, 1, { cost: priced(30) })],
    ],
    [
      '2+0 20+0 60+0 ?0',
      'two answers to one action',
      (l) => [
        ask(l, 1),
        ask(l, 2),
        settled(l, 1, { cost: priced(30) }),
        settled(l, 2, { cost: priced(30) }),
      ],
    ],
    ['0+1 0+0 0+0 ?1', 'lost, by a run of an earlier version', (l) => enter(l, rebuy)],
    ['0+0 0+0 0+0 ?0', 'a tool without a bill', (l) => enter(l)],
    [
      '0+1 0+100 0+1000 ?1',
      'a tool with a bill, of which the receiver told the effect alone',
      (l) => {
        enter(l, { ...keyed, reserve });
        doubt(l);
        inquire(l, { verdict: 'executed', contract: contractOf() });
      },
    ],
    [
      '0+0 0+0 0+0 ?1',
      'of an attempt that this ledger does not know',
      (l) => settle(l, { attemptId: 'r.t1.c1~9', cost: notSaid }),
    ],
    [
      '0+1 0+100 0+1000 ?1',
      'told twice that it is unknown',
      (l) => {
        ask(l, 1);
        const body = observationOf({ attemptId: `${ACTION}~1`, cost: notSaid });
        l.write(RUN, { source: 'execution', body });
      },
    ],
  ])('%s: %s', (wanted, _when, tell) => {
    const ledger = opened();
    tell(ledger);
    expect(uses(ledger)).toBe(wanted);
  });

  test('money of another currency is none of the budget’s', () => {
    const ledger = opened({ money: { currency: 'EUR', micros: 10 }, tokens: 1_000 });
    expect(ask(ledger, 1).verdict).toBe('entered');
    expect(uses(ledger)).toBe('0+1 0+100 0+0 ?1');
    settled(ledger, 1, { cost: priced(30) });
    expect(uses(ledger)).toBe('1+0 10+0 0+0 ?0');
  });
});

describe('R-131 whether one more fits', () => {
  test.each<[string | null, string, Partial<Budget> | null, Partial<Reserve>]>([
    [null, 'nothing is limited', null, {}],
    [null, 'all fits to the last', { requests: 1, tokens: 100, money: usd(1_000) }, {}],
    [
      null,
      'nothing is left, and nothing asked for',
      { requests: 0, tokens: 0, money: usd(0) },
      { requests: 0, tokens: 0, money: usd(0) },
    ],
    ['requests: 0 used, 0 held, 1 more do not fit 0', 'no request', { requests: 0 }, {}],
    ['tokens: 0 used, 0 held, 100 more do not fit 99', 'too few tokens', { tokens: 99 }, {}],
    [
      'money: USD 0.00 used, USD 0.00 held, USD 0.001 more do not fit USD 0.0009',
      'too little money',
      { money: usd(900) },
      {},
    ],
    [
      'no price in USD for it, and no cap on tokens',
      'K-121 K-122 money, and no price',
      { money: usd(9_999) },
      { money: null },
    ],
    [
      'no price in EUR for it, and no cap on tokens',
      'money of another currency',
      { money: { currency: 'EUR', micros: 9 } },
      {},
    ],
    [null, 'money, no price, and a cap on tokens', { money: usd(1), tokens: 100 }, { money: null }],
    [
      'tokens: ',
      'money, no price, and too low a cap on tokens',
      { money: usd(1), tokens: 99 },
      { money: null },
    ],
    [
      null,
      'money, no price, and nothing that has one',
      { money: usd(1) },
      { requests: 0, tokens: 0, money: null },
    ],
    [
      'no price in EUR for it',
      'money of another currency alone, whatever caps tokens',
      { money: { currency: 'EUR', micros: 9 }, tokens: 100 },
      { requests: 0, tokens: 0, money: usd(1) },
    ],
  ])('%s: %s', (why, _when, budget, over) => {
    const ledger = opened(budget);
    const said = budgetProblem(ledger.run(RUN), { ...reserve, ...over }, ledger.now);
    expect(said).toEqual(why === null ? null : expect.stringContaining(why));
  });

  test('of parallel attempts those go in whose reserves fit together', () => {
    const ledger = opened({ tokens: 250 });
    const verdicts = [1, 2, 3].map((no) => {
      const actionId = `r.t${no}.m`;
      return enter(ledger, { ...rebuy, reserve, actionId, attemptId: `${actionId}~1` }).verdict;
    });
    expect(verdicts).toEqual(['entered', 'entered', 'budget_exhausted']);
  });

  test('K-127 K-128 what was used before a takeover is used after it', () => {
    const ledger = opened({ requests: 2 });
    ask(ledger, 1);
    settled(ledger, 1, { cost: priced(30) });
    const before = uses(ledger);
    change(ledger, 'permit', { ticket: 'ticket-1' });
    open(ledger, { firstExecutionRunId: 'exec-2', ticket: 'ticket-1', budget: null });
    expect(uses(ledger)).toBe(before);
    const next = { ...rebuy, reserve, epoch: 2 };
    expect(enter(ledger, { ...next, actionId: 'r.t2.m', attemptId: 'r.t2.m~1' }).verdict).toBe(
      'entered',
    );
    expect(enter(ledger, { ...next, actionId: 'r.t3.m', attemptId: 'r.t3.m~1' }).verdict).toBe(
      'budget_exhausted',
    );
  });

  test('wall time runs from the first opening on, and stops tools without a bill, too', () => {
    const ledger = opened({ wallTimeMs: 1_000 });
    later(ledger, 999);
    expect(enter(ledger).verdict).toBe('entered');
    later(ledger, 1);
    const late = enter(ledger, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' });
    expect(late).toMatchObject({
      verdict: 'budget_exhausted',
      detail: 'the run is open for 1000 ms, of 1000',
    });
    topUp(ledger, { wallTimeMs: 1 });
    expect(enter(ledger, { actionId: 'r.t3.c1', attemptId: 'r.t3.c1~1' }).verdict).toBe('entered');
  });
});

describe('a top-up', () => {
  const all = { requests: 1, tokens: 2, money: usd(3), wallTimeMs: 4, onExhausted: 'end' } as const;
  test('adds to the limits that there are', () => {
    const added = { requests: 10, tokens: 20, micros: 30, wallTimeMs: 40 };
    expect(toppedUp(all, added)).toEqual({
      ...all,
      requests: 11,
      tokens: 22,
      money: usd(33),
      wallTimeMs: 44,
    });
    expect(toppedUp(all, {})).toEqual(all);
    expect(toppedUp({ onExhausted: 'ask' }, added)).toEqual({ onExhausted: 'ask' });
    expect(toppedUp(null, added)).toBeNull();
  });

  test('lets go on what was exhausted, and releases nothing that is held', () => {
    const ledger = opened({ requests: 1 });
    ask(ledger, 1);
    expect(ask(ledger, 2).verdict).toBe('budget_exhausted');
    expect(topUp(ledger, { requests: 1 })).toEqual({ what: 'applied', why: null });
    expect(ledger.run(RUN)).toMatchObject({ topUps: 1, budget: { requests: 2 } });
    expect(ask(ledger, 3).verdict).toBe('entered');
    expect(uses(ledger)).toBe('0+2 0+200 0+0 ?2');
  });

  test('lets go on what was exhausted after a takeover, too', () => {
    const ledger = opened({ requests: 0 });
    topUp(ledger, { requests: 1 });
    change(ledger, 'permit', { ticket: 'ticket-1' });
    open(ledger, { firstExecutionRunId: 'exec-2', ticket: 'ticket-1' });
    expect(ask(ledger, 1, { epoch: 2 }).verdict).toBe('entered');
  });

  test.each([
    ['no budget', null, { requests: 1 }, 'the run has no budget'],
    ['no such limit', { requests: 1 }, { tokens: 1 }, 'no limit on tokens'],
    ['no money', { requests: 1 }, { micros: 1 }, 'no limit on micros'],
    ['one limit of two', { tokens: 1 }, { tokens: 1, wallTimeMs: 1 }, 'no limit on wallTimeMs'],
  ])('is rejected where there is %s', (_what, budget, added, why) => {
    const ledger = opened(budget);
    expect(topUp(ledger, added)).toEqual({ what: 'rejected', why: expect.stringContaining(why) });
    expect(ledger.run(RUN).topUps).toBe(0);
    expect(topUpProblem(ledger.run(RUN).budget, added)).toContain(why);
  });

  test.each(['revoke', 'cancel'] as const)('is rejected after a %s', (verb) => {
    const ledger = opened();
    change(ledger, verb);
    expect(topUp(ledger, { requests: 1 }).what).toBe('rejected');
  });
});

test('what a refusal for want of budget does not explain is said by its name', () => {
  const ledger = opened();
  const detail = { verdict: 'budget_exhausted', detail: null } as const;
  const body = { ...bodies.attempt_refused(ledger), ...detail };
  ledger.write(RUN, { source: 'execution', body });
  expect([...ledger.run(RUN).exhausted]).toEqual([[ACTION, 'budget_exhausted']]);
});

test('a budget asks unless it says otherwise, and its limits are whole numbers', () => {
  expect(budgetSchema.parse({ requests: 0 })).toEqual({ requests: 0, onExhausted: 'ask' });
  for (const wrong of [{ requests: 1.5 }, { tokens: -1 }, { money: { currency: '$', micros: 1 } }])
    expect(budgetSchema.safeParse(wrong).success).toBe(false);
});
