// What holds for every verb of an answer. Would catch a verb that somebody adds and that takes an
// answer to an older record, lets a new attempt go by itself, or is not told from evidence.

import { describe, expect, test } from 'vitest';
import { resolutionVerbSchema } from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  bodiesAfter,
  contractOf,
  doubt,
  inquire,
  inTurn,
  openAndEnter,
  resolve,
} from '../support/story.ts';

type Verb = Parameters<typeof resolve>[1]['verb'];
type Tell = (ledger: MemoryLedger) => unknown;

const twin = 'r.t2.c1';
const alike = { intentDigest: digestOf('the same wish') };
const inDoubt: Tell = (l) => inTurn(openAndEnter(l), doubt(l));
/** Where each of them is an answer to something. */
const asked: Record<Verb, Tell> = {
  confirm_executed: inDoubt,
  confirm_not_executed: inDoubt,
  authorize_retry: inDoubt,
  abandon: inDoubt,
  confirm_distinct: (l) => {
    const asTwin = { ...alike, actionId: twin, attemptId: `${twin}~1` };
    inTurn(open(l), enter(l, asTwin), doubt(l, `${twin}~1`), enter(l, alike));
  },
  settle_dispute: (l) => inTurn(openAndEnter(l), settle(l), settle(l, { externalId: 'ext-2' })),
};
const verbs = resolutionVerbSchema.options;
const answer = (ledger: MemoryLedger, verb: Verb, over: object = {}) =>
  resolve(ledger, {
    verb,
    ...(verb === 'confirm_distinct' ? { distinctFrom: twin } : {}),
    ...over,
  });
const given = (verb: Verb) => {
  const ledger = memoryLedger();
  asked[verb](ledger);
  return ledger;
};

describe.each(verbs)('D7 %s', (verb) => {
  test('to the record as it is, is applied as a person’s word', () => {
    const ledger = given(verb);
    expect(answer(ledger, verb)).toEqual({ what: 'applied', why: null });
    expect(ledger.facts(RUN).at(-1)).toMatchObject({
      source: 'human',
      body: { kind: 'resolution', verb, actor: 'ada', reason: 'looked it up' },
    });
  });

  test.each<[string, number]>([
    ['look again', -1],
    ['does not exist', 99],
  ])('R-134 to another record is refused: %s', (why, off) => {
    const ledger = given(verb);
    const before = actionOf(ledger);
    const count = ledger.facts(RUN).length;
    const reply = answer(ledger, verb, { recordVersion: before.recordVersion + off });
    expect(reply).toMatchObject({ what: 'rejected', why: expect.stringContaining(why) });
    expect(bodiesAfter(ledger, count)).toMatchObject([{ kind: 'command_rejected' }]);
    expect(actionOf(ledger)).toEqual(before);
  });

  test('D8 lets a further attempt go by a permit or a proof alone, and under the same key', () => {
    const ledger = given(verb);
    answer(ledger, verb);
    const { permits, attempts } = actionOf(ledger);
    expect(permits.length).toBe(verb === 'authorize_retry' ? 1 : 0);
    const reply = enter(ledger, { ...again(), ...alike });
    const goes = verb === 'authorize_retry' || verb === 'confirm_distinct';
    expect(reply.verdict === 'entered').toBe(goes);
    const first = attempts[0]?.entry.receiverKey ?? reply.entry?.receiverKey;
    for (const { entry } of actionOf(ledger).attempts) expect(entry.receiverKey).toBe(first);
  });
});

describe('D7 an answer to what was read before', () => {
  const closing = contractOf({ closing: 'by_token' });
  const going: Tell = (l) =>
    inTurn(openAndEnter(l, { continuing: 'own_protocol' }), settle(l, { outcome: 'accepted' }));
  const parts = [{ name: 'file', state: 'confirmed' } as const];
  test.each<[boolean, string, Tell, Tell]>([
    [
      true,
      'the receiver proved that nothing happened',
      inDoubt,
      (l) => inquire(l, { verdict: 'not_executed', proof: 'closed_token', contract: closing }),
    ],
    [true, 'the receiver told an effect', inDoubt, (l) => inquire(l, { verdict: 'executed' })],
    [
      true,
      'the receiver told how far it is',
      going,
      (l) => inquire(l, { verdict: 'partial', parts }),
    ],
    [
      true,
      'a second effect came to light',
      asked.settle_dispute,
      (l) => settle(l, { externalId: 'ext-3' }),
    ],
    [
      true,
      'a further attempt entered',
      inDoubt,
      (l) => inTurn(resolve(l, { verb: 'authorize_retry' }), enter(l, again())),
    ],
    [
      false,
      'the receiver was asked, and did not know',
      inDoubt,
      (l) => inquire(l, { verdict: 'no_record' }),
    ],
    [
      false,
      'the receiver was asked, and is at it',
      inDoubt,
      (l) => inquire(l, { verdict: 'processing' }),
    ],
  ])('is stale (%s) once %s', (stale, _what, tell, then) => {
    const ledger = memoryLedger();
    tell(ledger);
    const { recordVersion } = actionOf(ledger);
    then(ledger);
    expect(actionOf(ledger, ACTION).recordVersion > recordVersion).toBe(stale);
    const verb = actionOf(ledger).disputed ? 'settle_dispute' : 'confirm_executed';
    const { why } = resolve(ledger, { verb, recordVersion });
    expect(why?.includes('look again') ?? false).toBe(stale);
  });
});
