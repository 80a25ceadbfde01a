// What is still open of an action, may still arrive, and what its twins see of it.

import { describe, expect, test } from 'vitest';
import {
  arrivableAttempts,
  doubtOf,
  isAcceptedOnly,
  openAttempts,
  undecidedAttempts,
} from '../../core/action-status.ts';
import { ACTION, enter, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, again, doubt, inTurn, keyed, openAndEnter, resolve } from '../support/story.ts';

describe('which attempts are open, undecided, or may still arrive', () => {
  const ids = (attempts: readonly { attemptId: string }[]) =>
    attempts.map((each) => each.attemptId);
  const first = `${ACTION}~1`;
  test.each<[string, (l: MemoryLedger) => unknown, [string[], string[], string[]]]>([
    ['entered', () => {}, [[first], [first], [first]]],
    ['settled', (l) => settle(l), [[], [], []]],
    ['accepted', (l) => settle(l, { outcome: 'accepted' }), [[], [first], []]],
    [
      'stated to be without effect: it may still arrive',
      (l) => resolve(l, { verb: 'confirm_not_executed' }),
      [[], [], [first]],
    ],
    [
      'proved to be without effect',
      (l) => resolve(l, { verb: 'confirm_not_executed', oldRequestCannotArrive: true }),
      [[], [], []],
    ],
    [
      'accepted, then said to be without effect',
      (l) => {
        settle(l, { outcome: 'accepted' });
        resolve(l, { verb: 'confirm_not_executed' });
      },
      [[], [], []],
    ],
  ])('%s', (_when, tell, [isOpen, isUndecided, mayArrive]) => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    tell(ledger);
    const action = actionOf(ledger);
    expect(ids(openAttempts(action))).toEqual(isOpen);
    expect(ids(undecidedAttempts(action))).toEqual(isUndecided);
    expect(ids(arrivableAttempts(action))).toEqual(mayArrive);
    expect(isAcceptedOnly(action)).toBe(isUndecided.length > isOpen.length);
  });
});

test.each<[ReturnType<typeof doubtOf>, string, (l: MemoryLedger) => unknown]>([
  [null, 'healthy', () => {}],
  ['in_doubt', 'doubted', (l) => doubt(l)],
  ['abandoned', 'given up', (l) => inTurn(doubt(l), resolve(l, { verb: 'abandon' }))],
  [null, 'settled after all', (l) => inTurn(doubt(l), settle(l))],
  [
    null,
    'said to be without effect',
    (l) => inTurn(doubt(l), resolve(l, { verb: 'confirm_not_executed' })),
  ],
])('R-019 to its twins it is %s when %s', (state, _when, tell) => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  tell(ledger);
  expect(doubtOf(actionOf(ledger))).toBe(state);
});

test.each(['not_sent', 'not_taken', 'refused', 'executed'] as const)(
  'R-013 what could be continued is decided when it settles as %s',
  (outcome) => {
    const ledger = memoryLedger();
    openAndEnter(ledger, { continuing: 'own_protocol' });
    settle(ledger, { outcome });
    expect(undecidedAttempts(actionOf(ledger))).toEqual([]);
  },
);

test('R-019 a lost attempt beside the one that succeeded blocks no twin', () => {
  const ledger = memoryLedger();
  openAndEnter(ledger, keyed);
  doubt(ledger);
  enter(ledger, { ...keyed, ...again() });
  settle(ledger, { attemptId: `${ACTION}~2` });
  expect(openAttempts(actionOf(ledger))).toHaveLength(1);
  expect(doubtOf(actionOf(ledger))).toBeNull();
});
