// Whom an action in doubt holds back that looks the same: a new wish, not the way out of a doubt.

import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import { ACTION, enter, open, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  contractOf,
  doubt,
  inquire,
  inTurn,
  keyed,
  resolve,
} from '../support/story.ts';

const TWIN = 'r.t2.c1';
const alike = { ...keyed, onUnknown: 'continue', intentDigest: digestOf('the same wish') } as const;
const asTwin = { ...alike, actionId: TWIN };

type Tell = (ledger: MemoryLedger) => unknown;
/** Both entered before either was in doubt; now the twin is. */
const beside =
  (tell: Tell): Tell =>
  (l) =>
    inTurn(open(l), enter(l, alike), enter(l, asTwin), doubt(l, `${TWIN}~1`), tell(l));
const resolveTwin = (l: MemoryLedger, verb: 'authorize_retry' | 'abandon') => {
  const { recordVersion } = actionOf(l, TWIN);
  return resolve(l, { verb, actionId: TWIN, recordVersion });
};
const excluded = (l: MemoryLedger) =>
  resolve(l, { verb: 'confirm_not_executed', oldRequestCannotArrive: true });

describe('R-019 beside a twin in doubt', () => {
  test.each<[string, string, Tell]>([
    [
      'twin_unknown',
      'a new action waits',
      (l) => inTurn(open(l), enter(l, asTwin), doubt(l, `${TWIN}~1`)),
    ],
    ['entered', 'R-028 what is in doubt itself is resent by its key', beside((l) => doubt(l))],
    [
      'entered',
      'what a person let go again goes, though its twin was let go, too',
      beside((l) =>
        inTurn(
          doubt(l),
          resolve(l, { verb: 'authorize_retry' }),
          resolveTwin(l, 'authorize_retry'),
        ),
      ),
    ],
    [
      'twin_unknown',
      'what a person has excluded waits: it is a new effect',
      beside((l) => inTurn(doubt(l), excluded(l))),
    ],
    [
      'twin_unknown',
      'what the receiver has closed waits',
      beside((l) =>
        inTurn(
          doubt(l),
          inquire(l, {
            verdict: 'not_executed',
            proof: 'closed_token',
            contract: contractOf({ closing: 'by_token' }),
          }),
        ),
      ),
    ],
    [
      'twin_unknown',
      'what the receiver did not take waits',
      beside((l) => settle(l, { outcome: 'not_taken' })),
    ],
    [
      'entered',
      'that a person gave up nobody waits',
      (l) => inTurn(open(l), enter(l, asTwin), doubt(l, `${TWIN}~1`), resolveTwin(l, 'abandon')),
    ],
  ])('%s: %s', (verdict, _when, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    expect(enter(ledger, { ...alike, ...again(), actionId: ACTION }).verdict).toBe(verdict);
  });
});

test('R-019 D12 what is held back hears by which action, and what is let in by none', () => {
  const ledger = memoryLedger();
  inTurn(open(ledger), enter(ledger, asTwin), doubt(ledger, `${TWIN}~1`));
  expect(enter(ledger, alike)).toMatchObject({ verdict: 'twin_unknown', waitsFor: TWIN });
  const undoing = { ...keyed, ...again(), compensates: TWIN, onUnknown: 'continue' } as const;
  expect(enter(ledger, undoing)).toMatchObject({ verdict: 'compensates_open', waitsFor: TWIN });
  resolveTwin(ledger, 'abandon');
  expect(enter(ledger, { ...alike, ...again(3) })).not.toHaveProperty('waitsFor');
});
