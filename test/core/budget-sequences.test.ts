// Any order of calls, answers, losses and top-ups. Would catch an order in which more is used or
// held than was allowed.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spentOf } from '../../core/budget.ts';
import type { Cost } from '../../core/cost.ts';
import { enter, open, RUN, settle } from '../support/asks.ts';
import { topUp } from '../support/authority-story.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { rebuy } from '../support/story.ts';

const reserved = { requests: 1, tokens: 10, money: { currency: 'USD', micros: 100 } };
const answer = fc.record({
  tokens: fc.integer({ min: 0, max: reserved.tokens }),
  micros: fc.integer({ min: 0, max: reserved.money.micros }),
});
const event = fc.oneof(
  fc.record({ kind: fc.constant('call'), action: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    kind: fc.constantFrom('answer', 'unknown', 'not_sent', 'not_taken'),
    which: fc.nat(20),
    answer,
  }),
  fc.record({ kind: fc.constant('topUp'), tokens: fc.integer({ min: 1, max: 30 }) }),
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

test('R-131 whatever the order, what is used and held never exceeds what was allowed', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      const ledger = memoryLedger();
      const limit = { requests: 5, tokens: 40, money: { currency: 'USD', micros: 450 } };
      open(ledger, { budget: { ...limit, onExhausted: 'ask' } });
      const entered: string[] = [];
      for (const [no, each] of events.entries()) {
        tell(each, no);
        const { requests, tokens, micros } = spentOf(ledger.run(RUN));
        const { budget } = ledger.run(RUN);
        expect(requests.known + requests.held).toBeLessThanOrEqual(budget?.requests ?? 0);
        expect(tokens.known + tokens.held).toBeLessThanOrEqual(budget?.tokens ?? 0);
        expect(micros.known + micros.held).toBeLessThanOrEqual(budget?.money?.micros ?? 0);
      }

      function tell(each: Event, no: number): void {
        if ('tokens' in each) topUp(ledger, { tokens: each.tokens });
        else if ('action' in each) {
          const actionId = `r.t${each.action}.m`;
          const attemptId = `${actionId}~${no}`;
          const { verdict } = enter(ledger, { ...rebuy, actionId, attemptId, reserve: reserved });
          if (verdict === 'entered') entered.push(attemptId);
        } else {
          const attemptId = entered[each.which % Math.max(1, entered.length)];
          if (attemptId === undefined) return;
          const actionId = attemptId.replace(/~.*/, '');
          const { tokens, micros } = each.answer;
          const estimate = { currency: 'USD', micros, tableDate: '2026-11-01' };
          const usage = { requests: 1, inputTokens: tokens, outputTokens: 0 };
          const known: Cost = { kind: 'known', usage, estimate };
          const cost: Cost = each.kind === 'answer' ? known : { kind: 'unknown', reason: 'lost' };
          if (each.kind === 'answer' || each.kind === 'unknown')
            settle(ledger, { actionId, attemptId, cost, externalId: null });
          else
            settle(ledger, { actionId, attemptId, outcome: each.kind as 'not_sent' | 'not_taken' });
        }
      }
    }),
  );
});
