import { describe, expect, test } from 'vitest';
import { authorityOf } from '../../core/authority.ts';
import { enter, open, RUN, settle } from '../support/asks.ts';
import { give, topUp } from '../support/authority-story.ts';
import { memoryLedger } from '../support/memory-ledger.ts';
import { actionOf, bodiesAfter, change, end, openAndEnter } from '../support/story.ts';

describe('R-109 a revoke', () => {
  test('raises the authority revision by one and lets nothing of the old one in', () => {
    const ledger = memoryLedger();
    open(ledger);
    expect(authorityOf(ledger.run(RUN)).revisions.auth).toBe(1);
    expect(change(ledger, 'revoke')).toEqual({ what: 'applied', why: null });
    expect(authorityOf(ledger.run(RUN))).toEqual({
      epoch: 1,
      revisions: { goal: 1, auth: 2 },
      revoked: true,
      canceled: false,
      topUps: 0,
    });
    expect(enter(ledger, { revisions: { goal: 1, auth: 1 } }).verdict).toBe('revoked');
    expect(bodiesAfter(ledger, 1)[0]).toMatchObject({ actor: 'ada', reason: 'because' });
  });

  test('sent twice is applied once', () => {
    const ledger = memoryLedger();
    open(ledger);
    change(ledger, 'revoke');
    expect(change(ledger, 'revoke')).toEqual({ what: 'duplicate', why: null });
    expect(authorityOf(ledger.run(RUN)).revisions.auth).toBe(2);
    expect(ledger.facts(RUN)).toHaveLength(2);
  });

  test.each(['revoke', 'cancel'] as const)(
    'R-109 a %s is on record though its id is taken, and then a duplicate',
    (verb) => {
      const ledger = memoryLedger();
      open(ledger, { budget: { requests: 1, onExhausted: 'ask' } });
      topUp(ledger, { id: '1', requests: 1 });
      topUp(ledger, { id: '1#2', requests: 1 });
      expect(give(ledger, verb, { id: '1' })).toEqual({ what: 'applied', why: null });
      expect(ledger.facts(RUN).at(-1)?.body).toMatchObject({ change: verb, commandId: '1#3' });
      expect(authorityOf(ledger.run(RUN))[verb === 'revoke' ? 'revoked' : 'canceled']).toBe(true);
      expect(give(ledger, verb, { id: '1' }).what).toBe('duplicate');
    },
  );

  test('erases nothing: what was settled before stays as it was', () => {
    const ledger = memoryLedger();
    openAndEnter(ledger);
    settle(ledger);
    const before = actionOf(ledger);
    const texts = JSON.stringify(ledger.facts(RUN));
    change(ledger, 'revoke');
    expect(actionOf(ledger)).toEqual(before);
    expect(JSON.stringify(ledger.facts(RUN).slice(0, 3))).toBe(texts);
  });

  test('may come before the run opens, and after it ended', () => {
    const ledger = memoryLedger();
    change(ledger, 'revoke');
    expect(authorityOf(ledger.run(RUN))).toMatchObject({ epoch: 0, revoked: true });
    open(ledger);
    expect(ledger.run(RUN).opened?.revisions).toEqual({ goal: 1, auth: 2 });
    end(ledger);
    expect(change(ledger, 'revoke', { id: 'again' }).what).toBe('applied');
  });
});

test('cancel stops and keeps the revision', () => {
  const ledger = memoryLedger();
  open(ledger);
  change(ledger, 'cancel');
  expect(authorityOf(ledger.run(RUN))).toMatchObject({
    revisions: { goal: 1, auth: 1 },
    revoked: false,
    canceled: true,
  });
  expect(enter(ledger).verdict).toBe('revoked');
});

test('a permit is a ticket and stops nothing', () => {
  const ledger = memoryLedger();
  open(ledger);
  change(ledger, 'permit', { ticket: 'ticket-1' });
  expect([...ledger.run(RUN).tickets]).toEqual([['ticket-1', 1]]);
  expect(enter(ledger).verdict).toBe('entered');
});

test('a ticket that is written twice is one', () => {
  const ledger = memoryLedger();
  open(ledger);
  expect(change(ledger, 'permit').what).toBe('applied');
  expect(change(ledger, 'permit')).toEqual({ what: 'duplicate', why: null });
  expect(ledger.run(RUN).tickets.size).toBe(1);
});

test('R-134 a command that was pasted and not filled in changes nothing', () => {
  const ledger = memoryLedger();
  open(ledger);
  const { what, why } = give(ledger, 'revoke', { actor: 'FILL IN' });
  expect([what, why]).toEqual(['rejected', expect.stringContaining('FILL IN')]);
  expect(ledger.run(RUN).revoked).toBe(false);
});
