// What `holdfast state` says of authority, without a server: it would catch a budget that calls
// what is not known used up, a decision that is missing from the list, and an old revision shown as
// new.

import { expect, test } from 'vitest';
import { authorityLines } from '../../client/authority-text.ts';
import { authorityView } from '../../client/authority-view.ts';
import { viewLines } from '../../client/run-text.ts';
import { recordedView } from '../../client/run-view.ts';
import { decideAuthority, type GivenCommand } from '../../core/authority.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { again, change, later } from '../support/story.ts';

const USD = (micros: number) => ({ currency: 'USD', micros });
const reserve = { requests: 1, tokens: 400, money: USD(20_000) };

function tell(ledger: MemoryLedger, verb: GivenCommand['verb'], more: object = {}) {
  const { length } = ledger.facts(RUN);
  const command = { id: `c${length}`, actor: 'ada', reason: 'seen', ...more };
  return ledger.decide({ runId: RUN }, decideAuthority({ verb, command } as GivenCommand)).what;
}

function linesOf(ledger: MemoryLedger): readonly string[] {
  const run = ledger.run(RUN);
  const recorded = recordedView(run, ledger.now);
  const view = { runId: RUN, phase: 'open', workflow: null, live: null, end: null } as const;
  return viewLines({ ...view, recorded });
}

test('R-131 R-136 what is not known of the cost is held, and what is used is at least that', () => {
  const ledger = memoryLedger();
  const budget = { requests: 5, tokens: 1_000, money: USD(1_000_000), wallTimeMs: 60_000 };
  open(ledger, { budget: { ...budget, onExhausted: 'end' } });
  enter(ledger, { reserve });
  settle(ledger, {
    cost: {
      kind: 'known',
      usage: { requests: 1, inputTokens: 100, outputTokens: 20 },
      estimate: { ...USD(12_300), tableDate: '2026-01-01' },
    },
  });
  const before = authorityView(ledger.run(RUN), ledger.now).budget;
  expect(before?.money?.text).toBe('USD 0.0123 used, of USD 1.00');
  enter(ledger, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1', entryToken: 'token-2', reserve });
  tell(ledger, 'topUp', { requests: 1 });
  const lines = linesOf(ledger);
  expect(lines).toContain('budget (when used up: end; 1 top-up):');
  expect(lines).toContain('  requests: at least 1 used, 1 held, of 6');
  expect(lines).toContain('  tokens: at least 120 used, 400 held, of 1000');
  expect(lines).toContain('  money: at least USD 0.0123 used, USD 0.02 held, of USD 1.00');
  expect(lines).toContain('  wall time: 60000 ms from 2026-01-01T00:00:00.000Z');
  expect(lines).toContain('  1 attempt of unknown cost: what they may use is held');
});

test('R-136 what waits for approval, what was denied, and by whom', () => {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, { approval: { validForMs: 1_000 } });
  const asked = () => authorityView(ledger.run(RUN), ledger.now).approvals[0]?.answer;
  const first = asked()!;
  expect(linesOf(ledger)).toContain(
    `waits for an approval: May charge_card (${ACTION}) go ahead? see: holdfast approve ${ACTION}`,
  );
  expect(tell(ledger, 'approve', first)).toBe('rejected');
  const by = { actor: 'ada', reason: 'as ordered' };
  expect(tell(ledger, 'approve', { ...first, ...by })).toBe('applied');
  expect(linesOf(ledger)).toContain(
    `approved, not started: ${ACTION}  charge_card, by ada: as ordered, ` +
      'until 2026-01-01T00:00:01.000Z',
  );
  later(ledger, 1_000);
  const second = asked()!;
  expect([second.bound === first.bound, second.id === first.id]).toEqual([true, false]);
  expect(tell(ledger, 'deny', { ...second, ...by })).toBe('applied');
  expect(asked()).toBe(undefined);
  expect(linesOf(ledger)).toContain(`denied: ${ACTION}  charge_card, by ada: as ordered`);
});

test.each([
  ['amended: it is asked anew', 'amend', { grants: ['effect', 'query'] }],
  ['revoked: nothing starts any more', 'revoke', {}],
  ['canceled: nothing starts any more', 'cancel', {}],
] as const)('K-134 R-136 approved, and then %s', (_why, verb, more) => {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, { approval: { validForMs: null } });
  const [asked] = authorityView(ledger.run(RUN), ledger.now).approvals;
  const by = { actor: 'ada', reason: 'as ordered' };
  expect(tell(ledger, 'approve', { ...asked!.answer, ...by })).toBe('applied');
  const approved = () => authorityView(ledger.run(RUN), ledger.now).approvedNotStarted;
  expect(approved()).toHaveLength(1);
  expect(tell(ledger, verb, more)).toBe('applied');
  expect(approved()).toEqual([]);
});

test('R-084 R-108 a late result stands under its old revision beside the grants of now', () => {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger);
  tell(ledger, 'revoke', { keep: ['query'] });
  settle(ledger);
  const lines = linesOf(ledger).join('\n');
  expect(lines).toContain('authority revision 2, revoked\ngranted: query');
  expect(lines).toMatch(
    /attempt 1 executed, .*, under goal revision 1, authority revision 1, late/,
  );
});

test('R-136 a revoked run waits for nobody, and what was refused says under what', () => {
  const ledger = memoryLedger();
  open(ledger, { budget: { requests: 0, onExhausted: 'ask' } });
  enter(ledger, { reserve });
  const waiting = authorityLines(RUN, authorityView(ledger.run(RUN), ledger.now));
  expect(waiting.find((line) => line.startsWith('waits for a top-up'))).toContain(ACTION);
  expect(waiting.join('\n')).toContain('"requests": "FILL IN"');
  change(ledger, 'revoke');
  enter(ledger, again());
  const lines = linesOf(ledger);
  expect(lines.filter((line) => line.startsWith('waits'))).toEqual([]);
  expect(lines).toContain('granted: (nothing)');
  expect(lines.join('\n')).toContain('asked under goal revision 1, authority revision');
});

test('R-082 R-136 an attempt that its receiver refused says by which code and words', () => {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger);
  const refusal = { code: 'conflict', message: 'notes/a has another digest' };
  settle(ledger, { outcome: 'refused', refusal, result: null, externalId: null });
  const lines = linesOf(ledger);
  const at = lines.findIndex((line) => line.startsWith('    attempt 1 refused, entered '));
  expect(lines[at + 1]).toBe('      conflict: notes/a has another digest');
});
