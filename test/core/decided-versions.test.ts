// seven versions, each with a verdict of its own. Would catch a change that is not seen, or
// that is called by the name of another. (The seventh, the replay policy, is checked where a worker
// looks up its tool: `activities/binding.ts`.)

import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { closingReasons } from '../../core/verdict.ts';
import { binding, enter, open, settle } from '../support/asks.ts';
import { amend, attempt, planGoal } from '../support/authority-story.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';

const versions = { object: 'v1', dependencies: 'd1', credentials: 'ada@bank, pay' };
const decided = { revisions: { goal: 1, auth: 1 }, versions };

interface Change {
  readonly verdict: string;
  readonly when: string;
  readonly tell?: (ledger: MemoryLedger) => unknown;
  readonly ask?: Partial<EntryAsk>;
}
const changes: readonly Change[] = [
  { verdict: 'goal_stale', when: 'goal', tell: (l) => amend(l, { goal: planGoal }) },
  {
    verdict: 'authority_stale',
    when: 'authorization',
    tell: (l) => amend(l, { grants: ['effect', 'accept'] }),
  },
  {
    verdict: 'object_changed',
    when: 'target object',
    ask: { versions: { ...versions, object: 'v2' } },
  },
  {
    verdict: 'binding_changed',
    when: 'tool and its implementation',
    ask: { binding: { ...binding, digest: digestOf('another') } },
  },
  {
    verdict: 'dependencies_changed',
    when: 'method dependencies',
    ask: { versions: { ...versions, dependencies: 'd2' } },
  },
  {
    verdict: 'credentials_changed',
    when: 'R-114 credentials: another identity or scope',
    ask: { versions: { ...versions, credentials: 'bob@bank, pay' } },
  },
];

function retryAfter(change: Change) {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, { ...decided, ...attempt(1) });
  settle(ledger, { outcome: 'not_sent' });
  change.tell?.(ledger);
  return enter(ledger, { ...decided, ...attempt(2), ...change.ask });
}

describe('R-111 before a retry', () => {
  test('nothing has changed: it goes', () => {
    expect(retryAfter({ verdict: 'entered', when: 'nothing' }).verdict).toBe('entered');
  });

  test.each(changes)('another version of $when: $verdict', (change) => {
    expect(retryAfter(change).verdict).toBe(change.verdict);
  });

  test('each has a verdict of its own, and the replay policy one before the gate', () => {
    const names = changes.map(({ verdict }) => verdict);
    expect(new Set([...names, 'policy_changed']).size).toBe(7);
    expect(closingReasons).toContain('policy_changed');
  });

  test('of two changes the detail names both versions of the first', () => {
    const both = { ...versions, object: 'v2', credentials: 'bob' };
    const { detail } = retryAfter({ verdict: '', when: '', ask: { versions: both } });
    expect(detail).toBe('decided on v1; it is v2 now');
  });

  test('a new decision under the changed authority enters with the same action', () => {
    const ledger = memoryLedger();
    open(ledger);
    enter(ledger, { ...decided, ...attempt(1) });
    settle(ledger, { outcome: 'not_sent' });
    amend(ledger, { grants: ['effect', 'accept'] });
    const revisions = { goal: 1, auth: 2 };
    expect(enter(ledger, { ...decided, ...attempt(2), revisions }).verdict).toBe('entered');
  });

  test('where the first attempt named no versions, to name some is a change', () => {
    const ledger = memoryLedger();
    open(ledger);
    enter(ledger, attempt(1));
    settle(ledger, { outcome: 'not_sent' });
    const { verdict, detail } = enter(ledger, { ...attempt(2), versions });
    expect([verdict, detail]).toEqual(['object_changed', 'decided on none; it is v1 now']);
  });
});
