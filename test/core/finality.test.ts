// When an outcome is final: one row per rule.

import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { outcomeDigest } from '../../core/outcome.ts';
import { ACTION, enter, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  change,
  contractOf,
  doubt,
  end,
  inquire,
  inTurn,
  keyed,
  later,
  observationOf,
  openAndEnter,
  rebuy,
  resolve,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const second = `${ACTION}~2`;
const result = { digest: digestOf('polled'), bytes: 8 };
const two: Tell = (l) => {
  openAndEnter(l, keyed);
  enter(l, { ...keyed, ...again() });
};
const closing = (proof: 'closed_key' | 'closed_token') =>
  ({
    verdict: 'not_executed',
    proof,
    contract: contractOf({ closing: proof === 'closed_key' ? 'by_key' : 'by_token' }),
  }) as const;
const accepted: Tell = (l) => {
  openAndEnter(l);
  settle(l, { outcome: 'accepted', externalId: 'job-9' });
};
const halfContinuing: Tell = (l) => {
  openAndEnter(l, { continuing: 'own_protocol' });
  settle(l, { outcome: 'partial' });
};

describe('an outcome is final', () => {
  test.each<[string | null, string, Tell]>([
    ['executed', 'by the first executed', (l) => inTurn(openAndEnter(l), settle(l))],
    [
      'executed_result_missing',
      'by executed without a result',
      (l) => inTurn(openAndEnter(l), settle(l, { result: null, resultMissing: 'x' })),
    ],
    ['executed', 'by the first executed beside an open attempt', (l) => inTurn(two(l), settle(l))],
    ['executed', 'by a late attempt', (l) => inTurn(two(l), settle(l, { attemptId: second }))],
    [
      'partial',
      'by a partial that cannot be continued',
      (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'partial' })),
    ],
    [null, 'not by a partial that can be continued', halfContinuing],
    [
      'executed',
      'R-013 by the end of what was continued',
      (l) => inTurn(halfContinuing(l), inquire(l, { verdict: 'executed', result })),
    ],
    [
      null,
      'R-013 not by a partial again',
      (l) =>
        inTurn(
          halfContinuing(l),
          inquire(l, { verdict: 'partial', parts: [{ name: 'file', state: 'confirmed' }] }),
        ),
    ],
    [
      'executed',
      'by an effect of the later attempt, though the earlier one was refused',
      (l) => inTurn(two(l), settle(l, { outcome: 'refused' }), settle(l, { attemptId: second })),
    ],
    ['refused', 'by a refusal', (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'refused' }))],
    [
      null,
      'not by a refusal beside an open attempt',
      (l) => inTurn(two(l), settle(l, { attemptId: second, outcome: 'refused' })),
    ],
    [
      null,
      'not by a refusal beside an accepted attempt',
      (l) =>
        inTurn(
          two(l),
          settle(l, { outcome: 'accepted' }),
          settle(l, { attemptId: second, outcome: 'refused' }),
        ),
    ],
    [
      'refused',
      'by a refusal once the other attempt was not sent',
      (l) =>
        inTurn(
          two(l),
          settle(l, { outcome: 'refused' }),
          settle(l, { attemptId: second, outcome: 'not_sent' }),
        ),
    ],
    [
      'refused',
      'by a refusal once the other attempt is proved away',
      (l) =>
        inTurn(
          two(l),
          settle(l, { attemptId: second, outcome: 'refused' }),
          inquire(l, closing('closed_token')),
        ),
    ],
    [
      'refused',
      'by a refusal once the other attempt is stated away',
      (l) =>
        inTurn(
          two(l),
          settle(l, { attemptId: second, outcome: 'refused' }),
          resolve(l, { verb: 'confirm_not_executed' }),
        ),
    ],
    [null, 'not by not_sent', (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'not_sent' }))],
    [null, 'not by not_taken', (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'not_taken' }))],
    [null, 'not by accepted', accepted],
    [
      'executed',
      'by the end of what was accepted',
      (l) => inTurn(accepted(l), inquire(l, { verdict: 'executed', result })),
    ],
    [
      'executed_result_missing',
      'by its end without result',
      (l) => inTurn(accepted(l), inquire(l, { verdict: 'executed' })),
    ],
    [
      'partial',
      'by its end in part',
      (l) =>
        inTurn(
          accepted(l),
          inquire(l, { verdict: 'partial', parts: [{ name: 'file', state: 'confirmed' }] }),
        ),
    ],
    ['executed', 'by its own late result', (l) => inTurn(accepted(l), settle(l))],
    [
      null,
      'R-036 not while it is processed',
      (l) => inTurn(accepted(l), inquire(l, { verdict: 'processing' })),
    ],
    [
      null,
      'R-037 not by its record being gone',
      (l) => inTurn(accepted(l), later(l, 10 ** 9), inquire(l, { verdict: 'no_record' })),
    ],
    [
      'not_executed',
      'by a burnt key',
      (l) => inTurn(openAndEnter(l), inquire(l, closing('closed_key'))),
    ],
    [
      null,
      'not by a closed token',
      (l) => inTurn(openAndEnter(l), inquire(l, closing('closed_token'))),
    ],
    [
      'executed_result_missing',
      'by a person who confirms it',
      (l) => inTurn(openAndEnter(l), resolve(l, { verb: 'confirm_executed', externalId: 'ext-7' })),
    ],
    [
      'executed',
      'by a person who brings the result',
      (l) => inTurn(openAndEnter(l), resolve(l, { verb: 'confirm_executed', result: { n: 1 } })),
    ],
    [
      null,
      'not by a person who denies it',
      (l) => inTurn(openAndEnter(l), resolve(l, { verb: 'confirm_not_executed' })),
    ],
    [
      null,
      'not by a retry',
      (l) => inTurn(openAndEnter(l), resolve(l, { verb: 'authorize_retry' })),
    ],
    [null, 'not by giving up', (l) => inTurn(openAndEnter(l), resolve(l, { verb: 'abandon' }))],
    [
      null,
      'R-055 not by doubt, revoke, cancel or the end of the run',
      (l) => inTurn(openAndEnter(l), doubt(l), change(l, 'cancel'), change(l, 'revoke'), end(l)),
    ],
  ])('%s: %s', (kind, _why, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    const { final, disputed } = actionOf(ledger);
    expect(final === null ? null : final.kind).toBe(kind);
    expect(final === null).toBe(kind === null);
    expect(disputed).toBe(false);
    if (final === null) return;
    expect(final.seq).toBe(ledger.facts(RUN).length);
    expect(final.digest).toBe(outcomeDigest(ACTION, final));
  });

  test('R-057 the first stored reply of a model call is the outcome; later ones only cost', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, rebuy);
    enter(ledger, { ...rebuy, ...again() });
    settle(ledger, { attemptId: second, externalId: null });
    const first = actionOf(ledger).final;
    settle(ledger, { externalId: null });
    expect(actionOf(ledger).final).toEqual(first);
    expect(actionOf(ledger).disputed).toBe(false);
  });

  test('R-025 an external id that is learnt later belongs to the attempt that was accepted', () => {
    const ledger = memoryLedger();
    accepted(ledger);
    inquire(ledger, { verdict: 'executed', externalId: 'ext-9' });
    expect(actionOf(ledger).final).toMatchObject({ attemptId: `${ACTION}~1`, externalId: 'ext-9' });
    const lost = memoryLedger();
    openAndEnter(lost);
    doubt(lost);
    inquire(lost, { verdict: 'executed', externalId: 'ext-9' });
    expect(actionOf(lost).attempts[0]?.settled?.externalId).toBe('ext-9');
    expect(lost.facts(RUN).at(-1)?.source).toBe('receiver_inquiry');
  });

  test('without an external id of its own the end keeps the one of the acceptance', () => {
    const ledger = memoryLedger();
    accepted(ledger);
    inquire(ledger, { verdict: 'executed' });
    expect(actionOf(ledger).final?.externalId).toBe('job-9');
  });
});

test('the digest of an outcome tells action, kind, result, parts and external id apart', () => {
  const content = { kind: 'executed', result: digestOf(1), parts: [], externalId: 'e' } as const;
  const part = { name: 'file', state: 'confirmed' } as const;
  const digests = [
    outcomeDigest('a', content),
    outcomeDigest('b', content),
    outcomeDigest('a', { ...content, kind: 'partial' }),
    outcomeDigest('a', { ...content, result: null }),
    outcomeDigest('a', { ...content, parts: [part] }),
    outcomeDigest('a', { ...content, parts: [{ ...part, state: 'unconfirmed' }] }),
    outcomeDigest('a', { ...content, externalId: null }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('a note about an attempt nobody knows ends nothing', () => {
  const ledger = memoryLedger();
  accepted(ledger);
  const body = observationOf({ about: 'inquiry', verdict: 'executed', attemptId: 'elsewhere' });
  ledger.write(RUN, { source: 'receiver_inquiry', body });
  expect(actionOf(ledger).final).toBeNull();
});
