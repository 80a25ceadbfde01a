// A further attempt needs two things, each by itself: that the old operation bears repeating, and
// that the task may still do it now. One row per condition; then every pair of them.

import { describe, expect, test } from 'vitest';
import { genesisBase } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { limits } from '../../core/limits.ts';
import type { OpenAsk } from '../../core/open-run.ts';
import { ACTION, enter, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { amend } from '../support/authority-story.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  again,
  change,
  contractOf,
  doubt,
  end,
  inquire,
  inTurn,
  keyed,
  later,
  resolve,
} from '../support/story.ts';

interface Condition {
  readonly when: string;
  /** Why the gate says no; null: this class says yes. */
  readonly denies: string | null;
  readonly first?: Partial<EntryAsk>;
  readonly budget?: OpenAsk['budget'];
  readonly tell?: (ledger: MemoryLedger) => unknown;
  readonly ask?: Partial<EntryAsk>;
}

const closedDoor = (ledger: MemoryLedger) =>
  inquire(ledger, {
    verdict: 'not_executed',
    proof: 'closed_token',
    contract: contractOf({ closing: 'by_token' }),
  });
const no = (oldRequestCannotArrive: boolean) => (ledger: MemoryLedger) =>
  inTurn(doubt(ledger), resolve(ledger, { verb: 'confirm_not_executed', oldRequestCannotArrive }));

/** Not executed, executed with a receipt, perhaps executed without one; and what repeating does. */
const oldOperation: readonly Condition[] = [
  {
    when: 'perhaps executed, its key still known',
    denies: null,
    first: keyed,
    tell: (l) => doubt(l),
  },
  { when: 'not executed, by a closed door', denies: null, tell: closedDoor },
  {
    when: 'not executed, by a person who says why nothing can arrive',
    denies: null,
    tell: no(true),
  },
  {
    when: 'not taken by the receiver',
    denies: null,
    tell: (l) => settle(l, { outcome: 'not_taken' }),
  },
  {
    when: 'without an effect outside',
    denies: null,
    first: { replay: 'safe' },
    tell: (l) => doubt(l),
  },
  { when: 'perhaps executed, no key', denies: 'action_in_doubt', tell: (l) => doubt(l) },
  { when: 'perhaps still on its way', denies: 'action_in_doubt', tell: no(false) },
  {
    when: 'perhaps executed, its key perhaps forgotten',
    denies: 'retention_expired',
    first: keyed,
    tell: (l) => inTurn(doubt(l), later(l, 3_600_000)),
  },
  { when: 'executed, with a receipt', denies: 'already_final', tell: (l) => settle(l) },
  {
    when: 'given up by a person',
    denies: 'action_in_doubt',
    first: keyed,
    tell: (l) => inTurn(doubt(l), resolve(l, { verb: 'abandon' })),
  },
  {
    when: 'another operation than the first',
    denies: 'payload_conflict',
    first: keyed,
    tell: (l) => doubt(l),
    ask: { payload: payloadOf({ amount: 20 }) },
  },
];

const versions = { object: 'v1', dependencies: 'd1', credentials: 'c1' };
const currentTask: readonly Condition[] = [
  { when: 'all as it was decided', denies: null },
  { when: 'revoked', denies: 'revoked', tell: (l) => change(l, 'revoke') },
  { when: 'canceled', denies: 'revoked', tell: (l) => change(l, 'cancel') },
  {
    when: 'decided under another authority',
    denies: 'authority_stale',
    ask: { revisions: { goal: 1, auth: 2 } },
  },
  {
    when: 'decided for another goal',
    denies: 'goal_stale',
    ask: { revisions: { goal: 2, auth: 1 } },
  },
  {
    when: 'another tool than the one pinned',
    denies: 'binding_changed',
    ask: { binding: { tool: 'charge_card', version: '2', digest: digestOf('2') } },
  },
  {
    when: 'not granted any more',
    denies: 'not_granted',
    tell: (l) => amend(l, { grants: ['query'] }),
    ask: { revisions: { goal: 1, auth: 2 } },
  },
  ...(
    [
      ['object', 'object_changed'],
      ['dependencies', 'dependencies_changed'],
      ['credentials', 'credentials_changed'],
    ] as const
  ).map(
    ([which, denies]): Condition => ({
      when: `another version of its ${which}`,
      denies,
      first: { versions },
      ask: { versions: { ...versions, [which]: 'another' } },
    }),
  ),
  {
    when: 'a person has to approve it now',
    denies: 'approval_missing',
    ask: { approval: { validForMs: null } },
  },
  {
    when: 'more than there is left to spend',
    denies: 'budget_exhausted',
    budget: { requests: 0, onExhausted: 'ask' },
    ask: { reserve: { requests: 1, tokens: 0, money: null } },
  },
  {
    when: 'the run has ended',
    denies: 'run_ended',
    tell: (l) => end(l, { end: { kind: 'stopped', reason: 'canceled' } }),
  },
  {
    when: 'another outcome before it than the one it builds on',
    denies: 'predecessor_mismatch',
    ask: { consumes: { base: digestOf('another past'), pairs: [] } },
  },
  { when: 'another claim holds the run', denies: 'claim_stale', ask: { epoch: 2 } },
  {
    when: 'no longer wanted by its run',
    denies: 'attempt_not_current',
    ask: { barrier: { kind: 'not_current', why: 'paused' } },
  },
  {
    when: 'wanted as far as anybody knew a while ago',
    denies: 'authority_unavailable',
    ask: { barrier: { kind: 'current', ageMs: limits.barrierAgeMs + 1 } },
  },
];

function verdictOf(old: Condition, now: Condition): string {
  const ledger = memoryLedger();
  open(ledger, { budget: now.budget ?? null });
  const first = { ...old.first, ...now.first };
  enter(ledger, first);
  old.tell?.(ledger);
  now.tell?.(ledger);
  const revisions = { goal: 1, auth: 1 };
  const consumes = { base: genesisBase(RUN), pairs: [] };
  const base = { ...first, ...again(), actionId: ACTION, revisions, consumes };
  return enter(ledger, { ...base, ...old.ask, ...now.ask }).verdict;
}

const holds: Condition = {
  when: 'perhaps executed, its key still known',
  denies: null,
  first: keyed,
  tell: (l) => doubt(l),
};

describe('R-043 R-111 another attempt', () => {
  test.each(oldOperation)('$when: $denies', (old) => {
    expect(verdictOf(old, { when: 'as it was', denies: null })).toBe(old.denies ?? 'entered');
  });

  test.each(currentTask)('$when: $denies', (now) => {
    expect(verdictOf(holds, now)).toBe(now.denies ?? 'entered');
  });

  test('goes only where both classes hold: every pair, and the reason is of one of the two', () => {
    for (const old of oldOperation)
      for (const now of currentTask) {
        const verdict = verdictOf(old, now);
        const pair = `${old.when}; ${now.when}: ${verdict}`;
        const reasons = [old.denies, now.denies].filter((each) => each !== null);
        if (reasons.length === 0) expect(verdict, pair).toBe('entered');
        else expect(reasons, pair).toContain(verdict);
      }
  });
});
