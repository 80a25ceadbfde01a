// What entering leaves behind: rows, numbers, permits, streaks. The verdicts are in gate.test.ts.

import { describe, expect, test } from 'vitest';
import { genesisBase, rolledOf } from '../../core/consumes.ts';
import { digestOf } from '../../core/digest.ts';
import { permitsNow } from '../../core/finality.ts';
import { decideEntry, type EntryAsk } from '../../core/gate.ts';
import { limits } from '../../core/limits.ts';
import { ACTION, enter, entryAsk, open, payloadOf, RUN, settle } from '../support/asks.ts';
import { viewOf } from '../support/fact-bodies.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  again as attemptNo,
  close,
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

  test.each(['executed', 'refused'] as const)('R-110 %s late, a permit is void', (outcome) => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    doubt(ledger);
    expect(resolve(ledger, { verb: 'authorize_retry' }).what).toBe('applied');
    expect(permitsNow(actionOf(ledger))).toHaveLength(1);
    settle(ledger, { outcome });
    expect(permitsNow(actionOf(ledger))).toEqual([]);
    expect(enter(ledger, again).verdict).toBe('already_final');
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

  test.each<[string, (ledger: MemoryLedger) => unknown]>([
    ['alone', (l) => open(l)],
    ['beside another attempt', (l) => openAndEnter(l)],
  ])('an entered row without its fact is a broken ledger, and loud: %s', (_when, tell) => {
    const ledger = memoryLedger();
    tell(ledger);
    const ask = entryAsk(ledger, attemptNo(7));
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

describe('at the edges of a verdict', () => {
  const other = { actionId: 'r.t2.c1', attemptId: 'r.t2.c1~1' };
  const afterFirst = rolledOf({ base: genesisBase(RUN), pairs: [] });
  const consuming = (actionId: string): Partial<EntryAsk> => ({
    ...other,
    onUnknown: 'continue',
    consumes: { base: afterFirst, pairs: [{ actionId, outcome: 'open' }] },
  });
  const never = { ...again, replay: 'never' } as const;
  test.each<[string, string, Partial<EntryAsk>, (l: MemoryLedger) => unknown, Partial<EntryAsk>]>([
    [
      'disputed',
      'the action itself, even an independent step',
      {},
      disputed,
      { ...again, onUnknown: 'continue' },
    ],
    [
      'retention_expired',
      'R-027 at the last moment',
      keyed,
      (l) => later(l, 50 * 60_000),
      { ...keyed, ...again },
    ],
    [
      'entered',
      'R-027 one moment before',
      keyed,
      (l) => later(l, 50 * 60_000 - 1),
      { ...keyed, ...again },
    ],
    ['entered', 'after retention, when nothing was sent', keyed, unsent, { ...keyed, ...again }],
    [
      'action_in_doubt',
      'R-026 K-031 a key without retention, a minute later',
      { replay: 'keyed' },
      (l) => later(l, 60_000),
      { ...again, replay: 'keyed' },
    ],
    [
      'action_in_doubt',
      'R-026 K-031 a key without retention, two days later',
      { replay: 'keyed' },
      (l) => later(l, 48 * 3_600_000),
      { ...again, replay: 'keyed' },
    ],
    [
      'action_in_doubt',
      'a key that is no longer relied on',
      keyed,
      (l) => later(l, 60 * 60_000),
      never,
    ],
    [
      'predecessor_mismatch',
      'it waits for what never entered',
      {},
      (l) => close(l, 'r.t3.c1~1'),
      consuming('r.t3.c1'),
    ],
    ['entered', 'it goes on beside what is open', {}, () => {}, consuming(ACTION)],
    [
      'entered',
      'the barrier is as old as it may be',
      {},
      () => {},
      { ...other, barrier: { kind: 'current', ageMs: limits.barrierAgeMs } },
    ],
    [
      'entered',
      'R-019 a twin that was given up only warns',
      {},
      givenUp,
      { ...other, intentDigest: digestOf({ actionId: ACTION }) },
    ],
  ])('%s: %s', (verdict, _when, first, tell, ask) => {
    const ledger = memoryLedger();
    openAndEnter(ledger, first);
    tell(ledger);
    expect(enter(ledger, ask).verdict).toBe(verdict);
  });

  function disputed(ledger: MemoryLedger): void {
    settle(ledger);
    settle(ledger, { externalId: 'ext-2' });
  }
  function unsent(ledger: MemoryLedger): void {
    settle(ledger, { outcome: 'not_sent' });
    later(ledger, 60 * 60_000);
  }
  function givenUp(ledger: MemoryLedger): void {
    doubt(ledger);
    resolve(ledger, { verb: 'abandon' });
  }
});

test('the middle of a streak keeps no payload: nothing in the chain refers to it', () => {
  const ledger = memoryLedger();
  open(ledger);
  const barrier = { kind: 'unavailable', why: 'no answer' } as const;
  const payloads = [1, 2].map((n) => payloadOf({ n }));
  for (const [index, payload] of payloads.entries())
    enter(ledger, { ...attemptNo(index + 1), barrier, payload });
  expect(payloads.map(({ digest }) => ledger.payloads.has(digest))).toEqual([true, false]);
});
