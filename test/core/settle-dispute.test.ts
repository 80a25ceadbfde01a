// How a dispute ends, and when an action that waits for its twin goes. Would catch a dispute that
// ends by itself, a word that stops what it did not change, parts that a word rolls into one, and
// an answer that lets more go than it names.

import { describe, expect, test } from 'vitest';
import { outcomeOf } from '../../core/action-status.ts';
import { digestOf } from '../../core/digest.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  bodiesAfter,
  doubt,
  inTurn,
  openAndEnter,
  resolve,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
type Answer = Parameters<typeof resolve>[1];
const twoEffects: Tell = (l) =>
  inTurn(openAndEnter(l), settle(l), settle(l, { externalId: 'ext-2' }));
const denied: Tell = (l) =>
  inTurn(openAndEnter(l), settle(l), resolve(l, { verb: 'confirm_not_executed' }));
const half: Tell = (l) =>
  inTurn(
    openAndEnter(l),
    settle(l, { outcome: 'partial' }),
    resolve(l, { verb: 'confirm_executed' }),
  );
const halfGoingOn: Tell = (l) =>
  inTurn(
    openAndEnter(l, { continuing: 'own_protocol' }),
    settle(l, { outcome: 'partial' }),
    resolve(l, { verb: 'confirm_not_executed' }),
  );
const refused: Tell = (l) =>
  inTurn(
    openAndEnter(l),
    settle(l, { outcome: 'refused' }),
    resolve(l, { verb: 'confirm_executed' }),
  );
const disputed = (tell: Tell = denied) => {
  const ledger = memoryLedger();
  tell(ledger);
  if (!actionOf(ledger).disputed) throw new Error('not disputed');
  return ledger;
};
const states = (what: 'executed' | 'not_executed', over: object = {}): Answer => ({
  ...{ verb: 'settle_dispute', states: what },
  ...over,
});
const yes = states('executed');
const no = states('not_executed');

describe('D9 a dispute is settled', () => {
  const result = { n: 11 };
  test.each<[string, string, Tell, Answer, object]>([
    ['as it was recorded', 'an effect that was denied', denied, yes, { kind: 'executed' }],
    [
      'as it was recorded',
      'an effect, by its own name and result',
      denied,
      states('executed', { externalId: 'ext-1', result: { ok: true } }),
      { kind: 'executed', externalId: 'ext-1' },
    ],
    [
      'otherwise',
      'the other of two effects is the one that counts',
      twoEffects,
      states('executed', { externalId: 'ext-2' }),
      { kind: 'executed_result_missing', externalId: 'ext-2' },
    ],
    [
      'otherwise',
      'the effect, with its result',
      refused,
      states('executed', { externalId: 'ext-9', result }),
      { kind: 'executed', externalId: 'ext-9', result: digestOf(result) },
    ],
    ['otherwise', 'no effect, though one was recorded', denied, no, { kind: 'not_executed' }],
    ['as it was recorded', 'the receiver’s refusal', refused, no, { kind: 'refused' }],
    ['as it was recorded', 'D14 its parts stay its parts', half, yes, { kind: 'partial' }],
    [
      'otherwise',
      'as a whole, by the name of the whole',
      half,
      states('executed', { externalId: 'ext-7' }),
      { kind: 'executed_result_missing', externalId: 'ext-7', parts: [] },
    ],
    [
      'otherwise',
      'what was half done is whole',
      halfGoingOn,
      yes,
      { kind: 'executed_result_missing' },
    ],
    ['otherwise', 'what was half done is undone', halfGoingOn, no, { kind: 'not_executed' }],
  ])('%s: %s', (how, _what, tell, answer, final) => {
    const ledger = disputed(tell);
    const before = actionOf(ledger).final;
    expect(resolve(ledger, answer)).toEqual({ what: 'applied', why: null });
    const action = actionOf(ledger);
    expect(action).toMatchObject({ disputed: false, final });
    if (how === 'as it was recorded') expect(action.final).toEqual(before);
    else expect(action.final).toMatchObject({ via: 'resolution', attemptId: null });
  });

  test.each<[string, Tell, Answer]>([
    ['there is no dispute', (l) => inTurn(openAndEnter(l), settle(l)), yes],
    ['there is no dispute', (l) => inTurn(denied(l), resolve(l, yes)), no],
    ['no attempt of it entered', denied, { ...yes, actionId: 'r.t9.c1' }],
    ['look again', denied, { ...yes, recordVersion: 1 }],
    ['replace every "FILL IN"', denied, { ...yes, reason: 'FILL IN' }],
  ])('%s: nothing changes', (why, tell, answer) => {
    const ledger = memoryLedger();
    tell(ledger);
    const before = actionOf(ledger);
    const reply = resolve(ledger, answer);
    expect(reply).toMatchObject({ what: 'rejected', why: expect.stringContaining(why) });
    expect(actionOf(ledger)).toEqual(before);
  });

  test('both records stay, the answer beside them, and its result is stored', () => {
    const ledger = disputed(refused);
    const count = ledger.facts(RUN).length;
    resolve(ledger, states('executed', { result }));
    expect(bodiesAfter(ledger, count)).toMatchObject([
      { kind: 'resolution', verb: 'settle_dispute', states: 'executed', coverage: null },
    ]);
    expect(actionOf(ledger).attempts[0]?.settled?.outcome).toBe('refused');
    expect(ledger.payloads.has(digestOf(result))).toBe(true);
  });

  test.each<[string, Tell]>([
    ['another effect', (l) => settle(l, { externalId: 'ext-3' })],
    ['a person who says the opposite', (l) => resolve(l, { verb: 'confirm_not_executed' })],
  ])('is disputed again by %s', (_by, tell) => {
    const ledger = disputed();
    resolve(ledger, yes);
    tell(ledger);
    expect(actionOf(ledger).disputed).toBe(true);
  });

  test('is disputed again by an effect of what was stated not to be executed', () => {
    const ledger = disputed(halfGoingOn);
    resolve(ledger, no);
    settle(ledger);
    expect(actionOf(ledger).disputed).toBe(true);
  });

  test.each([
    ['D8 no attempt may enter', (l: MemoryLedger) => enter(l, again()).verdict],
    ['D8 no retry is given', (l: MemoryLedger) => resolve(l, { verb: 'authorize_retry' }).what],
  ])('as not executed: %s', (_what, ask) => {
    const ledger = disputed();
    resolve(ledger, no);
    expect(['already_final', 'rejected']).toContain(ask(ledger));
    expect(actionOf(ledger).permits).toEqual([]);
  });

  test('D10 D11 and by nothing else: not by time', () => {
    const ledger = disputed(twoEffects);
    ledger.now += 10 ** 11;
    expect(enter(ledger, again()).verdict).toBe('disputed');
    expect(actionOf(ledger).disputed).toBe(true);
  });
});

