import { describe, expect, test } from 'vitest';
import { openAttempts, outcomeOf } from '../../core/action-status.ts';
import type { ContractInput } from '../../core/contract.ts';
import { digestOf } from '../../core/digest.ts';
import { type InquiryVerdict, inquiryVerdictSchema } from '../../core/fact-fields.ts';
import { ACTION, enter, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  bodiesAfter,
  contractOf,
  inquire,
  inTurn,
  keyed,
  openAndEnter,
  resolve,
  SEND_WINDOW_MS,
  strong,
} from '../support/story.ts';

const ARRIVED_AND_SETTLED_MS = 61_000;
const SETTLED_AFTER = SEND_WINDOW_MS + ARRIVED_AND_SETTLED_MS;
const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, keyed);
  return ledger;
};
const excluded = (ledger: MemoryLedger) =>
  actionOf(ledger).attempts.map((attempt) => attempt.exclusion === 'proved');

describe('R-036 each answer', () => {
  const rows: Record<InquiryVerdict, string> = {
    executed: 'attempt_settled',
    partial: 'attempt_settled',
    not_executed: 'observation',
    processing: 'observation',
    no_record: 'observation',
    conflict: 'observation',
    unavailable: 'observation',
    forbidden: 'observation',
  };
  test.each(Object.entries(rows))('%s is written as %s', (verdict, kind) => {
    const ledger = entered();
    const parts = [{ name: 'file', state: 'confirmed' } as const];
    inquire(ledger, { verdict: verdict as InquiryVerdict, parts });
    expect(bodiesAfter(ledger, 2).map((body) => body.kind)).toEqual([kind]);
    expect(ledger.facts(RUN).at(-1)?.source).toBe('receiver_inquiry');
    const decides = kind === 'attempt_settled';
    expect(openAttempts(actionOf(ledger))).toHaveLength(decides ? 0 : 1);
    expect(actionOf(ledger).final === null).toBe(!decides);
  });

  test('every answer has its row', () => {
    expect(Object.keys(rows).sort()).toEqual([...inquiryVerdictSchema.options].sort());
  });

  test('executed brings result, external id and object version', () => {
    const ledger = entered();
    const payload = payloadOf({ n: 11 });
    const result = { digest: payload.digest, bytes: payload.bytes.length };
    const told = { result, externalId: 'ext-9', objectVersion: 'v8', payloads: [payload] };
    inquire(ledger, { verdict: 'executed', ...told });
    expect(bodiesAfter(ledger, 2)).toMatchObject([
      {
        outcome: 'executed',
        result,
        externalId: 'ext-9',
        objectVersion: 'v8',
        resultMissing: null,
      },
    ]);
    expect(ledger.payloads.has(payload.digest)).toBe(true);
  });

  test('R-008 executed without its result confirms the effect and no more', () => {
    const ledger = entered();
    inquire(ledger, { verdict: 'executed' });
    expect(outcomeOf(actionOf(ledger))?.kind).toBe('executed_result_missing');
  });

  test('K-019 a name that the receiver tells late is kept, the same again is not written', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    const names = () => actionOf(ledger).observations.map(({ externalId }) => externalId);
    const told = (externalId: string | null) =>
      inquire(ledger, { verdict: 'processing', externalId });
    for (const name of [null, null, 'job-7', 'job-7', null]) told(name);
    expect(names()).toEqual([null, 'job-7']);
    told('job-8');
    expect(names()).toEqual([null, 'job-7', 'job-8']);
  });

  test('R-013 partial keeps the parts and no result', () => {
    const ledger = entered();
    const parts = [{ name: 'file', state: 'unconfirmed' } as const];
    inquire(ledger, { verdict: 'partial', parts, result: { digest: digestOf(1), bytes: 1 } });
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ outcome: 'partial', parts, result: null }]);
  });

  test('settles the oldest open attempt', () => {
    const ledger = entered();
    enter(ledger, { ...keyed, ...again() });
    inquire(ledger, { verdict: 'executed' });
    expect(actionOf(ledger).attempts.map((each) => each.settled?.outcome)).toEqual([
      'executed',
      undefined,
    ]);
  });
});

describe('R-037 R-038 no_record proves nothing', () => {
  const lagging = { consistency: 'lagging', settleMs: 1_000 } as const;
  test.each<[boolean, string, ContractInput, number]>([
    [false, 'where nothing is promised', {}, 10 ** 9],
    [false, 'with lagging reads', { ...strong, inquiry: lagging }, 10 ** 9],
    [false, 'while the old request can arrive at any time', { inquiry: strong.inquiry }, 10 ** 9],
    [false, 'with a delay and no inquiry', { requestDelayMaxMs: 60_000 }, 10 ** 9],
    [false, 'at once', strong, 0],
    [false, 'while it may have been sent late in its window', strong, ARRIVED_AND_SETTLED_MS + 1],
    [false, 'until delay and settle window have passed', strong, SETTLED_AFTER],
    [true, 'and only then it does', strong, SETTLED_AFTER + 1],
  ])('%s: %s', (proves, _when, input, after) => {
    const ledger = entered();
    ledger.now += after;
    inquire(ledger, { verdict: 'no_record', contract: contractOf(input) });
    expect(excluded(ledger)).toEqual([proves]);
    expect(bodiesAfter(ledger, 2)).toMatchObject([
      proves
        ? { verdict: 'not_executed', proof: 'settled', attemptId: `${ACTION}~1` }
        : { verdict: 'no_record', proof: null, attemptId: null },
    ]);
  });

  test('the window runs from the newest open attempt', () => {
    const ledger = entered();
    ledger.now += SETTLED_AFTER + 1;
    enter(ledger, { ...keyed, ...again() });
    inquire(ledger, { verdict: 'no_record' });
    expect(excluded(ledger)).toEqual([false, false]);
  });

  test('it counts from when the question was asked, not from when it was answered', () => {
    const ledger = entered();
    const askedAt = ledger.now;
    ledger.now += SETTLED_AFTER + 1;
    inquire(ledger, { verdict: 'no_record', askedAt });
    expect(excluded(ledger)).toEqual([false]);
  });

  test('what the receiver had accepted is not undone by its record being gone', () => {
    const ledger = entered();
    settle(ledger, { outcome: 'accepted' });
    ledger.now += SETTLED_AFTER + 1;
    inquire(ledger, { verdict: 'no_record' });
    expect(excluded(ledger)).toEqual([false]);
  });
});

