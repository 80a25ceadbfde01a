// Would catch: a worker that was frozen while somebody else took over its run, and then opens, ends
// or acts for a run that is no longer its own; and a takeover that takes the silence of the old
// worker for a proof that nothing is on its way.
//
// Where only the epoch is to stand between the old worker and the run, its clocks stand still as
// those of a suspended machine do: the barrier's age then says nothing.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { asked, until } from '../support/fault-stage.ts';
import {
  noticeOf,
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

const counted = { tool: 'add', input: { counter: 'visits', delta: 1 } };
const actionOf = (runId: string) => `${runId}.t1.c1`;
const completed = { end: { kind: 'completed' }, unknownsCount: 0 };

let stage: ZombieStage;
/** Opens and ends runs; frozen first. */
let opener: Child;
/** Does what the tools do; frozen afterwards. */
let actor: Child;
beforeAll(async () => {
  stage = await openZombieStage();
  [, opener, actor] = await Promise.all([
    stage.worker(['runs', 'inquiries']),
    stage.worker(['actions'], { slots: 3 }),
    stage.worker(['tools'], { slots: 4 }),
  ]);
});
afterAll(() => stage.close());

/** As an operator does who gives up on a worker that says nothing any more. */
async function takeOver(runId: string): Promise<void> {
  await stage.temporal.workflow.getHandle(runId).terminate('its worker is silent');
  await stage.client.resume(runId, { actor: 'ann', reason: 'its worker is silent' });
}

const openedAt = (runId: string, epoch: number) =>
  until(`epoch ${epoch} of ${runId}`, WITHIN_MS, async () => {
    const opened = await stage.bodies(runId, 'run_opened');
    return opened.some((body) => body.epoch === epoch);
  });

const tokensOf = async (runId: string) =>
  (await stage.requests(runId)).map(({ sendToken, answer }) => [
    `${sendToken?.epoch}.${sendToken?.number}`,
    answer,
  ]);

describe('what opens and ends runs, frozen across a takeover', () => {
  beforeAll(async () => {
    const { receiver } = stage;
    const stood = { clock: 'stood' } as const;
    await receiver.arm({ fault: 'hold', keyIncludes: '/taken-opening.' });
    await receiver.arm({ fault: 'hold', keyIncludes: '/taken-reopening.', times: 2 });
    await stage.start('taken-reopening', [counted]);
    await untilHeld(receiver, 'taken-reopening');
    const goOns = [
      stage.arm({ point: 'before_open', about: 'taken-reopening', ...stood }),
      stage.arm({ point: 'before_open', about: 'taken-opening', ...stood }),
      stage.arm({ point: 'before_end', about: 'taken-ending', ...stood }),
    ];
    // A first takeover, whose ticket the frozen process holds.
    await takeOver('taken-reopening');
    await stage.start('taken-opening', [counted]);
    await stage.start('taken-ending', [counted]);
    const points = [
      'before_open taken-reopening',
      'before_open taken-opening',
      'before_end taken-ending',
    ];
    for (const point of points) await opener.line(`REACHED ${point}`, WITHIN_MS);
    opener.freeze();
    const endNow = stage.arm({ point: 'before_end', about: 'taken-ending' });
    for (const runId of ['taken-reopening', 'taken-opening', 'taken-ending']) await takeOver(runId);
    const other = await stage.worker(['actions']);
    await openedAt('taken-reopening', 2);
    await openedAt('taken-opening', 1);
    await openedAt('taken-ending', 2);
    await untilHeld(receiver, 'taken-reopening', 2);
    await untilHeld(receiver, 'taken-opening');
    await other.line('REACHED before_end taken-ending', WITHIN_MS);
    for (const goOn of goOns) goOn();
    opener.thaw();
    for (const point of points) await opener.line(`PASSED ${point}`, WITHIN_MS);
    endNow();
    await receiver.release();
  });

  test.each([
    ['taken-opening', 1, 'with nothing written so far'],
    ['taken-reopening', 2, 'with the ticket of an earlier takeover'],
  ])('R-099 openRun, %s: it claims no epoch beyond %i (%s)', async (runId, epoch) => {
    expect(await stage.client.result(runId)).toMatchObject({ ...completed, effectsCount: 1 });
    const opened = await stage.bodies(runId, 'run_opened');
    expect(Math.max(...opened.map((body) => body.epoch))).toBe(epoch);
    const claims = opened.filter((body) => body.epoch === epoch).map(({ claim }) => claim);
    const current = await stage.temporal.workflow.getHandle(runId).describe();
    const executions = claims.map((claim) => claim.firstExecutionRunId);
    expect(new Set(executions)).toEqual(new Set([current.runId]));
  });

  test('R-099 what the first claim had sent is refused; the second has the effect', async () => {
    await stage.client.result('taken-reopening');
    expect(await tokensOf('taken-reopening')).toEqual([
      ['1.1', 'closed'],
      ['2.2', 'executed'],
    ]);
  });

  test('an endRun frozen across it ends nothing; the new claim ends the run', async () => {
    expect(await stage.client.result('taken-ending')).toMatchObject({
      ...completed,
      effectsCount: 1,
    });
    const ended = await stage.bodies('taken-ending', 'run_ended');
    expect(ended.map(({ epoch }) => epoch)).toEqual([2]);
    expect(await tokensOf('taken-ending')).toEqual([['1.1', 'executed']]);
  });
});

describe('attempts, frozen across a takeover', () => {
  beforeAll(async () => {
    const { receiver, gateway } = stage;
    const about = actionOf('taken-at-the-gate');
    const goOn = stage.arm({ point: 'before_gate', about, clock: 'stood' });
    for (const runId of ['taken-closed', 'taken-revoked'])
      await receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.`, times: 2 });
    await gateway.arm({ fault: 'hold', bodyIncludes: ' taken-dumb ' });
    await stage.start('taken-at-the-gate', [counted]);
    await stage.start('taken-closed', [counted]);
    await stage.start('taken-revoked', [counted, counted]);
    await stage.start('taken-dumb', [noticeOf('taken-dumb')]);
    await actor.line(`REACHED before_gate ${about}`, WITHIN_MS);
    for (const runId of ['taken-closed', 'taken-revoked']) await untilHeld(receiver, runId);
    await untilHeld(gateway, 'taken-dumb');
    actor.freeze();
    for (const runId of ['taken-at-the-gate', 'taken-closed', 'taken-revoked', 'taken-dumb'])
      await takeOver(runId);
    for (const runId of ['taken-at-the-gate', 'taken-closed', 'taken-revoked', 'taken-dumb'])
      await openedAt(runId, 2);
    await asked(stage.client, actionOf('taken-dumb'));
    goOn();
    actor.thaw();
    await actor.line(`PASSED before_gate ${about}`, WITHIN_MS);
    await stage.worker(['tools']);
    for (const runId of ['taken-closed', 'taken-revoked']) await untilHeld(receiver, runId, 2);
    await stage.client.revoke('taken-revoked', { id: 'r1', actor: 'ann', reason: 'withdrawn' });
    await receiver.release();
    await gateway.release();
  });

  test('an attempt of the old epoch comes to the gate late, and does not enter', async () => {
    const runId = 'taken-at-the-gate';
    expect(await stage.client.result(runId)).toMatchObject({ ...completed, effectsCount: 1 });
    const entered = await stage.bodies(runId, 'attempt_entered');
    expect(new Set(entered.map(({ sendToken }) => sendToken.epoch))).toEqual(new Set([2]));
    const tokens = await tokensOf(runId);
    expect(tokens).toEqual([[expect.stringMatching(/^2\./), 'executed']]);
  });

  test('R-101 K-061 in the call to a receiver that closes: its old token is refused', async () => {
    const runId = 'taken-closed';
    expect(await stage.client.result(runId)).toMatchObject({ ...completed, effectsCount: 1 });
    expect(await tokensOf(runId)).toEqual([
      ['1.1', 'closed'],
      ['2.2', 'executed'],
    ]);
  });

  test('R-101 K-061 in the call to a dumb receiver: unknown, then late under epoch 1', async () => {
    const runId = 'taken-dumb';
    expect(await stage.client.result(runId)).toMatchObject({ ...completed, effectsCount: 1 });
    const settled = (await stage.facts(runId)).filter(
      ({ body }) => body.kind === 'attempt_settled',
    );
    expect(settled).toMatchObject([{ source: 'late_result', body: { outcome: 'executed' } }]);
    const entered = await stage.bodies(runId, 'attempt_entered');
    expect(entered.map(({ sendToken }) => sendToken.epoch)).toEqual([1]);
    expect(await stage.sent(runId)).toBe(1);
  });

  test('R-095 revoked after the resume, before step 2: step 2 is not started', async () => {
    const runId = 'taken-revoked';
    const stopped = { kind: 'stopped', reason: 'revoked' };
    expect(await stage.client.result(runId)).toMatchObject({ end: stopped, effectsCount: 1 });
    expect(await tokensOf(runId)).toEqual([
      ['1.1', 'closed'],
      ['2.2', 'executed'],
    ]);
    const { recorded } = await stage.client.state(runId);
    expect(recorded?.actions.map(({ actionId }) => actionId)).toEqual([actionOf(runId)]);
  });
});
