import { describe, expect, test } from 'vitest';
import { genesisBase } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import type { EndAsk } from '../../core/end-run.ts';
import type { Pair } from '../../core/fact-fields.ts';
import { endTable } from '../../core/gate-table.ts';
import { ACTION, open, payloadOf, pinOf, RUN, settle } from '../support/asks.ts';
import { amend, planGoal } from '../support/authority-story.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  bodiesAfter,
  change,
  doubt,
  end,
  openAndEnter,
  resolve,
  safe,
} from '../support/story.ts';

type Tell = (ledger: MemoryLedger) => unknown;
type Over = (ledger: MemoryLedger) => Partial<EndAsk>;
const blocked = { kind: 'stopped', reason: 'blocked' } as const;
const consuming = (outcome: Pair['outcome'], actionId = ACTION): Partial<EndAsk> => ({
  consumes: { base: genesisBase(RUN), pairs: [{ actionId, outcome }] },
});
const executed: Tell = (l) => [openAndEnter(l), settle(l)];
const digestNow: Over = (l) => consuming(actionOf(l).final?.digest ?? 'open');

describe('R-059 the reason is computed where the end is written', () => {
  test.each<[string, string, Tell, Over]>([
    ['completed', 'nothing was done', (l) => open(l), () => ({})],
    ['completed', 'all is settled and consumed', executed, digestNow],
    ['completed', 'a lost read is open', (l) => openAndEnter(l, safe), () => ({})],
    ['ended_with_unknown', 'an attempt is open', (l) => openAndEnter(l), () => ({})],
    ['ended_with_unknown', 'an action is in doubt', (l) => [openAndEnter(l), doubt(l)], () => ({})],
    [
      'ended_with_unknown',
      'an action was given up',
      (l) => [openAndEnter(l), resolve(l, { verb: 'abandon' })],
      () => ({}),
    ],
    [
      'ended_with_unknown',
      'an action is accepted',
      (l) => [openAndEnter(l), settle(l, { outcome: 'accepted' })],
      () => ({}),
    ],
    ['stopped: revoked', 'a revoke came first', (l) => [open(l), change(l, 'revoke')], () => ({})],
    [
      'stopped: revoked',
      'a revoke came first, and something is open',
      (l) => [openAndEnter(l), change(l, 'revoke')],
      () => ({}),
    ],
    ['stopped: canceled', 'a cancel came first', (l) => [open(l), change(l, 'cancel')], () => ({})],
    [
      'stopped: revoked',
      'both came',
      (l) => [open(l), change(l, 'cancel'), change(l, 'revoke')],
      () => ({}),
    ],
    ['stopped: blocked', 'it says so itself', executed, () => ({ end: blocked })],
    [
      'stopped: blocked',
      'it says so itself and something is open',
      (l) => openAndEnter(l),
      () => ({ end: blocked }),
    ],
  ])('%s when %s', (wanted, _when, tell, over) => {
    const ledger = memoryLedger();
    tell(ledger);
    expect(end(ledger, over(ledger))).toEqual({ kind: 'ended' });
    const { ended, actions } = ledger.run(RUN);
    const reason = ended?.end.kind === 'stopped' ? `: ${ended.end.reason}` : '';
    expect(`${ended?.end.kind}${reason}`).toBe(wanted);
    const open = [...actions.values()].some(
      ({ final, attempts }) => final === null && attempts[0]?.entry.replay === 'never',
    );
    expect(ended?.openUnknowns).toEqual(open ? [ACTION] : []);
  });

  test('the answer is written with it, and ending twice writes once', () => {
    const ledger = memoryLedger();
    open(ledger);
    const payload = payloadOf({ text: 'done' });
    const ref = { digest: payload.digest, bytes: payload.bytes.length };
    expect(end(ledger, { answer: { ref, payload } })).toEqual({ kind: 'ended' });
    expect(end(ledger, { end: blocked, epoch: 9 })).toEqual({ kind: 'ended' });
    expect(bodiesAfter(ledger, 1)).toMatchObject([{ kind: 'run_ended', answer: ref, epoch: 1 }]);
    expect(ledger.payloads.has(payload.digest)).toBe(true);
    expect(ledger.facts(RUN).at(-1)?.source).toBe('history');
  });
});

