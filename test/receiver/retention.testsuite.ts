// Rules of forgetting, over either store.
// Catches: a key that is forgotten too early, or taken for a new one afterwards.

import { expect, test } from 'vitest';
import type { ForeignOperation, Receiver } from '../../receiver/index.ts';
import type { Open } from './stage.ts';

const hour = 3_600_000;
const options = { retentionMs: hour, clockSkewMs: 60_000 };
const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' };

const ticketFor = (receiver: Receiver, more: object = {}) =>
  receiver.execute({ ...identity, input: { subject: 'Printer on fire' }, ...more });

export function retentionRules(open: Open): void {
  test('A10: after the sweep an old request is outside the window and has no effect', async () => {
    const { receiver, time } = await open(options);
    const firstSentAt = time.now;
    await ticketFor(receiver, { firstSentAt });
    time.now += hour - 1;
    expect(await receiver.sweep()).toBe(0);
    expect(await ticketFor(receiver, { firstSentAt })).toMatchObject({ replayed: true });
    time.now += 1;
    expect(await receiver.sweep()).toBe(1);
    expect(await ticketFor(receiver, { firstSentAt })).toMatchObject({ kind: 'outside_window' });
    expect(await receiver.effects()).toHaveLength(1);
  });

  test.each([
    ['executed', -1],
    ['outside_window', 0],
  ])('A10: a key that never came is %s at the lifetime less the skew %i ms', async (kind, ms) => {
    const { receiver, time } = await open(options);
    const firstSentAt = time.now;
    time.now += hour - options.clockSkewMs + ms;
    expect(await ticketFor(receiver, { firstSentAt })).toMatchObject({ kind });
    expect(await receiver.effects()).toHaveLength(kind === 'executed' ? 1 : 0);
  });

  test('A10: without a first-sent time a forgotten key runs again: the limit', async () => {
    const { receiver, time } = await open(options);
    await ticketFor(receiver);
    time.now += hour;
    await receiver.sweep();
    expect(await ticketFor(receiver)).toMatchObject({ kind: 'executed', replayed: false });
    expect(await receiver.effects()).toHaveLength(2);
  });

  test('A10: a claim that is at work or unknown is swept at no age', async () => {
    const lost: ((error: Error) => void)[] = [];
    const charge: ForeignOperation = {
      version: '1',
      downstream: 'unkeyed',
      perform: () => new Promise((_, reject) => lost.push(reject)),
    };
    const { receiver, time } = await open({ ...options, operations: { charge } });
    const request = { ...identity, operation: 'charge', input: null };
    const first = receiver.execute(request);
    await expect.poll(() => lost.length, { timeout: 60_000, interval: 5 }).toBe(1);
    time.now += 100 * hour;
    expect(await receiver.sweep()).toBe(0);
    expect(await receiver.execute(request)).toMatchObject({ kind: 'unknown' });
    lost[0]?.(new Error('reset'));
    expect(await first).toMatchObject({ kind: 'unknown' });
    time.now += 100 * hour;
    expect(await receiver.sweep()).toBe(0);
    expect(await receiver.execute(request)).toMatchObject({ kind: 'unknown' });
    expect(lost).toHaveLength(1);
  });

  test('A14: a closing outlives every request it was made for', async () => {
    const { receiver, time } = await open(options);
    const firstSentAt = time.now;
    await receiver.close(identity);
    time.now += hour - 1;
    await receiver.sweep();
    for (let late = 0; late < 2; late++)
      expect(await ticketFor(receiver, { firstSentAt })).toMatchObject({ kind: 'closed' });
    time.now += 1;
    await receiver.sweep();
    expect(await ticketFor(receiver, { firstSentAt })).toMatchObject({ kind: 'outside_window' });
    expect(await receiver.effects()).toHaveLength(0);
  });

  test('A14: a closing that came later keeps the row of an older record', async () => {
    const charge: ForeignOperation = {
      version: '1',
      downstream: 'unkeyed',
      perform: async () => ({ notExecuted: '503' }),
    };
    const { receiver, time } = await open({ ...options, operations: { charge } });
    const request = { ...identity, operation: 'charge', input: null };
    expect(await receiver.execute(request)).toMatchObject({ kind: 'not_taken' });
    time.now += hour - 1;
    expect(await receiver.close(request)).toMatchObject({ kind: 'not_executed' });
    time.now += 1;
    expect(await receiver.sweep()).toBe(0);
    expect(await receiver.execute(request)).toMatchObject({ kind: 'closed' });
    time.now += hour;
    expect(await receiver.sweep()).toBe(1);
  });
}
