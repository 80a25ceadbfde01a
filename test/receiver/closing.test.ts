import { describe, expect, test } from 'vitest';
import type { SendToken } from '../../core/ids.ts';
import type { Receiver } from '../../receiver/index.ts';
import { openForTest } from './open.ts';

// Catches: "not executed" said of a request that can still run.

const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' };
const input = { subject: 'Printer on fire' };
const token = (epoch: number, number: number): SendToken => ({ epoch, number });
const send = (receiver: Receiver, sendToken?: SendToken, more: object = {}) =>
  receiver.execute({ ...identity, input, sendToken, ...more });
const tickets = async (receiver: Receiver) => (await receiver.effects()).length;

describe('A13 closing inquiry', () => {
  test('an inquiry proves nothing: after no_record the request still runs', async () => {
    const { receiver } = await openForTest();
    expect(await receiver.inquire(identity)).toEqual({ kind: 'no_record' });
    expect(await send(receiver)).toMatchObject({ kind: 'executed' });
  });

  test('A14 a closed token is refused each time it comes, a later one passes', async () => {
    const { receiver } = await openForTest();
    const through = token(1, 2);
    expect(await receiver.close(identity, through)).toEqual({
      kind: 'not_executed',
      closed: true,
      through,
    });
    for (const late of [token(1, 1), token(1, 2), token(1, 2), undefined])
      expect(await send(receiver, late)).toEqual({ kind: 'closed', through });
    expect(await tickets(receiver)).toBe(0);
    expect(await send(receiver, token(1, 3))).toMatchObject({ kind: 'executed', replayed: false });
    expect(await send(receiver, token(1, 1))).toMatchObject({ kind: 'executed', replayed: true });
    expect(await tickets(receiver)).toBe(1);
  });

  test('a closed key refuses every token for ever', async () => {
    const { receiver } = await openForTest();
    await receiver.close(identity);
    expect(await send(receiver, token(99, 1))).toEqual({ kind: 'closed', through: null });
    await receiver.close(identity, token(1, 1));
    expect(await send(receiver, token(99, 1))).toEqual({ kind: 'closed', through: null });
    expect(await tickets(receiver)).toBe(0);
  });

  test('an older closing does not reopen what a later one closed', async () => {
    const { receiver } = await openForTest();
    await receiver.close(identity, token(2, 5));
    expect(await receiver.close(identity, token(2, 1))).toMatchObject({ through: token(2, 5) });
    expect(await send(receiver, token(2, 4))).toMatchObject({ kind: 'closed' });
  });

  test('what was executed or rejected before is told, not closed', async () => {
    const { receiver } = await openForTest();
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
    const { receiver } = await openForTest();
    await receiver.close(identity);
    const answer = await send(receiver, undefined, { principal: 'u2' });
    expect(answer).toMatchObject({ kind: 'executed' });
  });

  test('a closing survives the receiver: reopened, it still refuses', async () => {
    const { receiver, path } = await openForTest();
    await receiver.close(identity, token(1, 1));
    await receiver.shutdown();
    const { receiver: again } = await openForTest({ path });
    expect(await send(again, token(1, 1))).toMatchObject({ kind: 'closed' });
  });
});

describe('B4 R-102 fence', () => {
  const fenceScope = 'run-1';
  const scope = { principal: 'u1', scope: fenceScope };

  test.each([
    [1, 'fenced'],
    [2, 'executed'],
    [3, 'executed'],
  ])('B3 a request of epoch %i against a fence at 2 is %s', async (epoch, kind) => {
    const { receiver } = await openForTest();
    await receiver.fence({ ...scope, epoch: 2 });
    expect(await send(receiver, token(epoch, 1), { fenceScope })).toMatchObject({ kind });
    expect(await tickets(receiver)).toBe(kind === 'executed' ? 1 : 0);
  });

  test('a newer epoch raises the fence in the transaction of its effect', async () => {
    const { receiver } = await openForTest();
    await send(receiver, token(5, 1), { fenceScope });
    const stale = await send(receiver, token(4, 1), { fenceScope, key: 'other' });
    expect(stale).toEqual({ kind: 'fenced', epoch: 5 });
    expect(await receiver.fence({ ...scope, epoch: 4 })).toEqual({ kind: 'stale', epoch: 5 });
  });

  test('B6 what was executed under an old epoch stands and is told', async () => {
    const { receiver } = await openForTest();
    await send(receiver, token(1, 1), { fenceScope });
    await receiver.fence({ ...scope, epoch: 2 });
    const again = await send(receiver, token(1, 1), { fenceScope });
    expect(again).toMatchObject({ kind: 'executed', replayed: true });
  });

  test('a request that was refused raises no fence', async () => {
    const { receiver } = await openForTest();
    await send(receiver, token(9, 1), { fenceScope, input: { subject: 7 } });
    expect(await send(receiver, token(1, 1), { fenceScope })).toMatchObject({ kind: 'executed' });
  });
});
