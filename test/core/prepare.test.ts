// Would catch: an attempt that still acts after somebody was told that it never will.

import { expect, test } from 'vitest';
import { openAttempts } from '../../core/action-status.ts';
import type { Marks } from '../../core/fact-fields.ts';
import { decidePrepare } from '../../core/prepare.ts';
import { ACTION, pinOf, RUN } from '../support/asks.ts';
import { bodies } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, bodiesAfter, contractOf, inquire, openAndEnter } from '../support/story.ts';

const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
};
const marks: Marks = { draft: 'a.draft', inode: '7' };

function prepare(ledger: MemoryLedger, over: Marks = marks, pin = pinOf(ledger)) {
  const ask = { actionId: ACTION, attemptId: `${ACTION}~1`, marks: over, pin };
  return ledger.decide({ runId: RUN, actionId: ACTION, pin: pin.head }, decidePrepare(ask));
}

const shutOut = { verdict: 'not_executed', proof: 'closed_token' } as const;
const contract = contractOf({ closing: 'by_token' });

test('C12 what an attempt prepares is kept with it, and written once', () => {
  const ledger = entered();
  expect(prepare(ledger)).toBeNull();
  expect(prepare(ledger, { inode: '7', draft: 'a.draft' })).toBeNull();
  expect(bodiesAfter(ledger, 2)).toMatchObject([{ kind: 'attempt_prepared', marks }]);
  expect(actionOf(ledger).attempts[0]?.prepared).toEqual(marks);
});

test('other marks of the same attempt are refused', () => {
  const ledger = entered();
  prepare(ledger);
  expect(prepare(ledger, { inode: '8' })).toBe('the attempt has other marks');
  expect(bodiesAfter(ledger, 3)).toEqual([]);
});

test('C11 an attempt that is asked about can no longer prepare, nor repeat that it has', () => {
  const ledger = entered();
  prepare(ledger);
  ledger.write(RUN, { source: 'history', body: bodies.action_in_doubt(ledger) });
  expect(prepare(ledger)).toBe('the attempt is asked about');
});

test('R-082 on another ledger nothing is prepared', () => {
  const ledger = entered();
  const pin = { ...pinOf(ledger), id: 'another' };
  expect(prepare(ledger, marks, pin)).toContain('history pinned ledger another/');
  expect(bodiesAfter(ledger, 2)).toEqual([]);
});

test.each([
  ['prepared since it was asked', [], 1],
  ['had prepared when it was asked', [`${ACTION}~1`], 0],
])('C11 "not executed" of one that %s leaves so many open', (_what, marked, open) => {
  const ledger = entered();
  prepare(ledger);
  inquire(ledger, { ...shutOut, contract, marked });
  expect(openAttempts(actionOf(ledger))).toHaveLength(open);
});

test('C11 without marks "not executed" counts, and nothing is prepared any more', () => {
  const ledger = entered();
  inquire(ledger, { ...shutOut, contract });
  expect(openAttempts(actionOf(ledger))).toEqual([]);
  expect(prepare(ledger)).toBe('the attempt is over');
});

test('R-038 "no record" is no proof either where one prepared since', () => {
  const ledger = entered();
  prepare(ledger);
  const contract = contractOf({
    ...{ inquiry: { consistency: 'strong', settleMs: 0 }, requestDelayMaxMs: 1 },
  });
  inquire(ledger, { contract, askedAt: ledger.now + 1_000_000 });
  expect(openAttempts(actionOf(ledger))).toHaveLength(1);
});
