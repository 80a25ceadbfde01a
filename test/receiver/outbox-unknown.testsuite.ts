// Rules of the outbox for what nobody knows the end of, over either store.
// Catches: a second send to a service that would do it twice, and an answer that nobody gave.

import { expect, test } from 'vitest';
import type { MaySend, Sending, SendOutcome } from '../../receiver/index.ts';
import { type Answer, done, HOUR_MS, lost, mail, outboxAt, pay } from './outbox-stage.ts';
import type { Open, Place } from './stage.ts';

export function outboxUnknownRules(open: Open): void {
  unknownRules(open);
  personRules(open);
}

function unknownRules(open: Open): void {
  test('R-033 a lost reply of a service that knows the key: the same bytes again', async () => {
    const { place } = await open();
    const { calls, enqueue, drain, outbox } = await outboxAt(place, {}, lost, lost, done);
    await enqueue(pay);
    await drain();
    const sent = ({ key, payload, firstSentAt }: Sending) => ({ key, payload, firstSentAt });
    expect(calls.map(({ send }) => send)).toEqual([1, 2, 3]);
    expect(new Set(calls.map((call) => JSON.stringify(sent(call)))).size).toBe(1);
    expect(await outbox.intent(pay.key)).toMatchObject({ state: 'executed', externalId: 'x-1' });
  });

  test('R-033 R-029 a lost reply of a service without keys: unknown, and not again', async () => {
    const { place } = await open();
    const { calls, enqueue, drain, outbox, time } = await outboxAt(place, {}, lost);
    await enqueue(mail);
    await drain();
    time.now += 30 * 24 * HOUR_MS;
    await drain();
    expect(calls).toHaveLength(1);
    expect(await outbox.intents('unknown')).toMatchObject([
      { ...mail, reason: 'socket hang up; not keyed: no scope', openSends: 1 },
    ]);
  });

  test('R-027 past the retention it is not sent again, nor with a clock set back', async () => {
    // The pause is an hour, so that it is due again only where that has passed.
    for (const [pauseMs, later] of [
      [HOUR_MS, 24 * HOUR_MS],
      [-2 * HOUR_MS, -HOUR_MS],
    ] as const) {
      const { place } = await open();
      const { calls, enqueue, drain, outbox, time } = await outboxAt(place, { pauseMs }, lost);
      await enqueue(pay);
      expect(await outbox.sendNext()).toMatchObject({ state: 'sending' });
      time.now += later;
      await drain();
      expect(calls).toHaveLength(1);
      expect(await outbox.intent(pay.key)).toMatchObject({
        ...{ state: 'unknown', reason: 'the service may have forgotten the key' },
      });
    }
  });

  test('R-101 a send without end keeps no other back, and its late receipt counts', async () => {
    const { place } = await open();
    const ends: ((outcome: SendOutcome) => void)[] = [];
    const endless: Answer = () => new Promise((resolve) => ends.push(resolve));
    // Long enough for what lies between ask and send: on a crowded machine some of it is late else.
    const times = { windowMs: 2_000, leaseMs: 2_000 };
    const { calls, enqueue, drain, outbox, stateOf } = await outboxAt(place, times, endless, done);
    await enqueue(mail);
    await enqueue(pay);
    await drain();
    expect([await stateOf(mail.key), await stateOf(pay.key)]).toEqual(['unknown', 'executed']);
    expect(calls.map(({ key }) => key)).toEqual([mail.key, pay.key]);
    for (const end of ends) end({ kind: 'executed', externalId: 'late-1' });
    await expect.poll(() => stateOf(mail.key), { timeout: 60_000 }).toBe('executed');
    expect(await outbox.intent(mail.key)).toMatchObject({ externalId: 'late-1' });
  });

  test('R-034 who may still send and is never told sends nothing, and is asked again', async () => {
    const { place } = await open();
    const never: Promise<MaySend> = new Promise(() => {});
    const mayStillSend = () => never;
    const { calls, enqueue, outbox } = await outboxAt(place, { mayStillSend, windowMs: 20 });
    await enqueue(mail);
    expect(await outbox.sendNext()).toEqual({
      ...{ key: mail.key, state: 'queued', held: 'mayStillSend: no end within 20 ms' },
    });
    expect(calls).toEqual([]);
  });

  test('D6 that a later send is refused proves nothing of the first', async () => {
    const { place } = await open();
    const refuse: Answer = async () => ({ kind: 'not_executed', reason: 'no funds' });
    const { calls, enqueue, drain, outbox } = await outboxAt(place, { sendsMax: 3 }, lost, refuse);
    await enqueue(pay);
    await drain();
    expect(calls).toHaveLength(3);
    expect(await outbox.intent(pay.key)).toMatchObject({ state: 'unknown', openSends: 1 });
  });

  test('R-101 the late receipt of a sender that was thought lost counts', async () => {
    const { place } = await open();
    const other = await outboxAt(place);
    const late: { end?: (outcome: SendOutcome) => void } = {};
    const waiting = new Promise<SendOutcome>((resolve) => {
      late.end = resolve;
    });
    const one = await outboxAt(place, {}, () => waiting);
    await one.enqueue(mail);
    const sending = one.outbox.sendNext();
    await expect.poll(() => one.calls.length, { timeout: 60_000 }).toBe(1);
    other.time.now += HOUR_MS;
    expect(await other.outbox.sendNext()).toMatchObject({ state: 'unknown' });
    expect(other.calls).toEqual([]);
    late.end?.({ kind: 'executed', externalId: 'late-1' });
    expect(await sending).toMatchObject({ state: 'executed' });
    expect(await other.outbox.intent(mail.key)).toMatchObject({ externalId: 'late-1' });
  });
}

