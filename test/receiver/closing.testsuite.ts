// Rules of the closing inquiry, over either store.
// Catches: "not executed" said of a request that can still run.

import { describe, expect, test } from 'vitest';
import { digestOf } from '../../core/digest.ts';
import type { SendToken } from '../../core/ids.ts';
import type { Receiver } from '../../receiver/index.ts';
import type { Open } from './stage.ts';

const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' };
const input = { subject: 'Printer on fire' };
const token = (epoch: number, number: number): SendToken => ({ epoch, number });
const send = (receiver: Receiver, sendToken?: SendToken, more: object = {}) =>
  receiver.execute({ ...identity, input, sendToken, ...more });
const tickets = async (receiver: Receiver) => (await receiver.effects()).length;

export function closingRules(open: Open): void {
  describe('A13 closing inquiry', () => {
    test('an inquiry proves nothing: after no_record the request still runs', async () => {
      const { receiver } = await open();
      expect(await receiver.inquire(identity)).toEqual({ kind: 'no_record' });
      expect(await send(receiver)).toMatchObject({ kind: 'executed' });
    });

    test('A14 a closed token is refused each time it comes, a later one passes', async () => {
      const { receiver } = await open();
      const through = token(1, 2);
      expect(await receiver.close(identity, through)).toEqual({
        kind: 'not_executed',
        closed: true,
        through,
      });
      for (const late of [token(1, 1), token(1, 2), token(1, 2), undefined])
        expect(await send(receiver, late)).toEqual({ kind: 'closed', through });
      expect(await tickets(receiver)).toBe(0);
      expect(await send(receiver, token(1, 3))).toMatchObject({
        kind: 'executed',
        replayed: false,
      });
      expect(await send(receiver, token(1, 1))).toMatchObject({ kind: 'executed', replayed: true });
      expect(await tickets(receiver)).toBe(1);
    });

    test('a closed key refuses every token for ever', async () => {
      const { receiver } = await open();
      await receiver.close(identity);
      expect(await send(receiver, token(99, 1))).toEqual({ kind: 'closed', through: null });
      await receiver.close(identity, token(1, 1));
      expect(await send(receiver, token(99, 1))).toEqual({ kind: 'closed', through: null });
      expect(await tickets(receiver)).toBe(0);
    });

    test('an older closing does not reopen what a later one closed', async () => {
      const { receiver } = await open();
      await receiver.close(identity, token(2, 5));
      expect(await receiver.close(identity, token(2, 1))).toMatchObject({ through: token(2, 5) });
      expect(await send(receiver, token(2, 4))).toMatchObject({ kind: 'closed' });
    });

    test('what was executed or rejected before is told, not closed', async () => {
      const { receiver } = await open();
      await send(receiver, token(1, 1));
      expect(await receiver.close(identity, token(1, 1))).toMatchObject({
        kind: 'executed',
        externalId: 'ticket-1',
      });
      const poor = { ...identity, operation: 'credit', key: 'k' };
      await receiver.execute({ ...poor, input: { account: 'a', amount: -101 } });
      expect(await receiver.close(poor)).toMatchObject({
        kind: 'rejected',
        code: 'insufficient_funds',
      });
    });

    test('R-024 closing one principal leaves the same key of another open', async () => {
      const { receiver } = await open();
      await receiver.close(identity);
      const answer = await send(receiver, undefined, { principal: 'u2' });
      expect(answer).toMatchObject({ kind: 'executed' });
    });

    test('a closing survives the receiver: reopened, it still refuses', async () => {
      const { receiver, place } = await open();
      await receiver.close(identity, token(1, 1));
      await receiver.shutdown();
      const { receiver: again } = await open({ place });
      expect(await send(again, token(1, 1))).toMatchObject({ kind: 'closed' });
    });
  });

  describe('whose payload it is', () => {
    const digest = digestOf(input);
    const payloadDigest = digestOf('as the caller has it');

    test('A3 inquiry and closing tell the digest of the input that has the key', async () => {
      const { receiver } = await open();
      await send(receiver);
      expect(await receiver.inquire(identity)).toMatchObject({ kind: 'executed', digest });
      expect(await receiver.close(identity)).toMatchObject({ kind: 'executed', digest });
      expect(await send(receiver, undefined, { input: { subject: 'x' } })).toEqual({
        kind: 'key_reused',
      });
      expect(await receiver.inquire(identity)).toMatchObject({ digest });
    });

    test("A3 the caller's own digest comes back to whoever asks, also of a refusal", async () => {
      const { receiver } = await open();
      const poor = { ...identity, operation: 'credit', key: 'k' };
      const debit = { account: 'a', amount: -101 };
      await receiver.execute({ ...poor, input: debit, payloadDigest });
      const told = { kind: 'rejected', digest: digestOf(debit), payloadDigest };
      expect(await receiver.inquire(poor)).toMatchObject(told);
      expect(await receiver.close(poor)).toMatchObject(told);
      const first = await receiver.inquire({ ...poor, key: 'never' });
      expect(first).toEqual({ kind: 'no_record' });
    });
  });
}
