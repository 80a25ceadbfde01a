import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { ACTION, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  bodiesAfter,
  change,
  doubt,
  end,
  openAndEnter,
  rebuy,
  resolve,
} from '../support/story.ts';

const lastFact = (ledger: MemoryLedger) => ledger.facts(RUN).at(-1);
const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
};

describe('the first settlement', () => {
  test('R-023 R-050 is stored under the pre-allocated id, with its payloads', () => {
    const ledger = entered();
    expect(settle(ledger)).toEqual({ kind: 'settled', wasInDoubt: false });
    expect(lastFact(ledger)).toMatchObject({
      source: 'execution',
      body: { kind: 'attempt_settled', resultId: `${ACTION}~1.result`, outcome: 'executed' },
    });
    expect(ledger.payloads.has(payloadOf({ ok: true }).digest)).toBe(true);
  });

  test.each<[string, (l: MemoryLedger) => unknown, boolean]>([
    ['was in doubt', (l) => doubt(l), true],
    ['is revoked', (l) => change(l, 'revoke'), false],
    ['is canceled', (l) => change(l, 'cancel'), false],
    ['has ended', (l) => end(l), false],
  ])(
    'R-108 R-110 is late_result under the intent’s revision when it %s',
    (_w, tell, wasInDoubt) => {
      const ledger = entered();
      tell(ledger);
      expect(settle(ledger)).toEqual({ kind: 'settled', wasInDoubt });
      expect(lastFact(ledger)).toMatchObject({
        source: 'late_result',
        body: { revisions: { goal: 1, auth: 1 } },
      });
      expect(actionOf(ledger).attempts[0]?.late).toBe(true);
      expect(actionOf(ledger).final).toMatchObject({ kind: 'executed', late: true });
    },
  );

  test('R-067 keeps another source than execution, even when it comes late', () => {
    const ledger = entered();
    doubt(ledger);
    settle(ledger, { source: 'receiver_inquiry' });
    expect(lastFact(ledger)?.source).toBe('receiver_inquiry');
  });

  test('in time it is not late', () => {
    const ledger = entered();
    settle(ledger);
    expect(actionOf(ledger).final?.late).toBe(false);
  });

  test('R-016 each attempt keeps its own number, cost, words and time', () => {
    const ledger = entered();
    ledger.now += 5;
    const usage = { requests: 1, inputTokens: 7, outputTokens: 0 };
    settle(ledger, { outcome: 'not_taken', cost: { kind: 'known', usage } });
    const [attempt] = actionOf(ledger).attempts;
    expect(attempt?.entry.number).toBe(1);
    expect(attempt?.settled?.cost).toEqual({ kind: 'known', usage });
    expect(attempt?.settled?.refusal?.code).toBe('no');
    expect((attempt?.settledAt ?? 0) - (attempt?.enteredAt ?? 0)).toBe(5);
  });
});

