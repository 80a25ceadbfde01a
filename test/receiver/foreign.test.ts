import { expect, test } from 'vitest';
import type { Applied, ForeignOperation, Receiver } from '../../receiver/index.ts';
import { openForTest } from './open.ts';

// Catches: an effect behind the receiver that is run twice, or forgotten, for want of a report.

const identity = { principal: 'u1', operation: 'charge', version: '1', key: 'k' };
const send = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: { amount: 10 }, ...more });

/** Each call waits in `calls` until the test answers it. */
function handDriven(downstream: ForeignOperation['downstream']) {
  const calls: {
    readonly key: string;
    readonly done: (applied: Applied) => void;
    readonly lost: (error: Error) => void;
  }[] = [];
  const charge: ForeignOperation = {
    version: '1',
    downstream,
    perform: (_input, { downstreamKey }) =>
      new Promise((done, lost) => {
        calls.push({ key: downstreamKey, done, lost });
      }),
  };
  return { calls, options: { operations: { charge }, claimLeaseMs: 1_000 } };
}

test('A3 A6 while the first is at work its twin waits and another payload is refused', async () => {
  const { calls, options } = handDriven('unkeyed');
  const { receiver, time } = openForTest({ ...options, retentionMs: 3_600_000 });
  const first = send(receiver);
  expect(await send(receiver)).toMatchObject({ kind: 'in_progress' });
  expect(await send(receiver, { input: { amount: 9999 } })).toEqual({ kind: 'key_reused' });
  expect(receiver.inquire(identity)).toMatchObject({ kind: 'processing' });
  expect(receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
  time.now += 3_600_000;
  // A10: what is not final never expires.
  expect(receiver.sweep()).toBe(0);
  calls[0]?.done({ externalId: 'c-1', result: null });
  expect(await first).toMatchObject({ kind: 'executed', externalId: 'c-1', result: null });
  expect(await send(receiver)).toMatchObject({ kind: 'executed', replayed: true });
  expect(calls).toHaveLength(1);
});

test('A5 A8 a lost report is unknown, never failed, and the effect is not run again', async () => {
  const { calls, options } = handDriven('unkeyed');
  const { receiver } = openForTest(options);
  const first = send(receiver);
  calls[0]?.lost(new Error('socket hang up'));
  expect(await first).toEqual({ kind: 'unknown', detail: 'socket hang up' });
  expect(await send(receiver)).toMatchObject({ kind: 'unknown' });
  expect(receiver.inquire(identity)).toMatchObject({ kind: 'unknown' });
  expect(receiver.close(identity)).toMatchObject({ kind: 'in_flight' });
  expect(calls).toHaveLength(1);
});

test('A6 a claim past its lease is unknown, not free, and its late report counts', async () => {
  const { calls, options } = handDriven('unkeyed');
  const { receiver, time } = openForTest(options);
  const first = send(receiver);
  time.now += 1_000;
  expect(await send(receiver)).toMatchObject({ kind: 'unknown' });
  expect(calls).toHaveLength(1);
  calls[0]?.done({ externalId: 'c-1' });
  expect(await first).toMatchObject({ kind: 'executed', externalId: 'c-1' });
  expect(receiver.inquire(identity)).toMatchObject({ kind: 'executed' });
});

test('A7 a lost claim is taken over with the same key, a zombie changes nothing', async () => {
  const { calls, options } = handDriven('keyed');
  const { receiver, time } = openForTest(options);
  const zombie = send(receiver);
  time.now += 1_000;
  const second = send(receiver);
  expect(calls.map(({ key }) => key)).toEqual(['local/u1/charge/1/k', 'local/u1/charge/1/k']);
  calls[1]?.done({ externalId: 'c-1' });
  expect(await second).toMatchObject({ kind: 'executed', externalId: 'c-1', replayed: false });
  calls[0]?.done({ externalId: 'c-zombie' });
  expect(await zombie).toMatchObject({ kind: 'executed', externalId: 'c-1', replayed: true });
  expect(receiver.effects().map(({ externalId }) => externalId)).toEqual(['c-1']);
});

test("A7 a zombie's late failure does not end the claim of its successor", async () => {
  const { calls, options } = handDriven('keyed');
  const { receiver, time } = openForTest(options);
  const zombie = send(receiver);
  time.now += 1_000;
  const second = send(receiver);
  calls[0]?.lost(new Error('reset'));
  expect(await zombie).toMatchObject({ kind: 'unknown' });
  expect(receiver.inquire(identity)).toMatchObject({ kind: 'processing' });
  calls[1]?.done({ externalId: 'c-1' });
  expect(await second).toMatchObject({ kind: 'executed' });
});

test('A8 a definite failure before the effect may be tried again or closed', async () => {
  let down = true;
  const charge: ForeignOperation = {
    version: '1',
    downstream: 'unkeyed',
    perform: async () => (down ? { notExecuted: '503' } : { externalId: 'c-1' }),
  };
  const { receiver } = openForTest({ operations: { charge } });
  expect(await send(receiver)).toMatchObject({ kind: 'not_taken' });
  expect(receiver.inquire(identity)).toEqual({ kind: 'no_record' });
  down = false;
  expect(await send(receiver)).toMatchObject({ kind: 'executed', externalId: 'c-1' });
});

test('A5 a claim whose process died is at work, then unknown, to the next process', async () => {
  const { options } = handDriven('unkeyed');
  const { receiver, path } = openForTest(options);
  void send(receiver);
  const { receiver: after, time } = openForTest({ ...options, path });
  expect(await send(after)).toMatchObject({ kind: 'in_progress' });
  time.now += 1_000;
  expect(await send(after)).toMatchObject({ kind: 'unknown' });
});
