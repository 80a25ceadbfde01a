// Another goal, other grants. Would catch an amendment that does not raise its revision, one that
// the run cannot follow, and one that gives back what was taken.

import { describe, expect, test } from 'vitest';
import { canonicalBytes, digestOf, type Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { binding, enter, open, payloadOf, RUN } from '../support/asks.ts';
import { amend, give, planGoal, step } from '../support/authority-story.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { change, end } from '../support/story.ts';

const goals = { kind: 'plan', steps: [{ ...step, input: { amount: 30 } }] };
function opened(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  return ledger;
}

describe('R-098 R-111 an amendment', () => {
  test.each<[string, { goal?: Json; grants?: 'effect'[] }, { goal: number; auth: number }]>([
    ['a goal', { goal: planGoal }, { goal: 2, auth: 1 }],
    ['grants', { grants: ['effect'] }, { goal: 1, auth: 2 }],
    ['no grants at all', { grants: [] }, { goal: 1, auth: 2 }],
    ['both', { goal: planGoal, grants: ['effect'] }, { goal: 2, auth: 2 }],
  ])('of %s raises its own revisions', (_what, more, revisions) => {
    const ledger = opened();
    const before = ledger.run(RUN);
    expect(amend(ledger, more)).toEqual({ what: 'applied', why: null });
    const run = ledger.run(RUN);
    expect(run.revisions).toEqual(revisions);
    expect(run.grants).toEqual(more.grants ?? before.grants);
    const bytes = canonicalBytes(planGoal);
    expect(run.amendedGoals).toEqual(
      more.goal ? [{ digest: digestOf(planGoal), bytes: bytes.length }] : [],
    );
    expect(ledger.payloads.has(digestOf(planGoal))).toBe(more.goal !== undefined);
    const stale = more.goal ? 'goal_stale' : 'authority_stale';
    expect(enter(ledger, { revisions: before.revisions }).verdict).toBe(stale);
  });

  test('carries where in the walk it takes effect, and names each grant once', () => {
    const ledger = opened();
    give(ledger, 'amend', { grants: ['effect', 'effect', 'read'] }, 't3.m');
    expect(ledger.facts(RUN).at(-1)?.body).toMatchObject({
      position: 't3.m',
      grants: ['effect', 'read'],
    });
  });

  test('of grants before the run opens holds when it does', () => {
    const ledger = memoryLedger();
    amend(ledger, { grants: ['read'] });
    open(ledger);
    expect(ledger.run(RUN)).toMatchObject({ grants: ['read'], revisions: { goal: 1, auth: 2 } });
  });

  test('that comes twice is one; another after it is the third revision', () => {
    const ledger = opened();
    amend(ledger, { id: 'a1', goal: planGoal });
    expect(amend(ledger, { id: 'a1', goal: goals }).what).toBe('duplicate');
    amend(ledger, { goal: goals });
    expect(ledger.run(RUN).revisions.goal).toBe(3);
    expect(ledger.run(RUN).amendedGoals.map(({ digest }) => digest)).toEqual([
      digestOf(planGoal),
      digestOf(goals),
    ]);
  });

  const plan = (...steps: Json[]) => ({ kind: 'plan', steps });
  test.each<[string, string, (l: MemoryLedger) => unknown, Json]>([
    [
      'revoked',
      'revoked, which nothing takes back',
      (l) => [open(l), change(l, 'revoke')],
      planGoal,
    ],
    ['canceled', 'canceled, which', (l) => [open(l), change(l, 'cancel')], planGoal],
    ['ended', 'the run has ended', (l) => [open(l), end(l)], planGoal],
    ['not open yet', 'has not opened', () => {}, planGoal],
    [
      'open with other tools',
      'uses the tool "fax"',
      (l) => open(l),
      plan({ tool: 'fax', input: 1 }),
    ],
    [
      'open with two steps of one name',
      'the same position',
      (l) => open(l),
      plan({ ...step, name: 'a' }, { ...step, name: 'a' }),
    ],
    [
      'open with a model, which no step can call',
      'uses the tool "model"',
      (l) => open(l, { bindings: [binding, { ...binding, tool: 'model' }] }),
      plan({ tool: 'model', input: 1 }),
    ],
    ['open without a model', 'for a model', (l) => open(l), { kind: 'model', instructions: 'x' }],
    ['open, and it is no goal', 'does not parse', (l) => open(l), { kind: 'dance' }],
    [
      'open, and it is too long',
      'more than',
      (l) => open(l),
      plan({ ...step, input: 'x'.repeat(limits.runInputBytesMax) }),
    ],
    [
      'open with that goal',
      'follows this goal already',
      (l) => open(l, { goal: payloadOf(planGoal) }),
      planGoal,
    ],
    [
      'amended to that goal',
      'follows this goal already',
      (l) => [open(l), amend(l, { goal: planGoal })],
      planGoal,
    ],
  ])('is rejected where the run is %s', (_when, why, given, goal) => {
    const ledger = memoryLedger();
    given(ledger);
    const { revisions, grants } = ledger.run(RUN);
    const reply = amend(ledger, { goal, grants: ['effect'] });
    expect(reply).toEqual({ what: 'rejected', why: expect.stringContaining(why) });
    expect(ledger.run(RUN)).toMatchObject({ revisions, grants });
    expect(ledger.facts(RUN).at(-1)?.body.kind).toBe('command_rejected');
  });

  test('to a model is followed where the run was opened with one', () => {
    const ledger = memoryLedger();
    const model = { tool: 'model', version: '1', digest: digestOf('model 1') };
    open(ledger, { bindings: [model] });
    expect(amend(ledger, { goal: { kind: 'model', instructions: 'x' } }).what).toBe('applied');
  });
});