function personRules(open: Open): void {
  const word = { actor: 'eve', reason: 'looked at the mail box' };

  async function unknown(place: Place, ...answers: Answer[]) {
    const box = await outboxAt(place, {}, lost, ...answers);
    await box.enqueue(mail);
    await box.drain();
    const version = (await box.outbox.intent(mail.key))?.version ?? 0;
    return { ...box, version };
  }

  test('D7 R-033 only a person has an unknown sent again, by its own key', async () => {
    const { place } = await open();
    const { outbox, version, calls, drain } = await unknown(place, done);
    const decision = { ...word, outcome: 'send_again' as const, version };
    for (const [wrong, why] of [
      [{ version: version - 1 }, /look again/],
      [{ actor: '' }, /names who/],
      [{ reason: '' }, /names who/],
    ] as const)
      expect(await outbox.resolve(mail.key, { ...decision, ...wrong })).toMatchObject({
        ...{ kind: 'refused', why: expect.stringMatching(why) },
      });
    expect(await outbox.resolve('other', decision)).toMatchObject({ why: 'no such intent' });
    await drain();
    expect(calls).toHaveLength(1);
    expect(await outbox.resolve(mail.key, decision)).toMatchObject({ kind: 'resolved' });
    await drain();
    expect(calls).toMatchObject([mail, mail]);
    expect(await outbox.resolve(mail.key, decision)).toMatchObject({ kind: 'refused' });
    expect(await outbox.intent(mail.key)).toMatchObject({ state: 'executed' });
  });

  test('R-034 D7 sent again by a person it still has to be allowed', async () => {
    const { place } = await open();
    const { outbox, version, calls } = await unknown(place);
    await outbox.resolve(mail.key, { ...word, outcome: 'send_again', version });
    const revoked: MaySend = { kind: 'revoked', reason: 'ada left' };
    const later = await outboxAt(place, { mayStillSend: async () => revoked });
    later.time.now += HOUR_MS;
    await later.drain();
    expect([...calls, ...later.calls]).toHaveLength(1);
    expect(await outbox.intent(mail.key)).toMatchObject({ state: 'unknown' });
  });

  test('D9 a receipt after "not executed" is a dispute, which a person ends', async () => {
    const { place } = await open();
    const late: { end?: (outcome: SendOutcome) => void } = {};
    const one = await outboxAt(
      place,
      {},
      () =>
        new Promise<SendOutcome>((resolve) => {
          late.end = resolve;
        }),
    );
    await one.enqueue(mail);
    const sending = one.outbox.sendNext();
    await expect.poll(() => one.calls.length, { timeout: 60_000 }).toBe(1);
    const other = await outboxAt(place);
    other.time.now += HOUR_MS;
    await other.outbox.sendNext();
    const at = async () => (await other.outbox.intent(mail.key))?.version ?? 0;
    const no = { ...word, outcome: 'not_executed' as const };
    await other.outbox.resolve(mail.key, { ...no, version: await at() });
    late.end?.({ kind: 'executed', externalId: 'late-1' });
    expect(await sending).toMatchObject({ state: 'disputed' });
    expect((await other.outbox.events(mail.key)).map(({ event }) => event)).toEqual([
      ...['queued', 'sending', 'unknown', 'not_executed', 'late: executed', 'disputed'],
    ]);
    const version = await at();
    const again = { ...word, outcome: 'send_again' as const, version };
    expect(await other.outbox.resolve(mail.key, again)).toMatchObject({ kind: 'refused' });
    const yesterday = { ...word, outcome: 'executed' as const, version };
    expect(await other.outbox.resolve(mail.key, yesterday)).toMatchObject({ kind: 'resolved' });
    expect(await other.stateOf(mail.key)).toBe('executed');
  });
}
