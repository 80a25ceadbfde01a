// Going on with what the receiver has half done. Would catch a half that is done again, one that
// is called nothing, parts that are rolled into one word, and a key that may be forgotten.

import { describe, expect, test } from 'vitest';
import { halfDoneOf, mayGoOn, outcomeOf, wordOf } from '../../core/action-status.ts';
import type { Part } from '../../core/fact-fields.ts';
import { ACTION, enter, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  change,
  doubt,
  inquire,
  inTurn,
  keyed,
  later,
  openAndEnter,
  resolve,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const parts: Part[] = [
  { name: 'file', state: 'confirmed' },
  { name: 'registration', state: 'unconfirmed' },
];
const more: Part[] = [
  { name: 'file', state: 'confirmed' },
  { name: 'registration', state: 'confirmed' },
];
const own = { ...keyed, continuing: 'own_protocol' } as const;
const goesOn = { ...own, ...again(), continues: true };
const second = `${ACTION}~2`;
/** The first attempt wrote the file; the registration did not come about. */
const half = (over: Partial<Parameters<typeof enter>[1]> = {}) => {
  const ledger = memoryLedger();
  openAndEnter(ledger, { ...own, ...over });
  settle(ledger, { outcome: 'partial', parts, externalId: 'ext-1' });
  return ledger;
};

describe('R-013 an attempt at what is half done', () => {
  test.each<[string, string, Partial<Parameters<typeof enter>[1]>, Tell, object]>([
    ['entered', 'its tool goes on by the receiver’s protocol', own, () => {}, goesOn],
    [
      'entered',
      'its tool goes on, and has no key',
      { replay: 'never', retention: null },
      () => {},
      { ...again(), continues: true, continuing: 'own_protocol' },
    ],
    [
      'action_in_doubt',
      'its tool would begin again',
      own,
      () => {},
      { ...own, ...again(), continues: false },
    ],
    ['action_in_doubt', 'nobody said that its tool goes on', own, () => {}, { ...own, ...again() }],
    [
      'already_final',
      'the receiver has no protocol for it',
      { continuing: 'none' },
      () => {},
      goesOn,
    ],
    [
      'action_in_doubt',
      'an attempt without a key that goes on already is open',
      { replay: 'never', retention: null },
      (l) => enter(l, { ...goesOn, replay: 'never', retention: null }),
      { ...again(3), replay: 'never', retention: null, continues: true },
    ],
    ['action_in_doubt', 'a person gave it up', own, (l) => resolve(l, { verb: 'abandon' }), goesOn],
    ['revoked', 'the run was revoked', own, (l) => change(l, 'revoke'), goesOn],
    [
      'retention_expired',
      'R-027 the receiver may have forgotten it, and would begin again',
      own,
      (l) => later(l, 50 * 60_000),
      goesOn,
    ],
    [
      'entered',
      'R-027 a person has accepted that it may begin again',
      own,
      (l) => inTurn(later(l, 50 * 60_000), resolve(l, { verb: 'authorize_retry' })),
      goesOn,
    ],
  ])('%s: %s', (verdict, _when, first, tell, ask) => {
    const ledger = half(first);
    tell(ledger);
    expect(enter(ledger, ask).verdict).toBe(verdict);
  });

  test('action_in_doubt: what the receiver has accepted is its own, whatever the tool can', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, own);
    settle(ledger, { outcome: 'accepted' });
    expect(enter(ledger, goesOn).verdict).toBe('action_in_doubt');
  });
});

describe('R-013 D14 what is half done', () => {
  test('is told part by part, and has no outcome while it can go on', () => {
    const action = actionOf(half());
    expect(halfDoneOf(action)).toEqual({ parts, externalId: 'ext-1' });
    expect([wordOf(action), outcomeOf(action)]).toEqual(['partial', null]);
  });

  test('ends as its parts where it cannot go on', () => {
    const action = actionOf(half({ continuing: 'none' }));
    expect(halfDoneOf(action)).toBeNull();
    expect(outcomeOf(action)).toMatchObject({ kind: 'partial', parts });
  });

  test('is gone on with from what the receiver told last', () => {
    const ledger = half();
    inquire(ledger, { verdict: 'partial', parts: more });
    expect(halfDoneOf(actionOf(ledger))).toEqual({ parts: more, externalId: 'ext-1' });
    inquire(ledger, { verdict: 'partial', parts, externalId: 'ext-2', detail: 'named' });
    expect(halfDoneOf(actionOf(ledger))).toEqual({ parts, externalId: 'ext-2' });
  });

  test('is gone on with from the newest attempt', () => {
    const ledger = half();
    enter(ledger, goesOn);
    settle(ledger, { attemptId: second, outcome: 'partial', parts: more });
    expect(halfDoneOf(actionOf(ledger))?.parts).toEqual(more);
  });

  test.each<[string, object]>([
    ['executed', { outcome: 'executed' }],
    ['null', { outcome: 'refused' }],
    ['null', { outcome: 'not_sent' }],
    ['null', { outcome: 'not_taken' }],
  ])('comes to %s by an attempt at the rest that settled as %j', (kind, said) => {
    const ledger = half();
    enter(ledger, goesOn);
    settle(ledger, { attemptId: second, ...said });
    expect(String(outcomeOf(actionOf(ledger))?.kind ?? null)).toBe(kind);
  });

  test('is in doubt where the attempt at the rest is', () => {
    const ledger = half();
    enter(ledger, goesOn);
    doubt(ledger, second);
    expect(outcomeOf(actionOf(ledger))).toBeNull();
    expect(mayGoOn(actionOf(ledger), ledger.now)).toBe(false);
  });

  test('is disputed by a person who says that there is nothing', () => {
    const ledger = half();
    expect(resolve(ledger, { verb: 'confirm_not_executed' }).what).toBe('disputed');
    expect(outcomeOf(actionOf(ledger))).toBeNull();
  });
});

describe('R-013 it may be gone on with', () => {
  test.each<[boolean, string, Tell]>([
    [true, 'nothing of it is open, and the key is known', () => {}],
    [false, 'an attempt at the rest is open', (l) => enter(l, goesOn)],
    [false, 'R-027 the key may be forgotten', (l) => later(l, 50 * 60_000)],
    [false, 'it is settled', (l) => resolve(l, { verb: 'confirm_executed' })],
  ])('%s: %s', (may, _when, tell) => {
    const ledger = half();
    tell(ledger);
    expect(mayGoOn(actionOf(ledger), ledger.now)).toBe(may);
  });

  test('true, at any time, where it has no key', () => {
    const ledger = half({ replay: 'never', retention: null });
    later(ledger, 10 ** 10);
    expect(mayGoOn(actionOf(ledger), ledger.now)).toBe(true);
  });

  test('false: nothing is known of it', () => {
    expect(mayGoOn(undefined, 0)).toBe(false);
  });
});
