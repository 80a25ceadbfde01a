import { expect, test } from 'vitest';
import { decideEntry } from '../../core/gate.ts';
import { intentDigestOf } from '../../core/intent.ts';
import { decideRefusal, type RefusalOf } from '../../core/refusal.ts';
import { ACTION, entryAsk, open, payloadOf, pinOf, RUN } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';

const bytes = payloadOf({ amount: 'ten' });

function refusalAsk(ledger: MemoryLedger, over: Partial<RefusalOf> = {}): RefusalOf {
  return {
    actionId: ACTION,
    attemptId: `${ACTION}~1`,
    position: 't1.c1',
    verdict: 'invalid_input',
    detail: 'amount: expected a number',
    payload: { digest: bytes.digest, bytes: bytes.bytes.length },
    bytes,
    tool: 'charge_card',
    revisions: { goal: 1, auth: 1 },
    pin: pinOf(ledger),
    ...over,
  };
}

function opened(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
}

const look = { runId: RUN, actionId: ACTION, attemptId: `${ACTION}~1` };

test('R-006 R-010 an attempt with bad arguments is closed for ever, its intent is kept', () => {
  const ledger = opened();
  const reply = ledger.decide(look, decideRefusal(refusalAsk(ledger)));
  expect(reply).toEqual({ verdict: 'invalid_input', detail: 'amount: expected a number' });
  expect(ledger.payloads.has(bytes.digest)).toBe(true);
  expect(ledger.decide(look, decideEntry(entryAsk(ledger))).verdict).toBe('attempt_closed');
});

test('R-006 closing again answers about the row that is there', () => {
  const ledger = opened();
  ledger.decide(look, decideRefusal(refusalAsk(ledger, { bytes: null, payload: null })));
  const again = ledger.decide(look, decideRefusal(refusalAsk(ledger)));
  expect(again).toEqual({ verdict: 'attempt_closed', detail: 'closed as invalid_input' });
});

test('R-046 an attempt that entered is not closed, whatever the reason', () => {
  const ledger = opened();
  ledger.decide(look, decideEntry(entryAsk(ledger)));
  const before = ledger.facts(RUN).length;
  expect(ledger.decide(look, decideRefusal(refusalAsk(ledger))).verdict).toBe('attempt_reused');
  expect(ledger.facts(RUN)).toHaveLength(before);
});

test.each([
  ['another ledger', { id: 'ledger-2' }],
  ['another incarnation', { incarnation: 7 }],
])('nothing is closed in %s than history pinned', (_name, over) => {
  const ledger = opened();
  const pin = { ...pinOf(ledger), ...over };
  const reply = ledger.decide(look, decideRefusal(refusalAsk(ledger, { pin })));
  expect(reply.verdict).toBe('ledger_mismatch');
  expect(ledger.rows.size).toBe(0);
});

test('nothing is closed in a ledger that lacks what the run has seen', () => {
  const ledger = memoryLedger();
  const seen = { count: 9, hash: bytes.digest };
  const reply = ledger.decide({ ...look, pin: seen }, decideRefusal(refusalAsk(ledger)));
  expect(reply.verdict).toBe('ledger_mismatch');
});

const intent = {
  principal: { user: 'ada', workspace: 'w1' },
  tool: 'charge_card',
  domain: 'bank/acme/w1/eu',
  payload: bytes.digest,
  replay: 'never',
} as const;

test('R-019 only equal wishes of one principal share an intent digest', () => {
  const digest = intentDigestOf(intent);
  expect(intentDigestOf({ ...intent, replay: 'keyed' })).toBe(digest);
  const others = [
    { ...intent, principal: { user: 'bob', workspace: 'w1' } },
    { ...intent, principal: { user: 'ada', workspace: 'w1', account: 'a1' } },
    { ...intent, tool: 'refund' },
    { ...intent, domain: null },
    { ...intent, payload: payloadOf({}).digest },
  ];
  expect(new Set([digest, ...others.map(intentDigestOf)]).size).toBe(6);
});

test('reads and model calls have no intent digest: repeating them is no accident', () => {
  expect(intentDigestOf({ ...intent, replay: 'safe' })).toBeNull();
  expect(intentDigestOf({ ...intent, replay: 'rebuy' })).toBeNull();
});
