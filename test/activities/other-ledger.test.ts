// A worker that came back with another ledger than the run has seen.

import { expect, test } from 'vitest';
import type { LedgerPin, RecordCall } from '../../core/activity-calls.ts';
import { activityRig, failureOfRun, type Rig, RUN } from '../support/activity-rig.ts';

const ACTION = `${RUN}.t1.c1`;
const attemptId = `${ACTION}~1`;
const command = { id: 'c-1', actor: 'ada', reason: 'looked' };
const answer = {
  ...{ ...command, verb: 'abandon', actionId: ACTION, recordVersion: 1 },
} as const;

type Tells = (rig: Rig, at: { runId: string; pin: LedgerPin }) => Promise<unknown>;
const records =
  (call: Record<string, unknown>): Tells =>
  (rig, at) =>
    rig.activities().recordFacts({ ...at, ...call } as unknown as RecordCall);

const rows: [string, Tells][] = [
  ['a doubt', records({ kind: 'doubt', actionId: ACTION, attemptId, why: 'w', externalId: null })],
  ['an answer', records({ kind: 'resolve', command: answer })],
  ['a revoke', records({ kind: 'revoke', command, position: null })],
  ['a cancel', records({ kind: 'cancel', command, position: null })],
  ['a rejection', records({ kind: 'rejected', commandId: null, name: 'resolve', why: 'w' })],
  ...(['look', 'ask'] as const).map((mode): [string, Tells] => [
    `an inquiry (${mode})`,
    (rig, at) =>
      rig.activities().inquire({
        ...{ ...at, actionId: ACTION, mode, attemptIds: [attemptId], wantsValue: false },
      }),
  ]),
];

test.each(rows)(
  'R-006 %s writes nothing to another ledger, and proves nothing',
  async (_w, tell) => {
    const rig = await activityRig();
    const { pin } = await rig.open();
    const other = { ...pin, id: 'another ledger' };
    const failure = await failureOfRun(
      rig.deliver('a', () => tell(rig, { runId: RUN, pin: other })),
    );
    expect(failure).toMatchObject({ type: 'LedgerMismatch', nonRetryable: true });
    expect(failure.message).toContain('Put the right ledger back');
    expect((await rig.ledger.read(RUN)).head).toEqual(pin.head);
  },
);

test.each(rows)('%s is taken by the ledger that the run has seen', async (_what, tell) => {
  const rig = await activityRig();
  const { pin } = await rig.open();
  await expect(tell(rig, { runId: RUN, pin })).resolves.toMatchObject({ pin: { id: pin.id } });
});