describe('R-019 an action that waits for its twin', () => {
  const twin = 'r.t2.c1';
  const alike = { intentDigest: digestOf('the same wish') };
  const distinct = (from: string, over: object = {}): Answer => ({
    ...{ verb: 'confirm_distinct', distinctFrom: from },
    ...over,
  });
  const entersAs = (l: MemoryLedger, actionId: string, no = 1) =>
    enter(l, {
      ...alike,
      actionId,
      attemptId: `${actionId}~${no}`,
      entryToken: `${actionId}${no}`,
    });
  const inDoubt = (l: MemoryLedger, actionId: string) =>
    inTurn(entersAs(l, actionId), doubt(l, `${actionId}~1`));
  const waiting = () => {
    const ledger = memoryLedger();
    inTurn(open(ledger), inDoubt(ledger, twin));
    expect(entersAs(ledger, ACTION).verdict).toBe('twin_unknown');
    return ledger;
  };

  test('names it in its refusal', () => {
    expect(actionOf(waiting()).refusals).toMatchObject([{ verdict: 'twin_unknown', twin }]);
  });

  test('enters once a person has said that it is another wish', () => {
    const ledger = waiting();
    expect(resolve(ledger, distinct(twin))).toEqual({ what: 'applied', why: null });
    expect(actionOf(ledger).resolutions).toMatchObject([{ distinctFrom: twin, permit: null }]);
    expect(entersAs(ledger, ACTION, 2).verdict).toBe('entered');
    expect(outcomeOf(actionOf(ledger, twin))).toBeNull();
  });

  test('waits for every other one that looks the same', () => {
    const ledger = memoryLedger();
    const third = 'r.t3.c1';
    inTurn(
      open(ledger),
      entersAs(ledger, twin),
      inDoubt(ledger, third),
      doubt(ledger, `${twin}~1`),
    );
    entersAs(ledger, ACTION);
    resolve(ledger, distinct(twin));
    expect(entersAs(ledger, ACTION, 2).verdict).toBe('twin_unknown');
    expect(actionOf(ledger).refusals.at(-1)?.twin).toBe(third);
  });

  test.each<[string, Answer]>([
    ['it waits for r.t2.c1', distinct('r.t3.c1')],
    ['no attempt of it entered', distinct(twin, { actionId: 'r.t9.c1' })],
    ['look again', distinct(twin, { recordVersion: 1 })],
  ])('still waits after an answer that is not to it: %s', (why, answer) => {
    const ledger = waiting();
    enter(ledger, { ...again(9), barrier: { kind: 'not_current', why: 'paused' } });
    const reply = resolve(ledger, answer);
    expect(reply).toMatchObject({ what: 'rejected', why: expect.stringContaining(why) });
    expect(entersAs(ledger, ACTION, 2).verdict).toBe('twin_unknown');
  });

  test('is told once: again, nothing changes', () => {
    const ledger = waiting();
    resolve(ledger, distinct(twin));
    const reply = resolve(ledger, distinct(twin));
    expect(reply).toMatchObject({
      what: 'rejected',
      why: expect.stringContaining('settled already'),
    });
  });

  test('nobody is told distinct from what it does not wait for', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    const reply = resolve(ledger, distinct(twin));
    expect(reply).toMatchObject({ what: 'rejected', why: expect.stringContaining('nor for any') });
  });
});
