// What waits for a person besides the questions: it would catch an approval or an empty budget that
// no list shows, and one that is listed after it was answered.

import { expect, test } from 'vitest';
import { decideAuthority, type GivenCommand } from '../../core/authority.ts';
import { type Digest, digestOf } from '../../core/digest.ts';
import { waitingCount, waitingForPeople } from '../../core/waiting.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { again, change, doubt, end, inTurn, later, resolve } from '../support/story.ts';

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
  const { approvals, exhausted, twins } = waitingForPeople(ledger.run(RUN), ledger.now);
  const waiting = {
    approvals: approvals.map(({ actionId }) => actionId),
    exhausted: exhausted.map(({ actionId }) => actionId),
    twins: twins.map(({ action, twin }) => [action.actionId, twin]),
  };
  const count = approvals.length + exhausted.length + twins.length;
  expect(waitingCount(ledger.run(RUN), ledger.now)).toBe(count);
  return waiting;
};

const nothing = { approvals: [], exhausted: [], twins: [] };
const anApproval = { ...nothing, approvals: [ACTION] };
const aTopUp = { ...nothing, exhausted: [ACTION] };

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

const TWIN = 'r.t2.c1';
const alike = { onUnknown: 'continue', intentDigest: digestOf('the same wish') } as const;

/** The action was refused, because its twin is in doubt. */
function withTwin(): MemoryLedger {
  const ledger = memoryLedger();
  open(ledger);
  enter(ledger, { ...alike, actionId: TWIN });
  doubt(ledger, `${TWIN}~1`);
  enter(ledger, alike);
  return ledger;
}
const aTwin = { ...nothing, twins: [[ACTION, TWIN]] };
const distinct = { verb: 'confirm_distinct', distinctFrom: TWIN } as const;

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
  ['like another one in doubt', withTwin(), () => undefined, aTwin],
  ['said to be another wish', withTwin(), (ledger) => resolve(ledger, distinct), nothing],
  [
    'another wish that has entered',
    withTwin(),
    (ledger) => inTurn(resolve(ledger, distinct), enter(ledger, { ...alike, ...again() })),
    nothing,
  ],
  [
    'let in, since its twin was given up, and under way',
    withTwin(),
    (ledger) =>
      inTurn(
        resolve(ledger, { verb: 'abandon', actionId: TWIN, recordVersion: 3 }),
        enter(ledger, { ...alike, ...again() }),
      ),
    nothing,
  ],
  [
    'let in, since its twin was given up, and settled',
    withTwin(),
    (ledger) =>
      inTurn(
        resolve(ledger, { verb: 'abandon', actionId: TWIN, recordVersion: 3 }),
        enter(ledger, { ...alike, ...again() }),
        settle(ledger, { attemptId: `${ACTION}~2` }),
      ),
    nothing,
  ],
  ['like another one, revoked', withTwin(), (ledger) => change(ledger, 'revoke'), nothing],
  ['revoked, used up', withoutBudget(), (ledger) => change(ledger, 'revoke'), nothing],
])('R-136 %s: what waits for a person is what is listed', (_, ledger, then, listed) => {
  then(ledger);
  expect(waits(ledger)).toEqual(listed);
});
