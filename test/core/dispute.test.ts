// What disputes an action: one row per rule.

import { describe, expect, test } from 'vitest';
import { ACTION, enter, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again,
  contractOf,
  doubt,
  inquire,
  inTurn,
  keyed,
  openAndEnter,
  resolve,
  safe,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
const second = `${ACTION}~2`;
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
const provedOut: Tell = (l) => {
  openAndEnter(l, keyed);
  doubt(l);
  inquire(l, closing('closed_token'));
  enter(l, { ...keyed, ...again() });
};
const halfContinuing: Tell = (l) => {
  openAndEnter(l, { continuing: 'own_protocol' });
  settle(l, { outcome: 'partial' });
};

describe('D9 an action is disputed', () => {
  const executed: Tell = (l) => inTurn(openAndEnter(l), settle(l));
  const denied = (l: MemoryLedger, sure = false) =>
    resolve(l, { verb: 'confirm_not_executed', oldRequestCannotArrive: sure });
  test.each<[boolean, string, Tell]>([
    [
      true,
      'by a second effect under another external id',
      (l) => inTurn(two(l), settle(l), settle(l, { attemptId: second, externalId: 'ext-2' })),
    ],
    [
      true,
      'by the same attempt with another external id',
      (l) => inTurn(executed(l), settle(l, { externalId: 'ext-2' })),
    ],
    [
      false,
      'not by a replayed receipt',
      (l) => inTurn(two(l), settle(l), settle(l, { attemptId: second })),
    ],
    [
      false,
      'not by the receipt of the later attempt, replayed to an older one that was proved out',
      (l) => inTurn(provedOut(l), settle(l, { attemptId: second }), settle(l)),
    ],
    [
      true,
      'by another effect of an attempt that was proved out',
      (l) =>
        inTurn(provedOut(l), settle(l, { attemptId: second }), settle(l, { externalId: 'e2' })),
    ],
    [
      true,
      'by a receipt without external id to an attempt that was proved out',
      (l) =>
        inTurn(
          provedOut(l),
          settle(l, { attemptId: second, externalId: null }),
          settle(l, { externalId: null }),
        ),
    ],
    [
      true,
      'by another version of the same object',
      (l) =>
        inTurn(
          two(l),
          settle(l, { objectVersion: 'v1' }),
          settle(l, { attemptId: second, objectVersion: 'v2' }),
        ),
    ],
    [
      false,
      'not by a second reading, which found another version',
      (l) =>
        inTurn(
          openAndEnter(l, safe),
          enter(l, { ...safe, ...again() }),
          settle(l, { objectVersion: 'v1' }),
          settle(l, { attemptId: second, objectVersion: 'v2' }),
        ),
    ],
    [
      false,
      'not by a second receipt without external id',
      (l) => inTurn(two(l), settle(l), settle(l, { attemptId: second, externalId: null })),
    ],
    [false, 'not by the same words again', (l) => inTurn(executed(l), settle(l))],
    [
      true,
      'by an effect after a statement of none',
      (l) => inTurn(openAndEnter(l), denied(l), settle(l)),
    ],
    [
      true,
      'by an effect after a proof of none',
      (l) => inTurn(openAndEnter(l), inquire(l, closing('closed_token')), settle(l)),
    ],
    [
      true,
      'by a receiver that finds it after a statement of none',
      (l) => inTurn(openAndEnter(l), denied(l, true), inquire(l, { verdict: 'executed' })),
    ],
    [
      true,
      'by an effect after a burnt key',
      (l) => inTurn(openAndEnter(l), inquire(l, closing('closed_key')), settle(l)),
    ],
    [
      true,
      'by an effect after a refusal',
      (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'refused' }), settle(l)),
    ],
    [
      true,
      'by an effect of an attempt that said nothing was sent',
      (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'not_sent' }), settle(l)),
    ],
    [
      true,
      'by an effect of an attempt that a burnt key should have kept out',
      (l) =>
        inTurn(
          two(l),
          inquire(l, { ...closing('closed_key'), upToNumber: 1 }),
          settle(l, { attemptId: second }),
        ),
    ],
    [
      false,
      'not by a retry after a statement of no effect',
      (l) => inTurn(openAndEnter(l), denied(l), resolve(l, { verb: 'authorize_retry' })),
    ],
    [true, 'by a person who denies an effect', (l) => inTurn(executed(l), denied(l))],
    [
      true,
      'by a person who denies half an effect',
      (l) => inTurn(openAndEnter(l), settle(l, { outcome: 'partial' }), denied(l)),
    ],
    [
      true,
      'by a person who denies half an effect that goes on',
      (l) => inTurn(halfContinuing(l), denied(l)),
    ],
    [
      true,
      'by two people',
      (l) => inTurn(openAndEnter(l), denied(l), resolve(l, { verb: 'confirm_executed' })),
    ],
    [
      true,
      'by a person who confirms what the receiver refused',
      (l) =>
        inTurn(
          openAndEnter(l),
          settle(l, { outcome: 'refused' }),
          resolve(l, { verb: 'confirm_executed' }),
        ),
    ],
    [
      true,
      'by a person who confirms as a whole what was half',
      (l) =>
        inTurn(
          openAndEnter(l),
          settle(l, { outcome: 'partial' }),
          resolve(l, { verb: 'confirm_executed' }),
        ),
    ],
    [
      false,
      'not by a person who confirms what was executed',
      (l) => inTurn(executed(l), resolve(l, { verb: 'confirm_executed' })),
    ],
    [
      false,
      'not by confirming what was given up',
      (l) =>
        inTurn(
          openAndEnter(l),
          resolve(l, { verb: 'abandon' }),
          resolve(l, { verb: 'confirm_executed' }),
        ),
    ],
  ])('%s: %s', (disputed, _why, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    expect(actionOf(ledger).disputed).toBe(disputed);
  });

  test('both records stay, and the first final outcome stays', () => {
    const ledger = memoryLedger();
    two(ledger);
    settle(ledger);
    const { final } = actionOf(ledger);
    settle(ledger, { attemptId: second, externalId: 'ext-2' });
    const action = actionOf(ledger);
    expect(action.final).toEqual(final);
    expect(action.attempts.map((each) => each.settled?.externalId)).toEqual(['ext-1', 'ext-2']);
  });
});