describe('a later one', () => {
  const usage = { requests: 1, inputTokens: 7, outputTokens: 0 };
  const billed = { kind: 'known', usage } as const;
  const result = { digest: digestOf('other'), bytes: 7 };
  test.each<[string, Parameters<typeof settle>[1], Record<string, unknown> | null]>([
    ['the same words', {}, null],
    [
      'R-131 the same words with their cost',
      { cost: billed },
      { cost: billed, verdict: 'executed' },
    ],
    [
      'another result',
      { result },
      { about: 'settlement_after_final', verdict: 'executed', result },
    ],
    ['no result', { result: null, resultMissing: 'x' }, { verdict: 'executed' }],
    ['another effect', { externalId: 'ext-2' }, { about: 'second_effect', externalId: 'ext-2' }],
    ['not sent', { outcome: 'not_sent' }, { about: 'settlement_after_final', verdict: null }],
    [
      'half of it',
      { outcome: 'partial' },
      { verdict: 'partial', parts: [{ name: 'file', state: 'confirmed' }] },
    ],
  ])('%s is observed and never written over the first', (_what, over, observed) => {
    const ledger = entered();
    settle(ledger);
    const count = ledger.facts(RUN).length;
    const { final } = actionOf(ledger);
    expect(settle(ledger, over)).toEqual({ kind: 'observed', wasInDoubt: false });
    const written = bodiesAfter(ledger, count);
    if (observed === null) expect(written).toEqual([]);
    else expect(written).toMatchObject([{ kind: 'observation', ...observed }]);
    expect(actionOf(ledger).final).toEqual(final);
  });

  test.each(['refused', 'not_sent'] as const)('an effect after %s is loud', (outcome) => {
    const ledger = entered();
    settle(ledger, { outcome });
    settle(ledger);
    const about = outcome === 'refused' ? 'second_effect' : 'settlement_after_final';
    expect(bodiesAfter(ledger, 3)).toMatchObject([{ about, verdict: 'executed' }]);
    expect(actionOf(ledger).disputed).toBe(true);
  });

  test('it says whether somebody waits for the news', () => {
    const ledger = entered();
    doubt(ledger);
    settle(ledger);
    expect(settle(ledger, { outcome: 'not_sent' })).toEqual({ kind: 'observed', wasInDoubt: true });
  });

  test.each([
    ['execution', 'late_result'],
    ['receiver_inquiry', 'receiver_inquiry'],
  ] as const)('from %s it has the source %s', (source, written) => {
    const ledger = entered();
    settle(ledger);
    settle(ledger, { outcome: 'not_sent', source });
    expect(lastFact(ledger)?.source).toBe(written);
  });

  test.each<[string, (l: MemoryLedger) => unknown]>([
    ['a revoke', (l) => change(l, 'revoke')],
    ['a cancel', (l) => change(l, 'cancel')],
    ['the end', (l) => end(l)],
  ])('R-108 a result that ends what was accepted is stored, and late after %s', (_what, tell) => {
    const ledger = entered();
    settle(ledger, { outcome: 'accepted' });
    tell(ledger);
    settle(ledger);
    const { digest } = payloadOf({ ok: true });
    expect(actionOf(ledger).final).toMatchObject({ kind: 'executed', result: digest, late: true });
    expect(ledger.payloads.has(digest)).toBe(true);
  });
});

describe('R-054 a result without intent', () => {
  test.each<[string, MemoryLedger]>([
    ['of an action nobody knows', memoryLedger()],
    ['of an attempt nobody knows', entered()],
  ])('%s is kept for people and repairs nothing', (_what, ledger) => {
    open(ledger);
    const count = ledger.facts(RUN).length;
    expect(settle(ledger, { attemptId: `${ACTION}~7` })).toEqual({ kind: 'orphan' });
    expect(bodiesAfter(ledger, count)).toMatchObject([
      { kind: 'observation', about: 'orphan_result', attemptId: `${ACTION}~7`, verdict: null },
    ]);
    expect(lastFact(ledger)?.source).toBe('late_result');
    expect(actionOf(ledger).attempts.every((attempt) => attempt.settled === null)).toBe(true);
    expect(actionOf(ledger).final).toBeNull();
  });
});

test('R-110 facts that widen nothing are accepted after the run’s end', () => {
  const ledger = entered();
  change(ledger, 'revoke');
  end(ledger, { end: { kind: 'stopped', reason: 'revoked' } });
  doubt(ledger);
  settle(ledger);
  resolve(ledger, { verb: 'confirm_not_executed' });
  expect(actionOf(ledger).disputed).toBe(true);
  expect(ledger.run(RUN).ended?.openUnknowns).toEqual([ACTION]);
});

test('R-057 a model reply brings the calls it proposes', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, rebuy);
  const input = { digest: digestOf({}), bytes: 2 };
  settle(ledger, { calls: [{ callId: 'c1', tool: 'read', input }] });
  expect(actionOf(ledger).attempts[0]?.settled?.calls).toEqual([
    { callId: 'c1', tool: 'read', input },
  ]);
});