describe('R-038 a proof counts only where the contract declares it', () => {
  const strongOnly = { inquiry: strong.inquiry };
  const lagging = { inquiry: { consistency: 'lagging', settleMs: 0 } } as const;
  test.each<[boolean, 'closed_token' | 'closed_key' | 'settled' | null, ContractInput]>([
    [true, 'closed_token', { closing: 'by_token' }],
    [false, 'closed_token', { closing: 'by_key' }],
    [false, 'closed_token', strong],
    [true, 'closed_key', { closing: 'by_key' }],
    [false, 'closed_key', { closing: 'by_token' }],
    [false, 'closed_key', {}],
    [true, 'settled', strongOnly],
    [false, 'settled', lagging],
    [false, 'settled', { closing: 'by_token' }],
    [false, null, { ...strong, closing: 'by_token' }],
  ])('%s: %s under %j', (proves, proof, input) => {
    const ledger = entered();
    inquire(ledger, { verdict: 'not_executed', proof, contract: contractOf(input) });
    expect(excluded(ledger)).toEqual([proves]);
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ proof: proves ? proof : null }]);
  });

  test('a claim of proof beside no_record is not believed', () => {
    const ledger = entered();
    const contract = contractOf({ closing: 'by_token' });
    inquire(ledger, { verdict: 'no_record', proof: 'closed_token', contract });
    expect(excluded(ledger)).toEqual([false]);
  });

  test('a later attempt than the question named is not covered', () => {
    const ledger = entered();
    enter(ledger, { ...keyed, ...again() });
    const proof = { verdict: 'not_executed', proof: 'closed_token' } as const;
    inquire(ledger, { ...proof, upToNumber: 1, contract: contractOf({ closing: 'by_token' }) });
    expect(excluded(ledger)).toEqual([true, false]);
    expect(bodiesAfter(ledger, 3)).toMatchObject([{ attemptId: `${ACTION}~1` }]);
  });

  test('closing covers what had been accepted, too', () => {
    const ledger = entered();
    settle(ledger, { outcome: 'accepted' });
    const proof = { verdict: 'not_executed', proof: 'closed_token' } as const;
    inquire(ledger, { ...proof, contract: contractOf({ closing: 'by_token' }) });
    expect(excluded(ledger)).toEqual([true]);
    expect(outcomeOf(actionOf(ledger))).toMatchObject({
      kind: 'not_executed',
      reason: 'not_executed',
    });
  });
});

describe('a long wait does not fill the chain', () => {
  test('the same answer is written once, another one and the first again are news', () => {
    const ledger = entered();
    for (const verdict of ['processing', 'processing', 'unavailable', 'processing'] as const)
      inquire(ledger, { verdict });
    inquire(ledger, { verdict: 'processing', detail: 'half way' });
    expect(bodiesAfter(ledger, 2)).toMatchObject([
      { verdict: 'processing' },
      { verdict: 'unavailable' },
      { verdict: 'processing' },
      { verdict: 'processing', detail: 'half way' },
    ]);
  });

  test('K-019 a name that came late is news, once', () => {
    const ledger = entered();
    for (const externalId of [null, 'ext-9', 'ext-9', null])
      inquire(ledger, { verdict: 'processing', externalId });
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ externalId: null }, { externalId: 'ext-9' }]);
  });

  test('a repeated half of what goes on is written once', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, { continuing: 'own_protocol' });
    settle(ledger, { outcome: 'accepted' });
    const parts = [{ name: 'file', state: 'confirmed' } as const];
    inquire(ledger, { verdict: 'partial', parts });
    inquire(ledger, { verdict: 'partial', parts });
    expect(bodiesAfter(ledger, 3)).toMatchObject([{ attemptId: `${ACTION}~1`, parts }]);
  });
});

describe('an answer that nobody waits for', () => {
  test.each<[string, (l: MemoryLedger) => unknown]>([
    ['nothing is known', () => {}],
    [
      'nothing entered',
      (l) => inTurn(open(l), enter(l, { barrier: { kind: 'not_current', why: 'x' } })),
    ],
    ['it is final', (l) => inTurn(openAndEnter(l), settle(l))],
    ['nothing was sent', (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'not_sent' }))],
  ])('changes nothing when %s', (_when, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    const count = ledger.facts(RUN).length;
    for (const verdict of ['executed', 'no_record', 'processing'] as const)
      inquire(ledger, { verdict });
    expect(bodiesAfter(ledger, count)).toEqual([]);
  });

  test('D9 an effect that is found after a statement of none is never dropped', () => {
    const ledger = entered();
    resolve(ledger, { verb: 'confirm_not_executed' });
    inquire(ledger, { verdict: 'no_record' });
    expect(actionOf(ledger).disputed).toBe(false);
    inquire(ledger, { verdict: 'executed' });
    expect(actionOf(ledger)).toMatchObject({ disputed: true, final: { via: 'settlement' } });
  });
});
