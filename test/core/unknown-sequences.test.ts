// Any order of attempts, settlements, questions, answers, stops and time. Would catch a path from
// an attempt that entered to "not executed" that nobody has proved and nobody has said, and an
// unknown that ends by itself.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { outcomeOf } from '../../core/action-status.ts';
import { type ContractInput, contractSchema } from '../../core/contract.ts';
import {
  inquiryVerdictSchema,
  type SettlementKind,
  settlementKindSchema,
} from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import type { ActionState } from '../../core/run-state.ts';
import { ACTION, enter, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { change, close, doubt, end, inquire, keyed, resolve, strong } from '../support/story.ts';

/** After that nothing arrives any more, and reads tell what has, as `strong` promises it. */
const SETTLED_AFTER = limits.sendWindowMs + 60_000 + 1_000;
const actions = [ACTION, 'r.t2.c1'] as const;
const contracts: readonly ContractInput[] = [
  {},
  strong,
  { inquiry: { consistency: 'lagging', settleMs: 0 }, requestDelayMaxMs: 1 },
  { ...strong, closing: 'by_token' },
  { ...strong, closing: 'by_key' },
];
const proofs = [
  { verdict: 'no_record', proof: null, contract: strong },
  { verdict: 'not_executed', proof: 'settled', contract: strong },
  { verdict: 'not_executed', proof: 'closed_token', contract: { closing: 'by_token' } },
  { verdict: 'not_executed', proof: 'closed_key', contract: { closing: 'by_key' } },
] as const;
const replays = [
  { replay: 'never' },
  keyed,
  { replay: 'safe' },
  { replay: 'never', continuing: 'own_protocol', continues: true },
] as const;

const which = {
  action: fc.constantFrom(ACTION, ...actions),
  attempt: fc.integer({ min: 1, max: 3 }),
};
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('enter'), ...which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('doubt', 'close'), ...which }) },
  fc.record({
    ...{ kind: fc.constant('settle'), ...which },
    outcome: fc.constantFrom(...settlementKindSchema.options),
    externalId: fc.constantFrom('ext-1', 'ext-2'),
  }),
  fc.record({
    ...{ kind: fc.constant('inquire'), ...which },
    said: fc.oneof(
      fc.record({
        verdict: fc.constantFrom(...inquiryVerdictSchema.options),
        proof: fc.constantFrom('closed_token', 'closed_key', 'settled', null),
        contract: fc.constantFrom(...contracts),
      }),
      fc.constantFrom(...proofs),
    ),
  }),
  fc.record({
    ...{ kind: fc.constant('answer'), ...which },
    verb: fc.constantFrom(
      'confirm_executed',
      'confirm_not_executed',
      'authorize_retry',
      'abandon',
      'settle_dispute',
    ),
    states: fc.constantFrom('executed', 'not_executed'),
    oldRequestCannotArrive: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('later'),
    ms: fc.constantFrom(1, SETTLED_AFTER + 1, 3_600_000, 30 * 86_400_000),
  }),
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('revoke', 'cancel', 'end') }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;
type Inquiry = Extract<Event, { said: unknown }>;

/** Attempts that a receiver or a person has said had no effect, told from the events alone. */
type Excluded = Set<string>;

test('D1 D10 D11 in any order, what entered is "not executed" by a word on it alone', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.nat(3), (events, replay) => {
      const ledger = memoryLedger();
      open(ledger);
      const excluded: Excluded = new Set();
      for (const [no, each] of events.entries()) {
        const known = () => actions.map((actionId) => ledger.run(RUN).actions.get(actionId));
        const before = known();
        tell(ledger, each, { no, replay, excluded });
        for (const action of known()) expectWordOnEach(action, excluded);
        if (saysNothing.has(each.kind)) expect(known().map(cameTo)).toEqual(before.map(cameTo));
      }
    }),
    { numRuns: 500 },
  );
});

interface Told {
  readonly no: number;
  readonly replay: number;
  readonly excluded: Excluded;
}

function tell(ledger: MemoryLedger, each: Event, { no, replay, excluded }: Told): void {
  if (each.kind === 'later') ledger.now += each.ms;
  else if (each.kind === 'end') end(ledger, { end: { kind: 'stopped', reason: 'canceled' } });
  else if ('action' in each) tellOf(ledger, each, { no, replay, excluded });
  else change(ledger, each.kind, { id: `${each.kind}-${no}` });
}

