// Rules of effects behind the receiver, over either store.
// Catches: an effect behind the receiver that is run twice, or forgotten, for want of a report.

import { expect, test } from 'vitest';
import type { Applied, ForeignOperation, Receiver } from '../../receiver/index.ts';
import type { Open } from './stage.ts';

const identity = { principal: 'u1', operation: 'charge', version: '1', key: 'k' };
const send = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: { amount: 10 }, ...more });

interface ForeignCall {
  readonly key: string;
  readonly done: (report: Applied | { readonly notExecuted: string }) => void;
  readonly lost: (error: Error) => void;
}

/** Each call waits until the test answers it; `call(n)` resolves when the n-th has come. */
function handDriven(downstream: ForeignOperation['downstream']) {
  const calls: ForeignCall[] = [];
  let tell = () => {};
  const charge: ForeignOperation = {
    version: '1',
    downstream,
    perform: (_input, { downstreamKey }) =>
      new Promise((done, lost) => {
        calls.push({ key: downstreamKey, done, lost });
        tell();
      }),
  };
  const call = async (number: number): Promise<ForeignCall> => {
    for (;;) {
      const come = calls[number - 1];
      if (come !== undefined) return come;
      await new Promise<void>((resolve) => {
        tell = resolve;
      });
    }
  };
  return { calls, call, options: { operations: { charge }, claimLeaseMs: 1_000 } };
}

