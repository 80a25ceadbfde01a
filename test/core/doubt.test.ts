import { describe, expect, test } from 'vitest';
import { decideDoubt } from '../../core/doubt.ts';
import { limits } from '../../core/limits.ts';
import { ACTION, enter, entryAsk, open, RUN, settle } from '../support/asks.ts';
import { type MemoryLedger, memoryLedger } from '../support/memory-ledger.ts';
import {
  actionOf,
  bodiesAfter,
  change,
  close,
  doubt,
  openAndEnter,
  resolve,
} from '../support/story.ts';

const first = `${ACTION}~1`;
const entered = () => {
  const ledger = memoryLedger();
  openAndEnter(ledger);
  return ledger;
};

describe('after an attempt that proved nothing', () => {
  test('R-006 one that never entered is closed, which proves that nothing was submitted', () => {
    const ledger = memoryLedger();
    open(ledger);
    expect(doubt(ledger)).toBe('closed');
    expect(ledger.rows.get(first)).toMatchObject({ kind: 'closed', verdict: 'closed_by_inquiry' });
    expect(enter(ledger).verdict).toBe('attempt_closed');
    expect(actionOf(ledger).attempts).toEqual([]);
  });

  test('R-034 what stays unsent is kept, under the revision that it was decided under', () => {
    const ledger = memoryLedger();
    open(ledger);
    change(ledger, 'revoke');
    const { payload } = entryAsk(ledger);
    const under = { position: 't1.c1', tool: 'charge', revisions: { goal: 1, auth: 1 } };
    const ask = { actionId: ACTION, attemptId: first, why: 'w', externalId: null };
    const decide = decideDoubt({ ...ask, receiptDigest: null, scheduled: { ...under, payload } });
    expect(ledger.decide({ runId: RUN, actionId: ACTION, attemptId: first }, decide)).toBe(
      'closed',
    );
    const kept = { digest: payload.digest, bytes: payload.bytes.length };
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ ...under, payload: kept }]);
    expect(ledger.payloads.get(payload.digest)).toEqual(payload.bytes);
  });

  test('R-006 one that was closed before stays closed as it was', () => {
    const ledger = memoryLedger();
    open(ledger);
    enter(ledger, { barrier: { kind: 'not_current', why: 'paused' } });
    const count = ledger.facts(RUN).length;
    expect(doubt(ledger)).toBe('closed');
    expect(bodiesAfter(ledger, count)).toEqual([]);
    expect(ledger.rows.get(first)).toMatchObject({ verdict: 'attempt_not_current' });
  });

  test('R-005 one that entered is in doubt, whether or not it ever reached the receiver', () => {
    const ledger = entered();
    expect(doubt(ledger)).toBe('in_doubt');
    expect(bodiesAfter(ledger, 2)).toEqual([
      {
        kind: 'action_in_doubt',
        actionId: ACTION,
        attemptIds: [first],
        why: 'no reply in time',
        revisions: { goal: 1, auth: 1 },
      },
    ]);
    expect(ledger.facts(RUN).at(-1)?.source).toBe('history');
    expect(actionOf(ledger).attempts[0]?.doubted).toBe(true);
  });

  test('K-019 what the receiver called it is kept, when the failure knew that', () => {
    const ledger = entered();
    doubt(ledger, first, 'ext-9');
    const why = 'no reply in time; the receiver named ext-9';
    const named = { about: 'note', externalId: 'ext-9', verdict: null };
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ why }, named]);
    expect(actionOf(ledger).attempts[0]?.doubtedWhy).toBe(why);
  });

  test('R-050 the receipt of a result that could not be stored is kept beside the name', () => {
    const ledger = entered();
    doubt(ledger, first, 'ext-9', 'full', 'sha256:receipt');
    const why = 'full; the receiver named ext-9; receipt sha256:receipt';
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ why }, { externalId: 'ext-9' }]);
  });

  test('the name is kept whole where there are too many words beside it', () => {
    const ledger = entered();
    const name = 'n'.repeat(limits.idCharsMax);
    doubt(ledger, first, name, 'w'.repeat(limits.noteCharsMax));
    const [fact] = bodiesAfter(ledger, 2);
    const why = fact?.kind === 'action_in_doubt' ? fact.why : '';
    expect(why).toHaveLength(limits.noteCharsMax);
    expect(why.endsWith(`; the receiver named ${name}`)).toBe(true);
  });

  test('half a surrogate pair in what is told keeps no doubt from being recorded', () => {
    const ledger = entered();
    expect(doubt(ledger, first, 'ext-\ud800', 'lost \udc00')).toBe('in_doubt');
    const why = 'lost \ufffd; the receiver named ext-\ufffd';
    expect(bodiesAfter(ledger, 2)).toMatchObject([{ why }, { externalId: 'ext-\ufffd' }]);
  });

  test('R-108 the doubt names the revision of the intent, not that of today', () => {
    const ledger = entered();
    change(ledger, 'revoke');
    doubt(ledger);
    expect(bodiesAfter(ledger, 3)).toMatchObject([{ revisions: { goal: 1, auth: 1 } }]);
  });

  test.each<[string, string, (l: MemoryLedger) => unknown]>([
    ['settled', 'it has settled', (l) => settle(l)],
    ['settled', 'it was not sent', (l) => settle(l, { outcome: 'not_sent' })],
    ['settled', 'a person denied it', (l) => resolve(l, { verb: 'confirm_not_executed' })],
    ['in_doubt', 'it is in doubt already', (l) => doubt(l)],
  ])('it answers %s and writes nothing when %s', (reply, _when, tell) => {
    const ledger = entered();
    tell(ledger);
    const count = ledger.facts(RUN).length;
    expect(doubt(ledger)).toBe(reply);
    expect(ledger.facts(RUN).length).toBe(count);
  });
});

describe('closing by an inquiry', () => {
  test('R-006 closes what never entered, once', () => {
    const ledger = memoryLedger();
    open(ledger);
    expect([close(ledger, first), close(ledger, first)]).toEqual(['closed', 'closed']);
    expect(bodiesAfter(ledger, 1)).toMatchObject([
      { kind: 'attempt_refused', verdict: 'closed_by_inquiry', position: null, payload: null },
    ]);
  });

  test('R-005 leaves what entered', () => {
    const ledger = entered();
    expect(close(ledger, first)).toBe('entered');
    expect(ledger.facts(RUN)).toHaveLength(2);
  });

  test('R-006 needs no run: an attempt may be closed before one opened', () => {
    const ledger = memoryLedger();
    expect(close(ledger, first)).toBe('closed');
    open(ledger);
    expect(enter(ledger).verdict).toBe('attempt_closed');
  });

  test('it comes after the last of a streak that was not chained', () => {
    const ledger = memoryLedger();
    open(ledger);
    const barrier = { kind: 'unavailable', why: 'no answer' } as const;
    for (const n of [1, 2, 3]) enter(ledger, { attemptId: `${ACTION}~${n}`, barrier });
    close(ledger, `${ACTION}~4`);
    expect(bodiesAfter(ledger, 1)).toMatchObject([
      { attemptId: `${ACTION}~1`, verdict: 'authority_unavailable' },
      { attemptId: `${ACTION}~3`, detail: 'the last of a streak' },
      { attemptId: `${ACTION}~4`, verdict: 'closed_by_inquiry' },
    ]);
  });
});
