// Rules of the outbox, over either store. Sends are counted where they arrive, in `calls`.
// Catches: an intent that gets lost, and one that is sent although nobody may do that any more.

import { expect, onTestFinished, test } from 'vitest';
import { type LocalOperation, type MaySend, openReceiver } from '../../receiver/index.ts';
import { type Answer, done, lost, mail, outboxAt, pay, yes } from './outbox-stage.ts';
import type { Open } from './stage.ts';

export function outboxRules(open: Open): void {
  sendingRules(open);
  authorityRules(open);
}

function sendingRules(open: Open): void {
  test('R-033 an intent commits with the change it belongs to, or is not there', async () => {
    const { place } = await open();
    const { outbox, store, calls, stateOf, drain } = await outboxAt(place);
    const failed = await store.transaction(async (tx) => {
      await outbox.enqueue(tx, mail);
      throw new Error('no stock');
    });
    expect(failed.kind).toBe('rolled_back');
    expect(await outbox.intent(mail.key)).toBeNull();
    await drain();
    expect(calls).toEqual([]);
    await store.transaction((tx) => outbox.enqueue(tx, mail));
    expect(await stateOf(mail.key)).toBe('queued');
    await drain();
    expect(calls).toMatchObject([{ ...mail, send: 1 }]);
    expect(await outbox.intent(mail.key)).toMatchObject({
      ...{ state: 'executed', sends: 1, openSends: 0, externalId: 'x-1' },
    });
  });

  test('R-033 an operation of a receiver enqueues in the transaction of its effect', async () => {
    const { place } = await open();
    const { outbox, stateOf } = await outboxAt(place);
    const order: LocalOperation = {
      version: '1',
      async apply(tx, input) {
        await outbox.enqueue(tx, { ...mail, key: `mail for ${JSON.stringify(input)}` });
        if (input === 'bad') return { rejected: { code: 'bad', message: 'not this one' } };
        return { externalId: 'order-1' };
      },
    };
    const receiver = await openReceiver({ ...place.at, operations: { order } });
    onTestFinished(() => receiver.shutdown());
    const request = { principal: 'ada', operation: 'order', version: '1' };
    await receiver.execute({ ...request, key: 'a', input: 'good' });
    await receiver.execute({ ...request, key: 'a', input: 'good' });
    await receiver.execute({ ...request, key: 'b', input: 'bad' });
    expect((await outbox.intents('queued')).map(({ key }) => key)).toEqual(['mail for "good"']);
    expect(await stateOf('mail for "bad"')).toBeUndefined();
  });

  test('A3 the same intent is there once; its key stands for no other', async () => {
    const { place } = await open();
    const { enqueue, outbox } = await outboxAt(place);
    expect(await enqueue(mail)).toBe(true);
    expect(await enqueue(mail)).toBe(false);
    for (const other of [{ payload: '{}' }, { principal: 'bob' }, { receiver: 'bank' }])
      await expect(enqueue({ ...mail, ...other })).rejects.toMatchObject({
        error: { message: expect.stringContaining('stands for another intent') },
      });
    expect(await outbox.intents('queued')).toHaveLength(1);
  });

  test.each([
    ['without a key', { key: '' }, /a key has 1 to/],
    ['to nobody known', { receiver: 'fax' }, /no receiver "fax"/],
    ['that is no text', { payload: '\ud800' }, /text without NUL/],
    ['with a NUL', { payload: 'a\0b' }, /text without NUL/],
  ])('an intent %s is refused where it is enqueued', async (_what, wrong, words) => {
    const { place } = await open();
    const { enqueue } = await outboxAt(place);
    await expect(enqueue({ ...mail, ...wrong })).rejects.toMatchObject({
      error: { message: expect.stringMatching(words) },
    });
  });

  test('two senders at once: each intent leaves once', async () => {
    const { place } = await open();
    // A clock that another drain turns meanwhile would make a send too late, rightly.
    const still = { clock: () => 1_700_000_000_000 };
    const [one, two] = await Promise.all([outboxAt(place, still), outboxAt(place, still)]);
    const keys = Array.from({ length: 20 }, (_, n) => `mail-${String(n).padStart(2, '0')}`);
    for (const key of keys) await one.enqueue({ ...mail, key });
    await Promise.all([one.drain(), two.drain(), one.drain(), two.drain()]);
    const sent = [...one.calls, ...two.calls].map(({ key }) => key);
    expect(sent.sort()).toEqual(keys);
    expect(await one.outbox.intents('executed')).toHaveLength(20);
  });

  test('refused with a time it is sent again after it, and so often and no more', async () => {
    const { place } = await open();
    const refuse: Answer = async () => ({ kind: 'not_executed', reason: '429', againAfterMs: 1 });
    const again = await outboxAt(place, { sendsMax: 3 }, refuse, done);
    await again.enqueue(mail);
    await again.drain();
    expect(again.calls.map(({ send }) => send)).toEqual([1, 2]);
    expect(await again.stateOf(mail.key)).toBe('executed');
    const { place: other } = await open();
    const never = await outboxAt(other, { sendsMax: 3 }, refuse);
    await never.enqueue(mail);
    await never.drain();
    expect(never.calls).toHaveLength(3);
    expect(await never.outbox.intent(mail.key)).toMatchObject({
      ...{ state: 'not_executed', reason: '429', openSends: 0 },
    });
  });

  test('a window that outlasts the lease is refused: a zombie could send after it', async () => {
    const { place } = await open();
    await expect(outboxAt(place, { leaseMs: 10, windowMs: 11 })).rejects.toThrow(/windowMs 11/);
  });

  test('the work goes on past a problem, and ends with its signal', async () => {
    const { place } = await open();
    let asked = 0;
    const problems: unknown[] = [];
    const stop = new AbortController();
    const { store, outbox, enqueue } = await outboxAt(place, {
      newClaim: () => {
        asked += 1;
        if (asked === 1) throw new Error('no dice');
        return `claim-${asked}`;
      },
      receivers: {
        mail: {
          send: async () => {
            stop.abort();
            return { kind: 'executed' };
          },
        },
      },
    });
    await enqueue(mail);
    await outbox.work(stop.signal, (problem) => problems.push(problem));
    expect(problems).toMatchObject([{ message: 'no dice' }]);
    expect((await outbox.intent(mail.key))?.state).toBe('executed');
    await store.close();
    await expect(outbox.sendNext()).rejects.toThrow();
  });
}

