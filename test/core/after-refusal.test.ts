// What follows a gate that says no, where an older attempt may have gone through, or a person has
// to be heard. Would catch an action called not executed because its retry was not allowed.

import { describe, expect, test } from 'vitest';
import { afterAttempt, verdictTable } from '../../core/after-attempt.ts';
import type { AttemptContext, AttemptEnd } from '../../core/attempt-end.ts';
import type { Refusal } from '../../core/verdict.ts';

const context: AttemptContext = {
  actionId: 'r.t1.c1',
  replay: 'never',
  stop: null,
  attempts: 2,
  attemptsMax: 5,
  infra: 0,
  rereads: 0,
  open: 0,
  inquiries: 0,
  keyRefused: false,
  continues: false,
  now: 1_000,
  deadlineAt: 900_000,
  onExhausted: 'ask',
  random: 0.5,
};
const reply = (verdict: Refusal): AttemptEnd => ({
  kind: 'reply',
  verdict,
  detail: null,
  settled: null,
  outcome: null,
  retryAfterMs: null,
});
const refusals = (Object.keys(verdictTable) as Refusal[]).filter(
  (verdict) => verdictTable[verdict].do === 'not_executed',
);

describe('R-006 R-049 refused on a retry', () => {
  test.each(refusals)('%s: not executed only where nothing older is open', (verdict) => {
    expect(afterAttempt(reply(verdict), context)).toMatchObject({
      kind: 'done',
      outcome: { kind: 'not_executed', reason: verdict },
    });
    for (const replay of ['never', 'keyed'] as const)
      expect(afterAttempt(reply(verdict), { ...context, replay, open: 1 })).toEqual({
        kind: 'ask',
      });
    for (const replay of ['safe', 'rebuy'] as const) {
      const open = { ...context, replay, open: 1 };
      expect(afterAttempt(reply(verdict), open).kind).toBe('retry');
      const last = afterAttempt(reply(verdict), { ...open, attempts: 5 });
      expect(last).toMatchObject({ kind: 'done', outcome: { kind: 'unknown' } });
    }
  });
});

test.each([
  ['approval_missing', 'await_approval'],
  ['budget_exhausted', 'await_budget'],
] as const)('%s waits for a person, unless the run stops', (verdict, kind) => {
  expect(afterAttempt(reply(verdict), context)).toEqual({ kind });
  const stopped = { ...context, stop: 'revoked' } as const;
  expect(afterAttempt(reply(verdict), stopped)).toEqual({ kind: 'stop', reason: 'revoked' });
});

test('R-131 an exhausted budget ends the run where it was declared so', () => {
  const end = { ...context, onExhausted: 'end' } as const;
  const exhausted = reply('budget_exhausted');
  expect(afterAttempt(exhausted, end)).toEqual({ kind: 'stop', reason: 'budget' });
  const stopped = { ...end, stop: 'canceled' } as const;
  expect(afterAttempt(exhausted, stopped)).toEqual({ kind: 'stop', reason: 'canceled' });
});
