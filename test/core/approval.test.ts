// What a person allowed, and whether exactly that is what goes. Would catch an approval that lets
// something else through, is used up by a try that did not go, or is taken back by a second answer.

import { describe, expect, test } from 'vitest';
import { boundOf } from '../../core/approval.ts';
import { digestOf } from '../../core/digest.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { approvalTo } from '../../core/paste.ts';
import { ACTION, binding, enter, open, payloadOf, RUN, settle } from '../support/asks.ts';
import {
  amend,
  askAndDecide,
  askedBound,
  attempt,
  decide,
  forAnHour,
  forEver,
  planGoal,
} from '../support/authority-story.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, change, end, later, rebuy } from '../support/story.ts';

const HOUR = 3_600_000;
const rewritten = { payload: payloadOf({ amount: 20 }) };
const try_ = (ledger: MemoryLedger, no: number, over: Partial<EntryAsk> = {}) =>
  enter(ledger, { ...forEver, ...attempt(no), ...over }).verdict;

function opened(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
}
function approved(over: Partial<EntryAsk> = {}): MemoryLedger {
  const ledger = opened();
  askAndDecide(ledger, 'approve', over);
  return ledger;
}

test('R-096 K-131 an approval is bound to tool, bytes and revisions, and to nothing else', () => {
  const base = { binding, payload: digestOf('a'), revisions: { goal: 1, auth: 1 } };
  const bounds = [
    base,
    { ...base, binding: { ...binding, digest: digestOf('b') } },
    { ...base, payload: digestOf('b') },
    { ...base, revisions: { goal: 2, auth: 1 } },
    { ...base, revisions: { goal: 1, auth: 2 } },
  ].map(boundOf);
  expect(new Set(bounds).size).toBe(bounds.length);
  expect(boundOf({ ...base })).toBe(bounds[0]);
});

test('what asks for an approval is in the facts: what, for how long, on which versions', () => {
  const ledger = opened();
  const versions = { object: 'v1' };
  const reply = enter(ledger, { ...forAnHour, versions });
  const revisions = { goal: 1, auth: 1 };
  const bound = boundOf({ binding, payload: payloadOf({ amount: 10 }).digest, revisions });
  const asks = { bound, validForMs: HOUR, versions };
  expect(reply).toMatchObject({ verdict: 'approval_missing', entry: null, asks });
  expect(ledger.facts(RUN).at(-1)?.body).toMatchObject({ kind: 'attempt_refused', asks });
});

describe('K-133 one approval', () => {
  test('survives a try that does not match, and lets its action in once', () => {
    const ledger = approved();
    expect(try_(ledger, 1, rewritten)).toBe('approval_mismatch');
    expect(try_(ledger, 2)).toBe('entered');
    expect(actionOf(ledger).attempts[0]?.entry.approval).toBe(
      actionOf(ledger).approvals[0]?.commandId,
    );
    settle(ledger, { attemptId: `${ACTION}~2` });
    expect(try_(ledger, 3)).toBe('already_final');
  });

  test('is one of its action: another with the same bytes asks for itself', () => {
    const ledger = approved();
    expect(try_(ledger, 1, { actionId: 'r.t1.c2', attemptId: 'r.t1.c2~1' })).toBe(
      'approval_missing',
    );
  });

  test('holds for a retry of what was not sent, though it has expired in the meantime', () => {
    const ledger = approved(forAnHour);
    expect(try_(ledger, 1, forAnHour)).toBe('entered');
    settle(ledger, { outcome: 'not_sent' });
    later(ledger, 2 * HOUR);
    expect(try_(ledger, 2, forAnHour)).toBe('entered');
  });

  test('that has expired is counted by the next question, for an id of its own', () => {
    const ledger = approved(forAnHour);
    later(ledger, 2 * HOUR);
    const asked = enter(ledger, { ...forAnHour, ...attempt(2) });
    expect(asked).toMatchObject({ verdict: 'approval_missing', asks: { earlier: 1 } });
    const bound = asked.asks?.bound ?? '';
    expect(approvalTo(ACTION, bound, asked.asks?.earlier).id).not.toBe(
      approvalTo(ACTION, bound).id,
    );
  });

  test('of mixed decisions in a batch speaks for its own action', () => {
    const ledger = opened();
    const second = { actionId: 'r.t1.c2', attemptId: 'r.t1.c2~1' };
    askAndDecide(ledger, 'approve');
    askAndDecide(ledger, 'deny', second);
    expect(try_(ledger, 1)).toBe('entered');
    expect(try_(ledger, 2, { ...second, attemptId: 'r.t1.c2~2' })).toBe('approval_denied');
  });
});

