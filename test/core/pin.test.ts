import { expect, test } from 'vitest';
import { decideClosing, decideDoubt } from '../../core/doubt.ts';
import { OtherLedgerError, onPinned, pinProblem } from '../../core/pin.ts';
import { ACTION, open, payloadOf, pinOf, RUN } from '../support/asks.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { openAndEnter } from '../support/story.ts';

const attempt = { actionId: ACTION, attemptId: `${ACTION}~1` };
const look = { runId: RUN, ...attempt };
const doubt = decideDoubt({
  ...{ ...attempt, why: 'no reply in time', externalId: null, receiptDigest: null },
});

test('the ledger that the history has seen is the pinned one', () => {
  const ledger = memoryLedger();
  open(ledger);
  const pin = pinOf(ledger);
  const seen = ledger.decide({ runId: RUN, pin: pin.head }, (view) => ({
    reply: pinProblem(pin, view),
    facts: [],
  }));
  expect(seen).toBeNull();
  expect(ledger.decide({ ...look, pin: pin.head }, onPinned({ runId: RUN, pin }, doubt))).toBe(
    'closed',
  );
});

test('before any ledger is pinned every one is taken', () => {
  const ledger = memoryLedger();
  const closing = onPinned({ runId: RUN, pin: null }, decideClosing(attempt));
  expect(ledger.decide(look, closing)).toBe('closed');
});

test.each([
  ['of another id', { id: 'ledger-2' }],
  ['of another incarnation', { incarnation: 7 }],
  ['without the head that was seen', { head: { count: 9, hash: payloadOf(1).digest } }],
])('R-006 a ledger %s proves nothing, and nothing is written to it', (_name, over) => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  const pin = { ...pinOf(ledger), ...over };
  const before = ledger.facts(RUN).length;
  const decide = onPinned({ runId: RUN, pin }, doubt);
  const asked = () => ledger.decide({ ...look, pin: pin.head }, decide);
  expect(asked).toThrow(OtherLedgerError);
  expect(asked).toThrow(/run r: history pinned ledger .* resume r/);
  expect(ledger.facts(RUN)).toHaveLength(before);
});
