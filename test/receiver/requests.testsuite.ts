// Rules of a request, over either store.
// Catches: a second effect under one key, and any answer that differs from the first.

import { describe, expect, test } from 'vitest';
import {
  exampleOperations,
  type LocalOperation,
  type Operations,
  type Receiver,
} from '../../receiver/index.ts';
import type { Open } from './stage.ts';

const credit = (receiver: Receiver, amount: number, more: object = {}) =>
  receiver.execute({
    ...{ principal: 'u7', operation: 'credit', version: '1', key: 'k7' },
    ...more,
    input: { account: 'u7', amount },
  });

const ticketFor = (receiver: Receiver, more: object = {}) =>
  receiver.execute({
    ...{ principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' },
    input: { subject: 'Printer on fire' },
    ...more,
  });

const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' };

export function requestRules(open: Open): void {
  test('R-028 A3 A4 k7 adds 10 once: 110, repeated 110, with 20 refused at 110', async () => {
    const { receiver } = await open();
    const first = await credit(receiver, 10);
    expect(first).toMatchObject({ kind: 'executed', result: { balance: 110 }, replayed: false });
    expect(await credit(receiver, 10)).toEqual({ ...first, replayed: true });
    expect(await credit(receiver, 20)).toEqual({ kind: 'key_reused' });
    expect(await receiver.observe('credit')).toEqual({
      accounts: [{ principal: 'u7', name: 'u7', value: 110 }],
    });
    expect(await receiver.effects()).toHaveLength(1);
  });

  test.each([
    ['principal', { principal: 'u2' }],
    ['operation', { operation: 'create_record', input: { name: 'Printer on fire' } }],
  ])('R-024 A1 the same key under another %s is another operation', async (_which, more) => {
    const { receiver } = await open();
    const first = await ticketFor(receiver);
    const second = await ticketFor(receiver, more);
    expect(second).toMatchObject({ kind: 'executed', replayed: false });
    expect(second).not.toEqual(first);
    expect(await receiver.effects()).toHaveLength(2);
  });

  test('R-024 A1 the same key in another domain is another operation', async () => {
    const { receiver: west, place } = await open({ domain: 'west' });
    const { receiver: east } = await open({ domain: 'east', place });
    await ticketFor(west);
    expect(await east.inquire(identity)).toEqual({ kind: 'no_record' });
    expect(await ticketFor(east)).toMatchObject({ kind: 'executed', replayed: false });
    expect(await ticketFor(east, { domain: 'west' })).toMatchObject({ kind: 'invalid' });
    expect((await east.effects()).map(({ domain }) => domain)).toEqual(['west', 'east']);
  });

  test('A1 a record of an older contract version is still replayed after an upgrade', async () => {
    const { receiver: before, place } = await open();
    const first = await ticketFor(before);
    const operations: Operations = {
      open_ticket: { ...(exampleOperations()['open_ticket'] as LocalOperation), version: '2' },
    };
    const { receiver: after } = await open({ place, operations });
    expect(await ticketFor(after)).toEqual({ ...first, replayed: true });
    expect(await ticketFor(after, { key: 'new' })).toMatchObject({ kind: 'invalid' });
  });

  test('B12 effects carry key and token, and each arrival is logged', async () => {
    const { receiver, place } = await open();
    const sendToken = { epoch: 3, number: 2 };
    await ticketFor(receiver, { sendToken, firstSentAt: 1_700_000_000_000 });
    await ticketFor(receiver, { sendToken });
    await ticketFor(receiver, { input: { subject: 'other' } });
    await receiver.inquire(identity);
    expect(await receiver.effects()).toMatchObject([
      { ...identity, sendToken, externalId: 'ticket-1' },
    ]);
    const log = (await receiver.requests()).map(({ kind, answer, key }) => [kind, answer, key]);
    expect(log).toEqual([
      ['execute', 'executed', 'a17'],
      ['execute', 'replayed', 'a17'],
      ['execute', 'key_reused', 'a17'],
      ['inquire', 'executed', 'a17'],
    ]);
    const marks = { key: 'a17', token_epoch: 3, token_number: 2 };
    expect(await place.rows('SELECT * FROM ticket')).toMatchObject([marks]);
    expect(await place.rows('SELECT * FROM notification')).toMatchObject([marks]);
  });

  test('R-017 negative control: a fresh key gives a second ticket and notification', async () => {
    const { receiver } = await open();
    await ticketFor(receiver);
    await ticketFor(receiver, { key: 'a17-again' });
    expect(await receiver.observe('open_ticket')).toEqual({ tickets: 2, notifications: 2 });
  });

  test('A11 a rejection ends the key, also after funds have come', async () => {
    const { receiver } = await open();
    const rejected = await credit(receiver, -150);
    expect(rejected).toMatchObject({ kind: 'rejected', code: 'insufficient_funds' });
    expect(await receiver.observe('credit')).toEqual({ accounts: [] });
    await credit(receiver, 100, { key: 'k8' });
    expect(await credit(receiver, -150)).toEqual({ ...rejected, replayed: true });
    expect(await receiver.effects()).toHaveLength(1);
  });

  describe('A8 a handler that throws', () => {
    const failing = (times: number): LocalOperation => {
      let left = times;
      return {
        version: '1',
        tables: ({ serial, strict }) => `CREATE TABLE IF NOT EXISTS done (id ${serial}) ${strict}`,
        async apply(tx) {
          const done = await tx.get('INSERT INTO done DEFAULT VALUES RETURNING id');
          if (left-- > 0) throw new Error('after the effect');
          return { externalId: `done-${String(done?.['id'])}` };
        },
        observe: async (tx) => ({ done: (await tx.all('SELECT id FROM done')).length }),
      };
    };

    test('R-030 after its effect leaves nothing, and a retry makes one effect', async () => {
      const { receiver } = await open({ operations: { act: failing(1) } });
      const act = () =>
        receiver.execute({ principal: 'u', operation: 'act', version: '1', key: 'k', input: null });
      expect(await act()).toMatchObject({ kind: 'not_taken' });
      expect(await receiver.observe('act')).toEqual({ done: 0 });
      expect(await act()).toMatchObject({ kind: 'executed' });
      expect(await receiver.observe('act')).toEqual({ done: 1 });
      expect((await receiver.requests()).map(({ answer }) => answer)).toEqual([
        'not_taken',
        'executed',
      ]);
    });

    test('and later the same key leaves the record of the first alone', async () => {
      const { receiver, place } = await open();
      const first = await ticketFor(receiver);
      const broken = { open_ticket: failing(9) };
      const { receiver: after } = await open({ place, operations: broken });
      expect(await ticketFor(after)).toEqual({ ...first, replayed: true });
    });
  });

  test('A16 a store held by another process refuses, and nothing is left', async () => {
    const { receiver, place } = await open({ busyTimeoutMs: 20 });
    const letGo = await place.hold();
    expect(await ticketFor(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'unavailable' });
    expect(await receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
    await letGo();
    expect(await receiver.requests()).toEqual([]);
    expect(await ticketFor(receiver)).toMatchObject({ kind: 'executed', replayed: false });
  });

  test('A16 a closed store refuses the request and answers no question', async () => {
    const { receiver } = await open();
    await receiver.shutdown();
    expect(await ticketFor(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'unavailable' });
    expect(await receiver.close(identity)).toMatchObject({ kind: 'unavailable' });
  });

  test.each([
    ['an unknown operation', { operation: 'nothing' }, /not served here/],
    ['another version', { version: '9' }, /version 1, not 9/],
    ['an input the schema refuses', { input: { subject: 7 } }, /subject/],
    ['an input that is not canonical', { input: { subject: 'x', n: 2 ** 60 } }, /2\^53/],
    ['a fence scope without token', { fenceScope: 's' }, /send token/],
    ['an empty key', { key: '' }, /key/],
    ['a key with U+0000', { key: 'a\0b' }, /U\+0000/],
  ])('%s is invalid and stores nothing', async (_what, more, detail) => {
    const { receiver, place } = await open();
    const answer = await ticketFor(receiver, more);
    expect(answer).toMatchObject({ kind: 'invalid', detail: expect.stringMatching(detail) });
    expect(await receiver.inquire(identity)).toEqual({ kind: 'no_record' });
    expect(await place.rows('SELECT * FROM operation')).toEqual([]);
  });
}