export function foreignRules(open: Open): void {
  test('A3 A6 while the first is at work its twin waits, another payload is refused', async () => {
    const { calls, call, options } = handDriven('unkeyed');
    const { receiver, time } = await open({ ...options, retentionMs: 3_600_000 });
    const first = send(receiver);
    const { done } = await call(1);
    expect(await send(receiver)).toMatchObject({ kind: 'in_progress' });
    expect(await send(receiver, { input: { amount: 9999 } })).toEqual({ kind: 'key_reused' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'processing' });
    expect(await receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
    time.now += 3_600_000;
    // A10: what is not final never expires.
    expect(await receiver.sweep()).toBe(0);
    done({ externalId: 'c-1', result: null });
    expect(await first).toMatchObject({ kind: 'executed', externalId: 'c-1', result: null });
    expect(await send(receiver)).toMatchObject({ kind: 'executed', replayed: true });
    expect(calls).toHaveLength(1);
  });

  test('A5 A8 a lost report is unknown, never failed; the effect is not run again', async () => {
    const { calls, call, options } = handDriven('unkeyed');
    const { receiver } = await open(options);
    const first = send(receiver);
    (await call(1)).lost(new Error('socket hang up'));
    expect(await first).toEqual({ kind: 'unknown', detail: 'socket hang up' });
    expect(await send(receiver)).toMatchObject({ kind: 'unknown' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'unknown' });
    expect(await receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
    expect(calls).toHaveLength(1);
  });

  test('A6 a claim past its lease is unknown, not free, and its late report counts', async () => {
    const { calls, call, options } = handDriven('unkeyed');
    const { receiver, time } = await open(options);
    const first = send(receiver);
    const { done } = await call(1);
    time.now += 1_000;
    expect(await send(receiver)).toMatchObject({ kind: 'unknown' });
    expect(calls).toHaveLength(1);
    done({ externalId: 'c-1' });
    expect(await first).toMatchObject({ kind: 'executed', externalId: 'c-1' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'executed' });
  });

  test('A7 a lost claim is taken over with the same key, a zombie changes nothing', async () => {
    const { calls, call, options } = handDriven('keyed');
    const { receiver, time } = await open(options);
    const zombie = send(receiver);
    const old = await call(1);
    time.now += 1_000;
    const second = send(receiver);
    const current = await call(2);
    expect(calls.map(({ key }) => key)).toEqual(['local/u1/charge/1/k', 'local/u1/charge/1/k']);
    current.done({ externalId: 'c-1' });
    expect(await second).toMatchObject({ kind: 'executed', externalId: 'c-1', replayed: false });
    old.done({ externalId: 'c-zombie' });
    expect(await zombie).toMatchObject({ kind: 'executed', externalId: 'c-1', replayed: true });
    expect((await receiver.effects()).map(({ externalId }) => externalId)).toEqual(['c-1']);
  });

  test("A7 a zombie's late failure does not end the claim of its successor", async () => {
    const { call, options } = handDriven('keyed');
    const { receiver, time } = await open(options);
    const zombie = send(receiver);
    const old = await call(1);
    time.now += 1_000;
    const second = send(receiver);
    const current = await call(2);
    old.lost(new Error('reset'));
    expect(await zombie).toMatchObject({ kind: 'lease_expired' });
    expect(await receiver.inquire(identity)).toMatchObject({ kind: 'processing' });
    current.done({ externalId: 'c-1' });
    expect(await second).toMatchObject({ kind: 'executed' });
  });

  test('A8 a definite failure before the effect may be tried again or closed', async () => {
    let down = true;
    const charge: ForeignOperation = {
      version: '1',
      downstream: 'unkeyed',
      perform: async () => (down ? { notExecuted: '503' } : { externalId: 'c-1' }),
    };
    const { receiver } = await open({ operations: { charge } });
    expect(await send(receiver)).toMatchObject({ kind: 'not_taken' });
    expect(await receiver.inquire(identity)).toEqual({ kind: 'no_record' });
    down = false;
    expect(await send(receiver)).toMatchObject({ kind: 'executed', externalId: 'c-1' });
  });

  test.each(['lost', 'late'] as const)(
    'A6 D6 a claim that did nothing proves nothing of the one before it, whose report is %s',
    async (report) => {
      const { calls, call, options } = handDriven('keyed');
      const { receiver, time } = await open(options);
      const first = send(receiver);
      const old = await call(1);
      if (report === 'lost') old.lost(new Error('timeout'));
      else time.now += 1_000;
      if (report === 'lost') expect(await first).toMatchObject({ kind: 'unknown' });
      const second = send(receiver);
      (await call(2)).done({ notExecuted: '429' });
      expect(await second).toMatchObject({ kind: 'unknown' });
      // The first request may still reach the service behind: no closing may promise otherwise.
      expect(await receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
      expect(await receiver.inquire(identity)).toMatchObject({ kind: 'unknown' });
      const third = send(receiver);
      (await call(3)).done({ externalId: 'c-1' });
      expect(await third).toMatchObject({ kind: 'executed', externalId: 'c-1' });
      expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    },
  );

  test('A5 a claim whose process died is at work, then unknown, to the next process', async () => {
    const { call, options } = handDriven('unkeyed');
    const { receiver, place } = await open(options);
    void send(receiver);
    await call(1);
    const { receiver: after, time } = await open({ ...options, place });
    expect(await send(after)).toMatchObject({ kind: 'in_progress' });
    time.now += 1_000;
    expect(await send(after)).toMatchObject({ kind: 'unknown' });
  });

  test('B8: a claim lost by time and a newer epoch are two answers', async () => {
    const { call, options } = handDriven('keyed');
    const { receiver, time } = await open(options);
    const fenceScope = 'run';
    const sendToken = { epoch: 1, number: 1 };
    const slow = send(receiver, { sendToken, fenceScope });
    const old = await call(1);
    time.now += 1_000;
    const next = send(receiver, { sendToken: { epoch: 1, number: 2 }, fenceScope });
    const { done } = await call(2);
    old.lost(new Error('reset'));
    // Lost by time: it may ask again, under the same key.
    expect(await slow).toMatchObject({ kind: 'lease_expired', retryAfterMs: 1_000 });
    done({ externalId: 'c-1' });
    await next;
    await receiver.fence({ principal: 'u1', scope: fenceScope, epoch: 2 });
    // Replaced: definitely not executed, and never to be tried again.
    const stale = await send(receiver, { key: 'other', sendToken, fenceScope });
    expect(stale).toEqual({ kind: 'fenced', epoch: 2 });
    expect(await receiver.effects()).toHaveLength(1);
  });
}
