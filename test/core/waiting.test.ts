// What waits for a person besides the questions: it would catch an approval or an empty budget that
// no list shows, and one that is listed after it was answered.

import { expect, test } from 'vitest';
import { decideAuthority, type GivenCommand } from '../../core/authority.ts';
import type { Digest } from '../../core/digest.ts';
import { waitingCount, waitingForPeople } from '../../core/waiting.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { again, change, end, inTurn, later } from '../support/story.ts';

const HOUR_MS = 3_600_000;
const needs = { approval: { validForMs: HOUR_MS } } as const;
const one = { requests: 1, tokens: 0, money: null };
const by = { actor: 'ada', reason: 'seen' };

let commands = 0;

function tell(ledger: MemoryLedger, verb: GivenCommand['verb'], more: object = {}) {
  const command = { id: `c${commands++}`, ...by, ...more };
  return ledger.decide({ runId: RUN }, decideAuthority({ verb, command } as GivenCommand)).what;
}

function bound(ledger: MemoryLedger): Digest {
  const [refusal] = ledger.run(RUN).actions.get(ACTION)?.refusals ?? [];
  return refusal!.asks!.bound;
}

const waits = (ledger: MemoryLedger) => {
  const { approvals, exhausted } = waitingForPeople(ledger.run(RUN), ledger.now);
  const waiting = {
    approvals: approvals.map(({ actionId }) => actionId),
    exhausted: exhausted.map(({ actionId }) => actionId),
  };
  expect(waitingCount(ledger.run(RUN), ledger.now)).toBe(approvals.length + exhausted.length);
  return waiting;
};

const nothing = { approvals: [], exhausted: [] };
const anApproval = { approvals: [ACTION], exhausted: [] };
const aTopUp = { approvals: [], exhausted: [ACTION] };

function withApproval(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, needs);
  return ledger;
}

/** A budget of one request, used up. */
function withoutBudget(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger, { budget: { requests: 0, onExhausted: 'ask' } });
  enter(ledger, { reserve: one });
  return ledger;
}

const second = { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' };

/** As above: another action holds the one request. */
function besideAnother(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger, { budget: { requests: 1, onExhausted: 'ask' } });
  enter(ledger, { reserve: one, ...second, entryToken: 'token-2' });
  enter(ledger, { reserve: one });
  return ledger;
}

test.each<[string, MemoryLedger, (ledger: MemoryLedger) => unknown, object]>([
  ['asked', withApproval(), () => undefined, anApproval],
  [
    'approved',
    withApproval(),
    (ledger) => tell(ledger, 'approve', { actionId: ACTION, bound: bound(ledger) }),
    nothing,
  ],
  [
    'denied',
    withApproval(),
    (ledger) => tell(ledger, 'deny', { actionId: ACTION, bound: bound(ledger) }),
    nothing,
  ],
  [
    'approved and expired before it began',
    withApproval(),
    (ledger) =>
      inTurn(
        tell(ledger, 'approve', { actionId: ACTION, bound: bound(ledger) }),
        later(ledger, HOUR_MS),
      ),
    anApproval,
  ],
  ['amended', withApproval(), (ledger) => tell(ledger, 'amend', { grants: ['effect'] }), nothing],
  ['revoked', withApproval(), (ledger) => change(ledger, 'revoke'), nothing],
  ['canceled', withApproval(), (ledger) => change(ledger, 'cancel'), nothing],
  ['ended', withApproval(), (ledger) => end(ledger), nothing],
  ['used up', withoutBudget(), () => undefined, aTopUp],
  ['topped up', withoutBudget(), (ledger) => tell(ledger, 'topUp', { requests: 1 }), nothing],
  [
    'topped up and entered',
    withoutBudget(),
    (ledger) =>
      inTurn(tell(ledger, 'topUp', { requests: 1 }), enter(ledger, { reserve: one, ...again() })),
    nothing,
  ],
  [
    'entered, since another one cost nothing',
    besideAnother(),
    (ledger) =>
      inTurn(
        settle(ledger, { ...second, outcome: 'not_sent' }),
        enter(ledger, { reserve: one, ...again() }),
      ),
    nothing,
  ],
  [
    'topped up where nothing was limited',
    withoutBudget(),
    (ledger) => tell(ledger, 'topUp', { tokens: 1 }),
    aTopUp,
  ],
  ['amended grants', withoutBudget(), (ledger) => tell(ledger, 'amend', { grants: [] }), nothing],
  [
    'refused anew for another reason',
    withoutBudget(),
    (ledger) => enter(ledger, { reserve: one, ...needs, ...again() }),
    anApproval,
  ],
  ['revoked, used up', withoutBudget(), (ledger) => change(ledger, 'revoke'), nothing],
])('R-136 %s: what waits for a person is what is listed', (_, ledger, then, listed) => {
  then(ledger);
  expect(waits(ledger)).toEqual(listed);
});
