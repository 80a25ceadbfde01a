// Rules of fences, over either store.
// Catches: an effect of an epoch that was replaced, and a fence that says it is up before it is.

import { describe, expect, test } from 'vitest';
import type { SendToken } from '../../core/ids.ts';
import type { ForeignOperation, Receiver } from '../../receiver/index.ts';
import { randomFrom } from '../support/random.ts';
import type { Open } from './stage.ts';

const fenceScope = 'run-1';
const scope = { principal: 'u1', scope: fenceScope };
const identity = { principal: 'u1', operation: 'open_ticket', version: '1', key: 'a17' };
const input = { subject: 'Printer on fire' };
const token = (epoch: number, number = 1): SendToken => ({ epoch, number });
const asker = (epoch: number) => ({ sendToken: token(epoch), fenceScope });
const send = (receiver: Receiver, sendToken?: SendToken, more: object = {}) =>
  receiver.execute({ ...identity, input, sendToken, ...more });
const FENCES = 'SELECT epoch FROM fence';

export function fenceRules(open: Open): void {
  test('B1: nobody gets an epoch here: who presents none raises nothing', async () => {
    const { receiver, place } = await open();
    await receiver.fence({ ...scope, epoch: 2 });
    expect(await send(receiver)).toMatchObject({ kind: 'executed' });
    await receiver.inquire(identity);
    await receiver.close({ ...identity, key: 'other' });
    await receiver.sweep();
    expect(await place.rows(FENCES)).toEqual([{ epoch: expect.anything() }]);
    expect(Number((await place.rows(FENCES))[0]?.['epoch'])).toBe(2);
    // A zombie that comes back asks with what it has, and is told who holds the scope. No more.
    expect(await receiver.fence({ ...scope, epoch: 1 })).toEqual({ kind: 'stale', epoch: 2 });
    expect(await receiver.fence({ ...scope, epoch: 2 })).toEqual({ kind: 'fenced', epoch: 2 });
    const none = { kind: 'invalid', detail: expect.stringMatching(/token/) };
    expect(await send(receiver, undefined, { fenceScope, key: 'k' })).toMatchObject(none);
    expect(Number((await place.rows(FENCES))[0]?.['epoch'])).toBe(2);
  });

  test('B2: one worker, two attempts: every late call of the first is refused', async () => {
    const { receiver } = await open();
    const first = asker(1);
    const second = asker(2);
    await receiver.fence({ ...scope, epoch: 2 });
    expect(await receiver.inquire(identity, second)).toEqual({ kind: 'no_record' });
    const refused = { kind: 'fenced', epoch: 2 };
    expect(await send(receiver, first.sendToken, first)).toEqual(refused);
    expect(await receiver.inquire(identity, first)).toEqual(refused);
    expect(await receiver.close(identity, first.sendToken, first)).toEqual(refused);
    expect(await receiver.close(identity, undefined, first)).toEqual(refused);
    expect(await receiver.fence({ ...scope, epoch: 1 })).toEqual({ kind: 'stale', epoch: 2 });
    // None of it left a trace in the way of the attempt that holds the scope.
    const done = await send(receiver, second.sendToken, second);
    expect(done).toMatchObject({ kind: 'executed', replayed: false });
    expect(await receiver.effects()).toMatchObject([{ sendToken: token(2) }]);
  });

  describe('B4: presented against the fence at 2', () => {
    // Claimed: another request holds the claim of this key, within its lease.
    test.each([
      [1, 'free', 'fenced', 2],
      [1, 'claimed', 'in_progress', 2],
      [2, 'free', 'executed', 2],
      [2, 'claimed', 'in_progress', 2],
      [3, 'free', 'executed', 3],
      [3, 'claimed', 'in_progress', 2],
    ])('B4: epoch %i, key %s: %s, fence at %i', async (epoch, key, kind, raised) => {
      const held: (() => void)[] = [];
      const charge: ForeignOperation = {
        version: '1',
        downstream: 'keyed',
        perform: (_input, { sendToken }) =>
          new Promise((done) => {
            held.push(() => done({ externalId: `by-${sendToken?.number}` }));
            if (sendToken?.number !== 9) done({ externalId: 'c' });
          }),
      };
      const { receiver, place } = await open({ operations: { charge } });
      const request = { operation: 'charge', fenceScope };
      await receiver.fence({ ...scope, epoch: 2 });
      const first = key === 'claimed' ? send(receiver, token(2, 9), request) : null;
      if (first !== null) await expect.poll(() => held.length, { timeout: 60_000 }).toBe(1);
      expect(await send(receiver, token(epoch), request)).toMatchObject({ kind });
      expect(Number((await place.rows(FENCES))[0]?.['epoch'])).toBe(raised);
      held[0]?.();
      // The holder of the claim, of the same epoch, completes it.
      if (first !== null) expect(await first).toMatchObject({ externalId: 'by-9' });
      const effects = await receiver.effects();
      expect(effects).toHaveLength(first !== null || kind === 'executed' ? 1 : 0);
    });

    test('B4: at once, 1 is refused, 3 runs, and no 2 runs after a 3', async () => {
      const { receiver } = await open();
      await receiver.fence({ ...scope, epoch: 2 });
      const epochs = Array.from({ length: 24 }, (_, i) => 1 + (i % 3));
      const kinds = await Promise.all(
        epochs.map(async (epoch, i) => {
          const answer = await send(receiver, token(epoch), { fenceScope, key: `k${i}` });
          return [epoch, answer.kind] as const;
        }),
      );
      const of = (wanted: number) =>
        kinds.filter(([epoch]) => epoch === wanted).map(([, kind]) => kind);
      expect(new Set(of(1))).toEqual(new Set(['fenced']));
      expect(new Set(of(3))).toEqual(new Set(['executed']));
      expect(['executed', 'fenced']).toEqual(expect.arrayContaining(of(2)));
      const done = (await receiver.effects()).map(({ sendToken }) => sendToken?.epoch);
      expect(done).toEqual([...done].sort());
    });
  });

  test.each([
    [1, 'fenced'],
    [2, 'executed'],
    [3, 'executed'],
  ])('B3 R-102 a request of epoch %i against a fence at 2 is %s', async (epoch, kind) => {
    const { receiver } = await open();
    await receiver.fence({ ...scope, epoch: 2 });
    expect(await send(receiver, token(epoch), { fenceScope })).toMatchObject({ kind });
    expect(await receiver.effects()).toHaveLength(kind === 'executed' ? 1 : 0);
  });

  test('B4: a newer epoch raises the fence in the transaction of its effect', async () => {
    const { receiver } = await open();
    await send(receiver, token(5), { fenceScope });
    const stale = await send(receiver, token(4), { fenceScope, key: 'other' });
    expect(stale).toEqual({ kind: 'fenced', epoch: 5 });
    expect(await receiver.fence({ ...scope, epoch: 4 })).toEqual({ kind: 'stale', epoch: 5 });
  });

  test('B4: a request that was refused raises no fence', async () => {
    const { receiver } = await open();
    await send(receiver, token(9), { fenceScope, input: { subject: 7 } });
    expect(await send(receiver, token(1), { fenceScope })).toMatchObject({ kind: 'executed' });
  });

  test('B5: whatever the order, no effect of an older epoch comes after its fence', async () => {
    const random = randomFrom(Number(process.env['TEST_SEED']));
    const { receiver } = await open();
    const older = async (epoch: number) =>
      (await receiver.effects()).filter(({ sendToken }) => (sendToken?.epoch ?? 0) < epoch).length;
    const settled: { readonly epoch: number; readonly effects: number }[] = [];
    for (let round = 0; round < 12; round++) {
      const steps = Array.from({ length: 8 }, async (_, i) => {
        const epoch = 1 + Math.floor(random() * 6);
        if (random() < 0.7)
          return void (await send(receiver, token(epoch), { fenceScope, key: `k${round}.${i}` }));
        const fenced = await receiver.fence({ ...scope, epoch });
        if (fenced.kind === 'fenced') settled.push({ epoch, effects: await older(epoch) });
      });
      await Promise.all(steps);
    }
    expect(settled.length).toBeGreaterThan(0);
    for (const { epoch, effects } of settled) expect(await older(epoch)).toBe(effects);
  });

  test('B6: what was executed under an old epoch stands and is told', async () => {
    const { receiver } = await open();
    await send(receiver, token(1), { fenceScope });
    await receiver.fence({ ...scope, epoch: 2 });
    const told = { kind: 'executed', externalId: 'ticket-1' };
    expect(await send(receiver, token(1), { fenceScope })).toMatchObject({
      ...told,
      replayed: true,
    });
    expect(await receiver.inquire(identity, asker(2))).toMatchObject(told);
    expect(await receiver.close(identity, token(2), asker(2))).toMatchObject(told);
  });

  test('B6: an item queued at epoch 1 is checked again when it runs', async () => {
    const { receiver } = await open();
    const queue = ['a', 'b'].map((key) => () => send(receiver, token(1), { fenceScope, key }));
    expect(await queue.shift()?.()).toMatchObject({ kind: 'executed' });
    await receiver.fence({ ...scope, epoch: 2 });
    expect(await queue.shift()?.()).toEqual({ kind: 'fenced', epoch: 2 });
    expect(await receiver.effects()).toHaveLength(1);
  });
}
