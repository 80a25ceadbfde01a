// Catches numbers from outside that are each well-formed and whose sum is not: then a fact or a
// reply does not parse, and whoever waits for it waits for ever.

import { expect, test } from 'vitest';
import { toppedUp } from '../../core/budget.ts';
import { addCost, type Cost, costText, costTotalSchema, zeroTotal } from '../../core/cost.ts';
import { factBodySchema } from '../../core/facts.ts';
import { enter, open, RUN } from '../support/asks.ts';
import { askAndDecide } from '../support/authority-story.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const most = Number.MAX_SAFE_INTEGER;

test('R-131 usage and estimates at their bound add up to a total that a run can end with', () => {
  const estimate = { currency: 'USD', micros: most, tableDate: '2026-11-01' };
  const usage = { requests: most, inputTokens: most, outputTokens: most };
  const cost: Cost = { kind: 'known', usage, estimate };
  const total = [cost, cost, { kind: 'unknown', reason: 'lost' } as const].reduce(
    addCost,
    zeroTotal,
  );
  expect(costTotalSchema.parse(total)).toEqual(total);
  expect(total.atLeast).toEqual(usage);
  expect(costText(total)).toContain(`at least ${most} tokens in ${most} requests`);
});

test('R-132 a limit that is added to beyond all measure stays a whole number', () => {
  const budget = { requests: most, money: { currency: 'USD', micros: most } } as const;
  const after = toppedUp({ ...budget, onExhausted: 'ask' }, { requests: most, micros: most });
  expect(after).toEqual({ ...budget, onExhausted: 'ask' });
});

test.each(['approve', 'deny'] as const)(
  'R-095 %s is recorded where its tool lets a decision hold as long as it can say',
  (verb) => {
    const ledger = memoryLedger();
    open(ledger);
    askAndDecide(ledger, verb, { approval: { validForMs: most } });
    const { body } = ledger.facts(RUN).at(-1) ?? {};
    expect(body).toMatchObject({ kind: 'authority_changed', change: verb });
    expect(factBodySchema.parse(body)).toEqual(body);
    const { validUntil } = ledger.run(RUN).actions.get('r.t1.c1')?.approvals[0] ?? {};
    if (verb === 'approve') expect(new Date(validUntil as number).getTime()).toBe(validUntil);
  },
);

test('R-026 a key that is kept as long as can be said is resent until a date that exists', () => {
  const ledger = memoryLedger();
  open(ledger);
  expect(
    enter(ledger, { replay: 'keyed', retention: { retentionMs: most, marginMs: 1 } }).verdict,
  ).toBe('entered');
  const { resendUntil } = ledger.run(RUN).actions.get('r.t1.c1')?.attempts[0]?.entry ?? {};
  expect(Number.isNaN(new Date(resendUntil as number).getTime())).toBe(false);
});