describe('K-130 what was approved is looked at again when it goes', () => {
  test.each<[string, string, Partial<EntryAsk>, ((l: MemoryLedger) => unknown)?]>([
    ['approval_mismatch', 'K-131 its bytes were rewritten', rewritten],
    ['approval_mismatch', 'its tool is another', { binding: { ...binding, digest: digestOf(1) } }],
    ['not_granted', 'effects are no longer granted', {}, (l) => amend(l, { grants: ['query'] })],
    ['approval_missing', 'the goal was amended since', {}, (l) => amend(l, { goal: planGoal })],
    [
      'approval_missing',
      'other grants are in force, that still allow it',
      {},
      (l) => amend(l, { grants: ['effect'] }),
    ],
    ['revoked', 'the run was revoked', {}, (l) => change(l, 'revoke')],
  ])('%s: %s', (verdict, _when, over, tell) => {
    const ledger = approved();
    tell?.(ledger);
    expect(try_(ledger, 1, over)).toBe(verdict);
  });

  test('one that is valid for an hour lets it in until then, and asks anew from then on', () => {
    const ledger = approved(forAnHour);
    later(ledger, HOUR);
    expect(try_(ledger, 1, forAnHour)).toBe('approval_missing');
    expect(decide(ledger, 'approve').what).toBe('applied');
    later(ledger, HOUR - 1);
    expect(try_(ledger, 2, forAnHour)).toBe('entered');
  });

  test('one without a declared time never expires', () => {
    const ledger = approved();
    later(ledger, 10_000 * HOUR);
    expect(try_(ledger, 1)).toBe('entered');
  });
});

describe('K-139 the first decision stands', () => {
  test.each([
    ['approve', 'approve'],
    ['approve', 'deny'],
    ['deny', 'approve'],
    ['deny', 'deny'],
  ] as const)('%s, then %s', (first, second) => {
    const ledger = opened();
    askAndDecide(ledger, first, forAnHour);
    const { what, why } = decide(ledger, second);
    expect([what, why]).toEqual(['rejected', `${ACTION}: ada decided before: ${first}`]);
    expect(actionOf(ledger).approvals.map(({ decision }) => decision)).toEqual([first]);
    later(ledger, first === 'deny' ? 2 * HOUR : 0);
    expect(try_(ledger, 1, forAnHour)).toBe(first === 'deny' ? 'approval_denied' : 'entered');
    const after = decide(ledger, second === 'deny' ? 'approve' : 'deny');
    expect(after.what).toBe('rejected');
  });

  test('a denial says by whom and why', () => {
    const ledger = opened();
    enter(ledger, { ...forEver, ...attempt(1) });
    decide(ledger, 'deny', { actor: 'bob', reason: 'too much' });
    expect(enter(ledger, { ...forEver, ...attempt(2) }).detail).toBe('denied by bob: too much');
  });
});

describe('a decision that answers nothing is rejected', () => {
  const other = digestOf('another');
  test.each<[string, string, (l: MemoryLedger) => unknown]>([
    ['nothing was asked', 'nothing of it waits', (l) => decide(l, 'approve', { bound: other })],
    [
      'an action that never was',
      'nothing of it waits',
      (l) => decide(l, 'approve', { bound: other, actionId: 'r.t9.c9' }),
    ],
    [
      'it asks for something else by now',
      'look again',
      (l) => {
        try_(l, 1);
        const before = askedBound(l);
        try_(l, 2, rewritten);
        return decide(l, 'approve', { bound: before });
      },
    ],
    [
      'the goal was amended since it asked',
      'nothing of it waits',
      (l) => {
        try_(l, 1);
        amend(l, { goal: planGoal });
        return decide(l, 'approve');
      },
    ],
    [
      'the grants were amended since it asked',
      'nothing of it waits',
      (l) => {
        try_(l, 1);
        amend(l, { grants: ['effect'] });
        return decide(l, 'approve');
      },
    ],
    [
      'it is over',
      'nothing of it waits',
      (l) => {
        try_(l, 1);
        enter(l, attempt(2));
        settle(l, { attemptId: `${ACTION}~2` });
        return decide(l, 'approve');
      },
    ],
    [
      'the run is revoked',
      'revoked, which',
      (l) => [try_(l, 1), change(l, 'revoke'), decide(l, 'approve')].at(-1),
    ],
    [
      'the run is canceled',
      'canceled, which',
      (l) => [try_(l, 1), change(l, 'cancel'), decide(l, 'deny')].at(-1),
    ],
    ['the run has ended', 'has ended', (l) => [try_(l, 1), end(l), decide(l, 'deny')].at(-1)],
  ])('%s', (_when, why, tell) => {
    const ledger = opened();
    expect(tell(ledger)).toEqual({ what: 'rejected', why: expect.stringContaining(why) });
    expect(ledger.facts(RUN).at(-1)?.body.kind).toBe('command_rejected');
  });
});

test('no approval is asked for what a tool lets go without one', () => {
  const ledger = opened();
  expect(try_(ledger, 1, { approval: null })).toBe('entered');
  expect(
    try_(ledger, 2, { ...rebuy, actionId: 'r.t2.m', attemptId: 'r.t2.m~1', approval: null }),
  ).toBe('entered');
});
