// Would catch: a result that is given up while it could still be stored, or told of when nobody
// hears it any more.

import { expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { LedgerError } from '../../ledger/port.ts';
import { activityRig, failureOfRun, handClock, portOf, RUN } from '../support/activity-rig.ts';

const START_TO_CLOSE_MS = 60_000;
const ACTION = `${RUN}.t1.c1`;

/** The ledger takes no result until `mendsAtMs` after the gate; each try holds up so long. */
async function storing(brokenFor: { readonly callMs: number; readonly mendsAtMs: number }) {
  const clock = handClock();
  const began = clock.now().monotonicMs;
  const passed = () => clock.now().monotonicMs - began;
  const rig = await activityRig({
    deps: { clock },
    decorateLedger: (ledger) => ({
      ...portOf(ledger),
      transact: async (look, decide) => {
        const entered = (await ledger.read(look.runId)).actions.has(ACTION);
        if (!entered || passed() >= brokenFor.mendsAtMs) return ledger.transact(look, decide);
        clock.move(limits.ledgerBusyMs);
        throw new LedgerError('unavailable', 'held elsewhere', { nothingWritten: true });
      },
    }),
  });
  rig.receiver.execute = async () => {
    clock.move(brokenFor.callMs);
    return { kind: 'executed', result: null, externalId: 'ext-1' };
  };
  const call = rig.call(await rig.open());
  const running = rig.perform(call, { startToCloseTimeoutMs: START_TO_CLOSE_MS });
  const settled = async () =>
    (await rig.ledger.read(RUN)).actions.get(ACTION)?.attempts[0]?.settled?.outcome ?? null;
  return { running, passed, settled };
}

test('R-007 the run hears of a result that cannot be stored before start-to-close', async () => {
  const { running, passed, settled } = await storing({ callMs: 0, mendsAtMs: Infinity });
  expect(await failureOfRun(running)).toMatchObject({ type: 'ResultNotStored' });
  expect(passed()).toBeLessThanOrEqual(START_TO_CLOSE_MS - limits.resultMarginMs);
  expect(await settled()).toBeNull();
});

test('R-007 a call that took nearly all its time tells the run after one try', async () => {
  const callMs = START_TO_CLOSE_MS - limits.ledgerBusyMs - limits.resultMarginMs;
  const { running } = await storing({ callMs, mendsAtMs: Infinity });
  expect(await failureOfRun(running)).toMatchObject({
    type: 'ResultNotStored',
    details: { externalId: 'ext-1' },
  });
});

test.each([
  ['while its call', START_TO_CLOSE_MS],
  ['while it is tried', START_TO_CLOSE_MS - limits.ledgerBusyMs],
])('R-110 start-to-close that passes %s: the ledger gets it once it is back', async (_, callMs) => {
  const { running, settled } = await storing({ callMs, mendsAtMs: START_TO_CLOSE_MS + 60_000 });
  await expect(running).resolves.toMatchObject({ settled: 'executed' });
  expect(await settled()).toBe('executed');
});

test('a ledger that stays away past start-to-close is not tried for ever', async () => {
  const { running, passed } = await storing({ callMs: START_TO_CLOSE_MS, mendsAtMs: Infinity });
  expect(await failureOfRun(running)).toMatchObject({ type: 'ResultNotStored' });
  expect(passed()).toBeGreaterThan(START_TO_CLOSE_MS + limits.resultLateMs / 2);
});
