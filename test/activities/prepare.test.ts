// Would catch: an effect of which the ledger does not know by what to recognise it.

import { expect, test } from 'vitest';
import type { Attempt } from '../../activities/tool.ts';
import { type Ledger, LedgerError } from '../../ledger/port.ts';
import { activityRig, failureOfRun, portOf, type Rig, RUN } from '../support/activity-rig.ts';

const marks = { draft: 'a.draft', inode: '7' };

/** An effect is what comes after `beforeSend`. */
function preparing(rig: Rig, calls: (attempt: Attempt) => Promise<void>): string[] {
  const effects: string[] = [];
  rig.receiver.execute = async (_input, attempt) => {
    await calls(attempt);
    attempt.beforeSend();
    effects.push(attempt.attemptId);
    return { kind: 'executed', result: null };
  };
  return effects;
}

const attemptOf = async (rig: Rig) =>
  (await rig.ledger.read(RUN)).actions.get(`${RUN}.t1.c1`)?.attempts[0];

test('C12 the marks are in the ledger before the effect', async () => {
  const rig = await activityRig();
  const seen: unknown[] = [];
  const effects = preparing(rig, async (attempt) => {
    await attempt.prepare(marks);
    seen.push((await attemptOf(rig))?.prepared);
  });
  await rig.perform(rig.call(await rig.open()));
  expect(seen).toEqual([marks]);
  expect(effects).toHaveLength(1);
});

/** Its writes of marks fail: so often, before or after they were kept. */
function failing(ledger: Ledger, { times, kept }: { times: number; kept: boolean }): Ledger {
  let left = times;
  return {
    ...portOf(ledger),
    async transact(look, decide) {
      if (look.pin === undefined || look.intentDigest !== undefined || left === 0)
        return ledger.transact(look, decide);
      left--;
      if (kept) await ledger.transact(look, decide);
      throw new LedgerError('unavailable', 'the disk is gone', { nothingWritten: !kept });
    },
  };
}

test('C12 the reply to the marks is lost once: they are there, and it goes on', async () => {
  const rig = await activityRig({
    decorateLedger: (ledger) => failing(ledger, { times: 1, kept: true }),
  });
  const effects = preparing(rig, (attempt) => attempt.prepare(marks));
  expect(await rig.perform(rig.call(await rig.open()))).toMatchObject({ settled: 'executed' });
  expect(effects).toHaveLength(1);
  expect((await attemptOf(rig))?.prepared).toEqual(marks);
});

test('C12 marks that cannot be kept: nothing is sent, and that is known', async () => {
  const rig = await activityRig({
    decorateLedger: (ledger) => failing(ledger, { times: 1, kept: false }),
  });
  const effects = preparing(rig, (attempt) => attempt.prepare(marks));
  expect(await rig.perform(rig.call(await rig.open()))).toMatchObject({
    ...{ settled: 'not_sent', detail: expect.stringContaining('not prepared') },
  });
  expect(effects).toEqual([]);
});

test.each([
  ['too many', Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`m${n}`, '']))],
  ['too long', { draft: 'x'.repeat(4_097) }],
  ['no text', { inode: 7 } as never],
])('marks that are %s: nothing is sent, and the words say so', async (_what, wrong) => {
  const rig = await activityRig();
  const effects = preparing(rig, (attempt) => attempt.prepare(wrong));
  expect(await rig.perform(rig.call(await rig.open()))).toMatchObject({ settled: 'not_sent' });
  expect(effects).toEqual([]);
  expect((await attemptOf(rig))?.prepared).toBeNull();
});

test('after the first byte it is too late to prepare: nobody knows what happened', async () => {
  const rig = await activityRig();
  preparing(rig, async (attempt) => {
    attempt.beforeSend();
    await attempt.prepare(marks);
  });
  const failure = await failureOfRun(rig.perform(rig.call(await rig.open())));
  expect(failure.message).toContain('prepare comes before beforeSend');
  expect((await attemptOf(rig))?.prepared).toBeNull();
});

test('R-035 C11 the question brings the attempts and their marks; so does the fence', async () => {
  const rig = await activityRig();
  rig.receiver.execute = async (_input, attempt) => {
    await attempt.prepare(marks);
    attempt.beforeSend();
    throw new Error('the line broke');
  };
  const call = rig.call(await rig.open());
  await failureOfRun(rig.perform(call));
  let open: unknown;
  rig.receiver.inquire = async (inquiry) => {
    open = inquiry.open;
    return { verdict: 'not_executed', proof: 'closed_token', detail: 'the draft is withdrawn' };
  };
  const { actionId } = call;
  const asking = { runId: RUN, pin: null, actionId, mode: 'ask', wantsValue: true } as const;
  await rig.activities().inquire({ ...asking, attemptIds: [] });
  const { attemptId } = call;
  const sendToken = { epoch: 1, number: 1 };
  expect(open).toMatchObject([{ attemptId, number: 1, sendToken, prepared: marks }]);
  const [said] = (await rig.ledger.read(RUN)).actions.get(actionId)?.observations ?? [];
  expect(said?.detail).toBe(
    'the receiver says not_executed (closed_token): the draft is withdrawn',
  );
});
