// What entering leaves behind: rows, numbers, permits, streaks. The verdicts are in gate.test.ts.

import { describe, expect, test } from 'vitest';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import { decideEntry } from '../../core/gate.ts';
import { ACTION, enter, entryAsk, open, RUN, settle } from '../support/asks.ts';
import { viewOf } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  again as attemptNo,
  contractOf,
  doubt,
  inquire,
  keyed,
  later,
  openAndEnter,
  resolve,
  safe,
} from '../support/story.ts';

const again = attemptNo();
const noIntent = { intentDigest: null };
const burnt = {
  verdict: 'not_executed',
  proof: 'closed_key',
  contract: contractOf({ closing: 'by_key' }),
} as const;

describe('entering', () => {
  test('R-006 an attempt that was closed can never enter, whatever holds later', () => {
    const ledger = memoryLedger();
    open(ledger);
    enter(ledger, { barrier: { kind: 'not_current', why: 'paused' } });
    expect(enter(ledger).verdict).toBe('attempt_closed');
    expect(ledger.run(RUN).actions.get(ACTION)?.attempts).toEqual([]);
  });

  test('of a streak of authority_unavailable only the first and the last are in the chain', () => {
    const ledger = memoryLedger();
    open(ledger);
    const barrier = { kind: 'unavailable', why: 'no answer' } as const;
    for (const n of [1, 2, 3, 4]) enter(ledger, { attemptId: `${ACTION}~${n}`, barrier });
    expect(ledger.rows.size).toBe(4);
    expect(enter(ledger, { attemptId: `${ACTION}~5` }).verdict).toBe('entered');
    const refused = ledger.facts(RUN).filter((fact) => fact.body.kind === 'attempt_refused');
    expect(refused.map((fact) => 'attemptId' in fact.body && fact.body.attemptId)).toEqual([
      `${ACTION}~1`,
      `${ACTION}~4`,
    ]);
  });

  test('R-016 numbers grow per action and the send token carries epoch and number', () => {
    const ledger = memoryLedger();
    open(ledger);
    const first = enter(ledger, { replay: 'safe', ...noIntent });
    const second = enter(ledger, { ...again, replay: 'safe', ...noIntent });
    expect([first.entry?.number, second.entry?.number]).toEqual([1, 2]);
    expect(second.entry?.sendToken).toEqual({ epoch: 1, number: 2 });
    expect(second.entry?.firstSentAt).toBe(first.entry?.firstSentAt);
  });

  test('a permit lets one more attempt past an open one, once', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    doubt(ledger);
    expect(resolve(ledger, { verb: 'authorize_retry' }).what).toBe('applied');
    expect(enter(ledger, again).verdict).toBe('entered');
    expect(enter(ledger, attemptNo(3)).verdict).toBe('action_in_doubt');
  });

  test.each<[string, (ledger: MemoryLedger) => unknown]>([
    ['nothing was sent', (l) => settle(l, { outcome: 'not_sent' })],
    ['a person denied it', (l) => resolve(l, { verb: 'confirm_not_executed' })],
    ['its key was burnt', (l) => inquire(l, burnt)],
  ])('not_executed may be consumed when %s', (_when, tell) => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    tell(ledger);
    const pairs = [{ actionId: ACTION, outcome: 'not_executed' as const }];
    const base = rolledOf({ base: genesisBase(RUN), pairs: [] });
    const next = { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1', consumes: { base, pairs } };
    expect(enter(ledger, next).verdict).toBe('entered');
  });

  test.each([
    ['entered', 'a duplicate was accepted', true],
    ['retention_expired', 'it was permitted inside retention only', false],
  ])('R-027 a keyed retry after retention is %s when %s', (verdict, _when, accepts) => {
    const ledger = memoryLedger();
    openAndEnter(ledger, keyed);
    resolve(ledger, { verb: 'authorize_retry', acceptsPossibleDuplicate: accepts });
    later(ledger, 51 * 60_000);
    expect(enter(ledger, { ...keyed, ...again }).verdict).toBe(verdict);
  });

  test('the same delivery gets what it got before, also as a later attempt', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger, safe);
    ledger.now += 1_000;
    const entered = enter(ledger, { ...safe, ...again });
    expect(enter(ledger, { ...safe, ...again })).toEqual({
      verdict: 'entered_again',
      detail: 'same delivery',
      entry: entered.entry,
    });
    expect(entered.entry?.firstSentAt).toBe(ledger.now - 1_000);
  });

  test('an entered row without its fact is a broken ledger, and loud', () => {
    const ledger = memoryLedger();
    open(ledger);
    const ask = entryAsk(ledger);
    const { attemptId, actionId, entryToken } = ask;
    const view = {
      ...viewOf(ledger),
      gateRow: { kind: 'entered', attemptId, actionId, entryToken },
    } as const;
    expect(() => decideEntry(ask)(view)).toThrow(`${attemptId}: an entered row without its fact`);
  });

  test('a refusal whose row was written before writes nothing more', () => {
    const ledger = memoryLedger();
    open(ledger);
    const ask = entryAsk(ledger, { onUnknown: 'hold' });
    const { attemptId, actionId } = ask;
    const gateRow = {
      kind: 'closed',
      attemptId,
      actionId,
      verdict: 'revoked',
      inChain: true,
    } as const;
    openAndEnter(ledger, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' });
    settle(ledger, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' });
    settle(ledger, { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1', externalId: 'ext-2' });
    const decided = decideEntry(ask)({ ...viewOf(ledger), gateRow });
    expect([decided.reply.verdict, decided.facts]).toEqual(['disputed', []]);
  });
});