function tellOf(
  ledger: MemoryLedger,
  each: Extract<Event, { action: string }>,
  { no, replay, excluded }: Told,
): void {
  const action = ledger.run(RUN).actions.get(each.action);
  const entered = action?.attempts ?? [];
  // One that entered, most of the time: what is told of others proves nothing.
  const attempt = entered[(each.attempt - 1) % Math.max(1, entered.length)];
  const isNew = each.kind === 'enter' || attempt === undefined;
  const attemptId = isNew ? `${each.action}~${no}` : attempt.attemptId;
  if (each.kind === 'answer') answered(ledger, each, excluded);
  else if ('said' in each) inquired(ledger, each, excluded);
  else if (each.kind === 'doubt') doubt(ledger, attemptId);
  else if (each.kind === 'close') close(ledger, attemptId);
  else if (each.kind === 'enter') {
    const ask = { actionId: each.action, attemptId, intentDigest: null };
    enter(ledger, { ...replays[replay], ...ask });
  } else if ('outcome' in each && attempt !== undefined) {
    const { outcome, externalId } = each;
    if (attempt.settled === null && definite.has(outcome)) excluded.add(attemptId);
    const named = outcome === 'executed' || outcome === 'accepted' ? { externalId } : {};
    settle(ledger, { actionId: each.action, attemptId, outcome, ...named });
  }
}

const definite: ReadonlySet<SettlementKind> = new Set(['refused', 'not_taken', 'not_sent']);
const saysNothing: ReadonlySet<string> = new Set(['later', 'end', 'revoke', 'cancel', 'doubt']);

function inquired(ledger: MemoryLedger, each: Inquiry, excluded: Excluded): void {
  const { action: actionId, said, attempt: upToNumber } = each;
  const contract = contractSchema.parse(said.contract);
  const action = ledger.run(RUN).actions.get(actionId);
  for (const attemptId of provedBy(each, action, ledger.now)) excluded.add(attemptId);
  const parts = [{ name: 'file', state: 'confirmed' } as const];
  inquire(ledger, { actionId, ...said, contract, upToNumber, parts });
}

/** What the answer proves under the contract that it was given under. */
function provedBy(
  { said, attempt: upToNumber }: Inquiry,
  action: ActionState | undefined,
  now: number,
): string[] {
  const { verdict, proof } = said;
  const contract = contractSchema.parse(said.contract);
  const attempts = action?.attempts ?? [];
  const isStrong =
    typeof contract.inquiry === 'object' && contract.inquiry.consistency === 'strong';
  const covered = attempts.filter(({ entry }) => entry.number <= upToNumber);
  if (verdict === 'no_record') {
    const isOver = attempts.every(
      ({ settled, exclusion, enteredAt }) =>
        exclusion !== 'none' ||
        (settled === null ? now > enteredAt + SETTLED_AFTER : definite.has(settled.outcome)),
    );
    return isStrong && isOver && contract.requestDelayMaxMs === 60_000 ? idsOf(covered) : [];
  }
  if (verdict !== 'not_executed') return [];
  if (proof === 'closed_key') return contract.closing === 'by_key' ? idsOf(attempts) : [];
  if (proof === 'closed_token') return contract.closing === 'by_token' ? idsOf(covered) : [];
  return proof === 'settled' && isStrong ? idsOf(covered) : [];
}

function idsOf(attempts: ActionState['attempts']): string[] {
  return attempts.map(({ attemptId }) => attemptId);
}

function answered(
  ledger: MemoryLedger,
  each: Extract<Event, { verb: string }>,
  excluded: Excluded,
): void {
  const { action: actionId, verb, states, oldRequestCannotArrive } = each;
  const action = ledger.run(RUN).actions.get(actionId);
  if (action === undefined) return;
  const { recordVersion } = action;
  const more = {
    ...(verb === 'settle_dispute' ? { states } : {}),
    ...(verb === 'confirm_not_executed' ? { oldRequestCannotArrive } : {}),
  };
  const { what } = resolve(ledger, { verb, actionId, recordVersion, ...more });
  const denies =
    verb === 'confirm_not_executed' || (verb === 'settle_dispute' && states === 'not_executed');
  if (denies && what !== 'rejected')
    for (const attemptId of idsOf(action.attempts)) excluded.add(attemptId);
}

function expectWordOnEach(action: ActionState | undefined, excluded: Excluded): void {
  if (action === undefined || outcomeOf(action)?.kind !== 'not_executed') return;
  expect(idsOf(action.attempts).filter((attemptId) => !excluded.has(attemptId))).toEqual([]);
}

function cameTo(action: ActionState | undefined) {
  if (action === undefined || action.attempts.length === 0) return null;
  return [outcomeOf(action), action.disputed];
}
