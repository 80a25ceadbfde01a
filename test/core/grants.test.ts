// What a run may do, by purpose. Would catch a grant that is not asked for, or stands for another.

import { describe, expect, test } from 'vitest';
import { authorityRows } from '../../core/gate-authority.ts';
import { type Grant, grantFor, grantSchema } from '../../core/grants.ts';
import { replayPolicySchema } from '../../core/tool-policy.ts';
import { enter, entryAsk, open, RUN } from '../support/asks.ts';
import { amend, give } from '../support/authority-story.ts';
import { viewOf } from '../support/fact-bodies.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { change, rebuy, safe } from '../support/story.ts';

const combinations = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
  (['query', 'effect', 'send'] as const).filter((_, at) => bits & (1 << at)),
);
const calls = {
  effect: {},
  send: { ...rebuy, actionId: 'r.t1.m' },
  read: { ...safe, actionId: 'r.t1.c9' },
} as const;

/** What a run with these grants may do: enter by purpose, and ask receivers. */
function allowed(grants: readonly Grant[], how: 'at the start' | 'amended'): string[] {
  const ledger = memoryLedger();
  open(ledger, how === 'amended' ? {} : { grants });
  if (how === 'amended') amend(ledger, { grants: [...grants] });
  const entered = Object.entries(calls).filter(([, over]) => {
    const actionId = 'actionId' in over ? over.actionId : 'r.t1.c1';
    const { verdict } = enter(ledger, { ...over, actionId, attemptId: `${actionId}~1` });
    if (verdict !== 'entered') expect(verdict).toBe('not_granted');
    return verdict === 'entered';
  });
  const asks = ledger.run(RUN).grants?.includes('query') ? ['query'] : [];
  return [...entered.map(([purpose]) => purpose), ...asks].sort();
}

describe.each(['at the start', 'amended'] as const)('R-115 granted %s', (how) => {
  test.each(combinations.map((grants) => [grants]))('%j: that, and nothing else', (grants) => {
    expect(allowed(grants, how)).toEqual([...grants].sort());
  });

  test('read is one of its own', () => {
    expect(allowed(['read'], how)).toEqual(['read']);
  });
});

test('before a run has opened nothing is granted', () => {
  const ledger = memoryLedger();
  const ask = entryAsk(ledger);
  const each = { ask, view: viewOf(ledger), action: undefined, hasPermit: false };
  expect(authorityRows.not_granted(each)).toContain('"effect" is not granted');
});

test('every replay policy needs a grant that there is', () => {
  expect(Object.keys(grantFor).sort()).toEqual([...replayPolicySchema.options].sort());
  expect(grantSchema.options).toEqual(expect.arrayContaining(Object.values(grantFor)));
});

describe('R-109 T-10 a revoke', () => {
  test.each<[readonly 'query'[] | undefined, readonly Grant[], readonly Grant[]]>([
    [undefined, ['effect', 'query'], []],
    [[], ['effect', 'query'], []],
    [['query'], ['effect', 'query'], ['query']],
    [['query'], ['effect'], []],
  ])('that keeps %j of %j leaves %j', (keep, before, after) => {
    const ledger = memoryLedger();
    open(ledger, { grants: before });
    give(ledger, 'revoke', keep === undefined ? {} : { keep: [...keep] });
    expect(ledger.run(RUN).grants).toEqual(after);
    expect(ledger.facts(RUN).at(-1)?.body).toMatchObject({ change: 'revoke', grants: after });
  });

  test.each<[readonly Grant[], readonly Grant[]]>([
    [['effect', 'query'], ['query']],
    [['effect'], []],
  ])('before the run opens with %j keeps %j of it, if so it says', (grants, after) => {
    const ledger = memoryLedger();
    give(ledger, 'revoke', { keep: ['query'] });
    open(ledger, { grants });
    expect(ledger.run(RUN).grants).toEqual(after);
    change(ledger, 'permit', { ticket: 'ticket-1' });
    open(ledger, { firstExecutionRunId: 'exec-2', ticket: 'ticket-1' });
    expect(ledger.run(RUN).grants).toEqual(after);
  });

  test('of an earlier version, which names no grants, keeps none', () => {
    const ledger = memoryLedger();
    open(ledger);
    const who = { commandId: 'x', actor: 'ada', reason: 'stop', position: null, ticket: null };
    const revisions = { goal: 1, auth: 2 };
    const body = { kind: 'authority_changed', change: 'revoke', ...who, revisions } as const;
    ledger.write(RUN, { source: 'human', body });
    expect(ledger.run(RUN).grants).toEqual([]);
  });
});
