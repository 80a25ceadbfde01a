// Would catch: cleaning up after a lost attempt by the action's name, so that a second pass strikes
// the attempt that has taken its place.

import { expect, test } from 'vitest';
import type { InquireCall } from '../../core/activity-calls.ts';
import { activityRig, RUN } from '../support/activity-rig.ts';

const ACTION = `${RUN}.t1.c1`;

test('K-067 the second clean-up of a lost attempt leaves its successor alone', async () => {
  const rig = await activityRig();
  const opened = await rig.open();
  const lost = rig.call(opened);
  const retry = rig.call(opened, { attemptId: `${ACTION}~fedcba9876543210` });
  const cleanUp = async () => {
    const about = { runId: RUN, pin: opened.pin, actionId: ACTION };
    const look: InquireCall = {
      ...{ ...about, mode: 'look', attemptIds: [lost.attemptId], wantsValue: false },
    };
    await rig.activities().inquire(look);
    const doubt = { ...about, attemptId: lost.attemptId, why: 'silent', externalId: null };
    return rig.activities().recordFacts({ kind: 'doubt', ...doubt });
  };
  expect(await cleanUp()).toMatchObject({ state: 'closed' });

  let answer: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    rig.receiver.execute = () => {
      resolve();
      return new Promise((done) => {
        answer = () => done({ kind: 'executed', result: { ok: true }, externalId: 'ext-1' });
      });
    };
  });
  const running = rig.perform(retry);
  await arrived;
  const before = await rig.ledger.read(RUN);
  expect(await cleanUp()).toMatchObject({ state: 'closed', question: null });
  expect((await rig.ledger.read(RUN)).head).toEqual(before.head);
  answer();
  expect(await running).toMatchObject({ verdict: 'entered', settled: 'executed' });
  const [attempt, ...others] = (await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts ?? [];
  expect(attempt).toMatchObject({ attemptId: retry.attemptId, doubted: false });
  expect(others).toEqual([]);
});