describe('the end is refused, and nothing is written', () => {
  const disputed: Tell = (l) => [openAndEnter(l), settle(l), settle(l, { externalId: 'ext-2' })];
  const rows: [string, string, Tell, Over][] = [
    [
      'ledger_mismatch',
      'another ledger',
      (l) => open(l),
      (l) => ({ pin: { ...pinOf(l), id: 'x' } }),
    ],
    [
      'ledger_mismatch',
      'another incarnation',
      (l) => open(l),
      (l) => ({ pin: { ...pinOf(l), incarnation: 7 } }),
    ],
    [
      'ledger_mismatch',
      'another chain',
      (l) => open(l),
      (l) => ({ pin: { ...pinOf(l), head: { count: 1, hash: digestOf(0) } } }),
    ],
    ['disputed', 'completed over a dispute', disputed, digestNow],
    ['run_not_open', 'no run', () => {}, () => ({})],
    ['claim_stale', 'another epoch', (l) => open(l), () => ({ epoch: 2 })],
    [
      'predecessor_open',
      'R-055 a forged result of an open action',
      (l) => openAndEnter(l, safe),
      () => consuming(digestOf('forged')),
    ],
    [
      'predecessor_mismatch',
      'a forged result of a final one',
      executed,
      () => consuming(digestOf('forged')),
    ],
    [
      'predecessor_mismatch',
      'a final one taken for not executed',
      executed,
      () => consuming('not_executed'),
    ],
    [
      'predecessor_mismatch',
      'an action that never was',
      (l) => open(l),
      () => consuming('open', 'r.t9.c9'),
    ],
    [
      'predecessor_mismatch',
      'a base of another run',
      (l) => open(l),
      () => ({ consumes: { base: genesisBase('r2'), pairs: [] } }),
    ],
    [
      'attempt_not_current',
      'an execution that is not wanted',
      (l) => open(l),
      () => ({ barrier: { kind: 'not_current', why: 'reset' } }),
    ],
    [
      'authority_unavailable',
      'a barrier that could not tell',
      (l) => open(l),
      () => ({ barrier: { kind: 'unavailable', why: 'x' } }),
    ],
    [
      'authority_unavailable',
      'a barrier that is too old',
      (l) => open(l),
      () => ({ barrier: { kind: 'current', ageMs: 2_001 } }),
    ],
    [
      'goal_stale',
      'R-098 completed under a goal that is not the newest',
      (l) => [open(l), amend(l, { goal: planGoal })],
      () => ({}),
    ],
    [
      'goal_stale',
      'R-098 with something open, under a goal that is not the newest',
      (l) => [openAndEnter(l), amend(l, { goal: planGoal })],
      () => ({ goalRevision: 1 }),
    ],
    [
      'goal_stale',
      'R-098 blocked under a goal that is not the newest',
      (l) => [open(l), amend(l, { goal: planGoal })],
      () => ({ end: { kind: 'stopped', reason: 'blocked' } }),
    ],
  ];
  test.each(rows)('%s: %s', (verdict, _when, tell, over) => {
    const ledger = memoryLedger();
    tell(ledger);
    const count = ledger.facts(RUN).length;
    expect(end(ledger, over(ledger))).toMatchObject({ kind: 'refused', verdict });
    expect(ledger.facts(RUN).length).toBe(count);
    expect(ledger.run(RUN).ended).toBeNull();
  });

  test('the rows are exactly the table', () => {
    expect([...new Set(rows.map(([verdict]) => verdict))]).toEqual(endTable.map(([name]) => name));
  });

  test.each<[string, Tell, Over]>([
    ['a dispute', disputed, () => ({})],
    ['a forged result', executed, () => consuming(digestOf('forged'))],
    [
      'a foreign base',
      (l) => open(l),
      () => ({ consumes: { base: genesisBase('r2'), pairs: [] } }),
    ],
  ])(
    'what was consumed is checked for completed only: %s does not keep it open',
    (_w, tell, over) => {
      const ledger = memoryLedger();
      tell(ledger);
      expect(end(ledger, { ...over(ledger), end: blocked })).toEqual({ kind: 'ended' });
    },
  );

  test.each<[kept: string, when: string, Tell, Over]>([
    ['kept', 'it built on what is recorded', executed, digestNow],
    ['kept', 'it went on over an unknown', (l) => openAndEnter(l), () => consuming('open')],
    ['left out', 'a forged result', executed, () => consuming(digestOf('forged'))],
    ['left out', 'one of an open action', (l) => openAndEnter(l), () => consuming(digestOf(0))],
    ['left out', 'an action that never was', (l) => open(l), () => consuming('open', 'r.t9.c9')],
  ])('R-046 the answer of a stopped run is %s: %s', (kept, _when, tell, over) => {
    const ledger = memoryLedger();
    tell(ledger);
    const payload = payloadOf({ text: 'done' });
    const ref = { digest: payload.digest, bytes: payload.bytes.length };
    const answer = { ref, payload };
    expect(end(ledger, { ...over(ledger), end: blocked, answer })).toEqual({ kind: 'ended' });
    expect(ledger.run(RUN).ended?.answer).toEqual(kept === 'kept' ? ref : null);
    expect(ledger.payloads.has(payload.digest)).toBe(kept === 'kept');
  });

  test('an outcome taken as open is no mismatch when it settled later', () => {
    const ledger = memoryLedger();
    executed(ledger);
    expect(end(ledger, consuming('open'))).toEqual({ kind: 'ended' });
  });
});