function authorityRules(open: Open): void {
  test('R-034 revoked between enqueue and send: no call, and the intent stays', async () => {
    const { place } = await open();
    const revoked: MaySend = { kind: 'revoked', reason: 'ada left' };
    const { outbox, calls, enqueue, drain } = await outboxAt(place, {
      mayStillSend: async ({ principal }) => (principal === 'ada' ? revoked : yes),
    });
    await enqueue(mail);
    await drain();
    expect(calls).toEqual([]);
    expect(await outbox.intent(mail.key)).toMatchObject({
      ...{ ...mail, state: 'not_sent', reason: 'revoked: ada left', sends: 0 },
    });
    expect((await outbox.events(mail.key)).map(({ event }) => event)).toEqual([
      'queued',
      'not_sent',
    ]);
    expect(await enqueue(mail)).toBe(false);
    await drain();
    expect(calls).toEqual([]);
  });

  test('R-034 R-043 revoked after a send whose reply was lost: unknown, not resent', async () => {
    const { place } = await open();
    let may: MaySend = yes;
    const { outbox, calls, enqueue, drain } = await outboxAt(
      place,
      { mayStillSend: async () => may },
      async () => {
        may = { kind: 'revoked', reason: 'ada left' };
        return lost();
      },
    );
    await enqueue(pay);
    await drain();
    expect(calls).toHaveLength(1);
    expect(await outbox.intent(pay.key)).toMatchObject({
      ...{ state: 'unknown', reason: 'revoked: ada left', openSends: 1 },
    });
  });

  test('R-034 while nobody can say whether it may, nothing is sent; then it is', async () => {
    const { place } = await open();
    let asks = 0;
    const { calls, enqueue, drain, stateOf } = await outboxAt(place, {
      async mayStillSend() {
        asks += 1;
        if (asks < 4) throw new Error('the directory is down');
        expect(calls).toEqual([]);
        return yes;
      },
    });
    await enqueue(mail);
    await drain();
    expect(asks).toBe(4);
    expect(calls).toHaveLength(1);
    expect(await stateOf(mail.key)).toBe('executed');
  });

  test('R-034 a yes that has become old sends nothing, recorded or not', async () => {
    const { place } = await open();
    let slow: 'asking' | 'sending' | 'no' = 'asking';
    const { time, calls, enqueue, outbox } = await outboxAt(place, {
      receivers: {
        mail: {
          async send(sending) {
            if (slow === 'sending') time.now += 6_000;
            slow = 'no';
            sending.beforeSend();
            calls.push(sending);
            return done();
          },
        },
      },
      async mayStillSend() {
        if (slow === 'asking') time.now += 6_000;
        return yes;
      },
    });
    await enqueue(mail);
    expect(await outbox.sendNext()).toMatchObject({
      state: 'queued',
      held: expect.stringContaining('too late'),
    });
    slow = 'sending';
    time.now += 10_000;
    expect(await outbox.sendNext()).toMatchObject({ state: 'queued' });
    time.now += 10_000;
    expect(calls).toEqual([]);
    expect(await outbox.intent(mail.key)).toMatchObject({ sends: 0, openSends: 0 });
    expect(await outbox.sendNext()).toMatchObject({ state: 'executed' });
    expect(calls).toHaveLength(1);
  });
}
