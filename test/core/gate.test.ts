import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import type { EntryAsk } from '../../core/gate-case.ts';
import { gateTable } from '../../core/gate-table.ts';
import { gateVerdicts } from '../../core/verdict.ts';
import { ACTION, enter, open, payloadOf, pinOf, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import { authorityRows, budgetRows } from './gate/authority-rows.ts';
import { compensationRows } from './gate/compensation-rows.ts';
import {
  again,
  consuming,
  doubt,
  entered,
  executed,
  keyed,
  minutes,
  next,
  noIntent,
  opened,
  type Row,
  restored,
} from './gate/given.ts';

/** By a claim of facts, with what the epoch before it had entered open. */
const takenOver =
  (over: Partial<EntryAsk> = {}) =>
  (l: MemoryLedger) => {
    entered(over)(l);
    const body = { kind: 'authority_changed', change: 'permit', position: null } as const;
    const who = { commandId: 'x', actor: 'ada', reason: 'resume', ticket: 'ticket-1' };
    const revisions = { goal: 1, auth: 1 };
    l.write(RUN, { source: 'human', body: { ...body, ...who, revisions } });
    open(l, { firstExecutionRunId: 'exec-2', ticket: 'ticket-1' });
  };

const rows: Row[] = [
  {
    verdict: 'ledger_mismatch',
    when: 'the ledger was restored since it opened the run',
    given: (ledger) => {
      open(ledger);
      restored(ledger);
    },
    ask: (l) => ({ pin: pinOf(l) }),
    leaves: 'nothing',
  },
  {
    verdict: 'ledger_mismatch',
    when: 'another ledger id',
    given: opened,
    ask: (l) => ({ pin: { ...pinOf(l), id: 'ledger-2' } }),
    leaves: 'nothing',
  },
  {
    verdict: 'ledger_mismatch',
    when: 'another incarnation',
    given: opened,
    ask: (l) => ({ pin: { ...pinOf(l), incarnation: 1 } }),
    leaves: 'nothing',
  },
  {
    verdict: 'ledger_mismatch',
    when: 'a chain without the head that history knows',
    given: opened,
    ask: (l) => ({ pin: { ...pinOf(l), head: { count: 9, hash: digestOf('x') } } }),
    leaves: 'nothing',
  },
  {
    verdict: 'disputed',
    when: 'the action has two contradicting outcomes',
    given: (l) => {
      executed(l);
      settle(l, { externalId: 'ext-2' });
    },
    ask: () => again,
    leaves: 'closed',
  },
  {
    verdict: 'disputed',
    when: 'another action of the run is disputed and the step is not independent',
    given: (l) => {
      executed(l);
      settle(l, { externalId: 'ext-2' });
    },
    ask: () => next,
    leaves: 'closed',
  },
  {
    verdict: 'disputed',
    when: 'an independent step consumes what is disputed',
    given: (l) => {
      executed(l);
      settle(l, { externalId: 'ext-2' });
    },
    ask: (l) => ({ ...consuming(l, 'open'), onUnknown: 'continue' }),
    leaves: 'closed',
  },
  {
    verdict: 'already_final',
    when: 'executed',
    given: executed,
    ask: () => again,
    leaves: 'closed',
  },
  {
    verdict: 'already_final',
    when: 'a model call with another payload',
    given: (l) => {
      entered({ replay: 'rebuy', ...noIntent })(l);
      settle(l);
    },
    ask: () => ({ ...again, replay: 'rebuy', ...noIntent, payload: payloadOf({ other: 1 }) }),
    leaves: 'closed',
  },
  {
    verdict: 'payload_conflict',
    when: 'an entered attempt has another payload',
    given: entered(),
    ask: () => ({ ...again, payload: payloadOf({ amount: 20 }) }),
    leaves: 'closed',
  },
  {
    verdict: 'entered_again',
    when: 'the same delivery asks after a lost COMMIT reply',
    given: entered(),
    ask: () => ({}),
    leaves: 'nothing',
  },
  {
    verdict: 'attempt_reused',
    when: 'another delivery of the attempt',
    given: entered(),
    ask: () => ({ entryToken: 'token-9' }),
    leaves: 'nothing',
  },
  {
    verdict: 'attempt_closed',
    when: 'closed by an inquiry',
    given: (l) => {
      open(l);
      doubt(l);
    },
    ask: () => ({}),
    leaves: 'nothing',
  },
  { verdict: 'run_not_open', when: 'no run', given: () => {}, ask: () => ({}), leaves: 'nothing' },
  {
    verdict: 'claim_stale',
    when: 'another epoch',
    given: opened,
    ask: () => ({ epoch: 2 }),
    leaves: 'nothing',
  },
  {
    verdict: 'claim_facts_only',
    when: 'a takeover with an open attempt of an older epoch',
    given: takenOver(),
    ask: () => ({ ...next, epoch: 2 }),
    leaves: 'nothing',
  },
  {
    verdict: 'action_in_doubt',
    when: 'B9 a takeover, and the open attempt is its own, without a key',
    given: takenOver(),
    ask: () => ({ ...again, epoch: 2 }),
    leaves: 'closed',
  },
  {
    verdict: 'retention_expired',
    when: 'B9 a takeover, and the key of the open attempt is near its end',
    given: (l) => {
      takenOver(keyed)(l);
      minutes(l, 51);
    },
    ask: () => ({ ...again, ...keyed, epoch: 2 }),
    leaves: 'closed',
  },
  {
    verdict: 'entered',
    when: 'B9 a takeover, and the open attempt is its own, under a key',
    given: takenOver(keyed),
    ask: () => ({ ...again, ...keyed, epoch: 2 }),
    leaves: 'entered',
  },
  {
    verdict: 'run_ended',
    when: 'the run has ended',
    given: (l) => {
      open(l);
      const body = { kind: 'run_ended', end: { kind: 'completed' }, epoch: 1 } as const;
      l.write(RUN, { source: 'history', body: { ...body, openUnknowns: [], answer: null } });
    },
    ask: () => ({}),
    leaves: 'nothing',
  },
  {
    verdict: 'retention_expired',
    when: 'a keyed resend inside the margin of the key’s retention',
    given: (l) => {
      entered(keyed)(l);
      minutes(l, 51);
    },
    ask: () => ({ ...again, ...keyed }),
    leaves: 'closed',
  },
  {
    verdict: 'retention_expired',
    when: 'ledger time stepped back',
    given: (l) => {
      entered(keyed)(l);
      l.clockSteppedBack = true;
    },
    ask: () => ({ ...again, ...keyed }),
    leaves: 'closed',
  },
  {
    verdict: 'action_in_doubt',
    when: 'an open attempt',
    given: entered(),
    ask: () => again,
    leaves: 'closed',
  },
  {
    verdict: 'action_in_doubt',
    when: 'the receiver accepted it, even with a key',
    given: (l) => {
      entered(keyed)(l);
      settle(l, { outcome: 'accepted' });
    },
    ask: () => ({ ...again, ...keyed }),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_open',
    when: 'it consumes an open outcome and is not independent',
    given: entered(),
    ask: (l) => consuming(l, 'open'),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_open',
    when: 'it consumes a final outcome that the ledger does not know',
    given: entered(),
    ask: (l) => consuming(l, digestOf('forged')),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_open',
    when: 'it takes for not executed what the receiver accepted',
    given: (l) => {
      entered()(l);
      settle(l, { outcome: 'accepted' });
    },
    ask: (l) => consuming(l, 'not_executed'),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_mismatch',
    when: 'it consumes another outcome than the recorded one',
    given: executed,
    ask: (l) => consuming(l, digestOf('forged')),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_mismatch',
    when: 'it takes an executed action for not executed',
    given: executed,
    ask: (l) => consuming(l, 'not_executed'),
    leaves: 'closed',
  },
  {
    verdict: 'predecessor_mismatch',
    when: 'its base is no digest of this run',
    given: opened,
    ask: () => ({ consumes: { base: digestOf('elsewhere'), pairs: [] } }),
    leaves: 'closed',
  },
  {
    verdict: 'attempt_not_current',
    when: 'the barrier says paused',
    given: opened,
    ask: () => ({ barrier: { kind: 'not_current', why: 'paused' } }),
    leaves: 'closed',
  },
  {
    verdict: 'authority_unavailable',
    when: 'the barrier could not tell',
    given: opened,
    ask: () => ({ barrier: { kind: 'unavailable', why: 'no answer' } }),
    leaves: 'closed',
  },
  {
    verdict: 'authority_unavailable',
    when: 'the barrier is too old',
    given: opened,
    ask: () => ({ barrier: { kind: 'current', ageMs: 2_001 } }),
    leaves: 'closed',
  },
  ...authorityRows,
  {
    verdict: 'twin_unknown',
    when: 'another action with the same intent is in doubt',
    given: (l) => {
      entered()(l);
      doubt(l);
    },
    ask: () => ({ ...next, intentDigest: digestOf({ actionId: ACTION }) }),
    leaves: 'closed',
  },
  ...compensationRows,
  {
    verdict: 'binding_changed',
    when: 'the tool is not the one pinned',
    given: opened,
    ask: () => ({ binding: { tool: 'charge_card', version: '2', digest: digestOf('2') } }),
    leaves: 'closed',
  },
  ...budgetRows,
  { verdict: 'entered', when: 'all holds', given: opened, ask: () => ({}), leaves: 'entered' },
  {
    verdict: 'entered',
    when: 'a keyed resend inside retention',
    given: (l) => {
      entered(keyed)(l);
      minutes(l, 49);
    },
    ask: () => ({ ...again, ...keyed }),
    leaves: 'entered',
  },
  {
    verdict: 'entered',
    when: 'an independent step consumes an open outcome',
    given: entered(),
    ask: (l) => ({ ...consuming(l, 'open'), onUnknown: 'continue' }),
    leaves: 'entered',
  },
];

describe('the gate', () => {
  test('R-006 R-020 R-027 R-046 has a row for each verdict in the order of precedence', () => {
    expect(Object.keys(gateTable)).toEqual(gateVerdicts);
    expect(new Set(rows.map((row) => row.verdict))).toEqual(new Set(gateVerdicts));
  });

  const titled = rows.map((row) => [row.verdict, row.when, row.leaves, row] as const);
  test.each(titled)('%s when %s leaves %s', (verdict, _when, leaves, { given, ask }) => {
    const ledger = memoryLedger();
    given(ledger);
    const asked = ask(ledger);
    const attemptId = asked.attemptId ?? `${ACTION}~1`;
    const before = ledger.rows.get(attemptId);
    const count = ledger.facts(RUN).length;
    expect(enter(ledger, asked).verdict).toBe(verdict);
    const after = ledger.rows.get(attemptId);
    if (leaves === 'nothing') expect(after).toBe(before);
    else expect(after?.kind).toBe(leaves);
    const kinds = ledger
      .facts(RUN)
      .slice(count)
      .map((fact) => fact.body.kind);
    const wanted = { nothing: [], closed: ['attempt_refused'], entered: ['attempt_entered'] };
    expect(kinds).toEqual(wanted[leaves]);
  });
});
