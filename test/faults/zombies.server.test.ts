// Would catch: a worker process that was frozen and acts on what it knew before, as if no time had
// passed; and a run that takes its silence for a proof that nothing happened.
//
// One process is frozen with attempts at every point of their way, and woken. It is frozen for less
// than its lease first, then for longer. What receivers have in their own logs is counted.

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

const OTHERS = ['runs', 'actions', 'inquiries'] as const;
const actionOf = (runId: string) => `${runId}.t1.c1`;
const completed = { end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 };

let stage: ZombieStage;
/** The process that is frozen. It has slots for the larger of both scenes, and is all that acts. */
let zombie: Child;
beforeAll(async () => {
  stage = await openZombieStage();
  const env = { HOLDFAST_SEND_WINDOW_MS: '2500' };
  [, zombie] = await Promise.all([
    stage.worker(OTHERS),
    stage.worker(['tools'], { slots: 7, env }),
  ]);
});
afterAll(() => stage.close());

describe('frozen for longer than its windows, and shorter than its lease', () => {
  /** Longer than the barrier's age (2 s) and the send window of this process. */
  const FROZEN_MS = 2_600;

  beforeAll(async () => {
    const setBack = { clock: { setBackMs: 30_000 } };
    const stands = [
      { point: 'before_gate', about: actionOf('zombie-aged') },
      { point: 'before_gate', about: actionOf('zombie-set-back'), ...setBack },
      { point: 'after_gate', about: actionOf('zombie-entered') },
      { point: 'before_send', about: actionOf('zombie-called') },
      { point: 'before_barrier', about: actionOf('zombie-revoked') },
    ] as const;
    const goOns = stands.map((stand) => stage.arm(stand));
    await stage.gateway.arm({ fault: 'hold', bodyIncludes: ' zombie-in-call ' });
    for (const runId of [
      'zombie-aged',
      'zombie-set-back',
      'zombie-entered',
      'zombie-called',
      'zombie-revoked',
      'zombie-in-call',
    ])
      await stage.start(runId, [noticeOf(runId, 'patient_notice')]);
    for (const { point, about } of stands)
      await zombie.line(`REACHED ${point} ${about}`, WITHIN_MS);
    await untilHeld(stage.gateway, 'zombie-in-call');
    zombie.freeze();
    const since = Date.now();
    await stage.client.revoke('zombie-revoked', { id: 'r1', actor: 'ann', reason: 'withdrawn' });
    await stage.gateway.release();
    for (const goOn of goOns) goOn();
    await until('its windows have passed', WITHIN_MS, async () => Date.now() - since > FROZEN_MS);
    zombie.thaw();
  });

  test.each([
    ['zombie-aged', 'by both clocks'],
    ['zombie-set-back', 'K-062 and its wall clock was set back by 30 s meanwhile'],
  ])('frozen between barrier and gate, %s (%s): refused there, and asked anew', async (runId) => {
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const [refused] = await stage.bodies(runId, 'attempt_refused');
    expect(refused).toMatchObject({
      verdict: 'authority_unavailable',
      detail: expect.stringMatching(/^the barrier was \d{4,}/),
    });
    const entered = await stage.bodies(runId, 'attempt_entered');
    expect(entered.map(({ attemptId }) => attemptId)).not.toContain(refused?.attemptId);
    expect(await stage.sent(runId)).toBe(1);
  });

  test.each([
    ['zombie-entered', 'right after the gate'],
    ['zombie-called', 'in the tool'],
  ])('frozen before the send window is checked, %s (%s): not sent', async (runId) => {
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const settled = await stage.bodies(runId, 'attempt_settled');
    const outcomes = settled.map(({ outcome }) => outcome);
    expect([outcomes[0], outcomes.at(-1)]).toEqual(['not_sent', 'executed']);
    expect(await stage.sent(runId)).toBe(1);
  });

  test('frozen before the barrier and revoked meanwhile: it never enters', async () => {
    const runId = 'zombie-revoked';
    const stopped = { kind: 'stopped', reason: 'revoked' };
    expect(await stage.client.result(runId)).toMatchObject({ end: stopped, effectsCount: 0 });
    expect(await stage.bodies(runId, 'attempt_entered')).toEqual([]);
    expect(await stage.sent(runId)).toBe(0);
  });

  test('frozen in the call and woken within its lease: nothing is asked', async () => {
    const runId = 'zombie-in-call';
    expect(await stage.client.result(runId)).toMatchObject(completed);
    expect(await stage.bodies(runId, 'action_in_doubt')).toEqual([]);
    expect(await stage.sent(runId)).toBe(1);
  });
});

describe('frozen for longer than its lease, while another worker goes on', () => {
  const RUNS = [
    'zombie-unsent',
    'zombie-closed',
    'zombie-same-key',
    'zombie-stored',
    'zombie-dumb',
    'zombie-brief',
    'zombie-untold',
  ] as const;

  beforeAll(async () => {
    const goOns = [
      stage.arm({ point: 'before_barrier', about: actionOf('zombie-unsent') }),
      stage.arm({ point: 'after_result', about: actionOf('zombie-stored') }),
    ];
    // Never let go.
    stage.arm({ point: 'before_late_signal', about: actionOf('zombie-untold') });
    const { receiver, gateway } = stage;
    for (const runId of ['zombie-closed', 'zombie-same-key', 'zombie-untold']) {
      const times = runId === 'zombie-closed' ? 2 : 1;
      await receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.`, times });
    }
    for (const runId of ['zombie-dumb', 'zombie-brief'])
      await gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
    const silent = { fault: 'unavailable', keyIncludes: '/zombie-untold.', times: 10_000 } as const;
    await receiver.arm(silent);
    const counted = { tool: 'add', input: { counter: 'visits', delta: 1 } };
    const steps = {
      'zombie-unsent': counted,
      'zombie-closed': counted,
      'zombie-same-key': { tool: 'credit', input: { account: 'u7', amount: 10 } },
      'zombie-stored': noticeOf('zombie-stored'),
      'zombie-dumb': noticeOf('zombie-dumb'),
      'zombie-brief': noticeOf('zombie-brief', 'brief_notice'),
      'zombie-untold': { tool: 'record', input: { name: 'zombie-untold' } },
    };
    for (const runId of RUNS) await stage.start(runId, [steps[runId]]);
    await zombie.line(`REACHED before_barrier ${actionOf('zombie-unsent')}`, WITHIN_MS);
    await zombie.line(`REACHED after_result ${actionOf('zombie-stored')}`, WITHIN_MS);
    for (const runId of ['zombie-closed', 'zombie-same-key', 'zombie-untold'])
      await untilHeld(receiver, runId);
    for (const runId of ['zombie-dumb', 'zombie-brief']) await untilHeld(gateway, runId);
    zombie.freeze();
    await stage.worker(['tools']);
    // What becomes of each while it is frozen.
    for (const runId of ['zombie-unsent', 'zombie-same-key', 'zombie-stored'])
      await stage.client.result(runId);
    await untilHeld(receiver, 'zombie-closed', 2);
    for (const runId of ['zombie-dumb', 'zombie-brief', 'zombie-untold'])
      await asked(stage.client, actionOf(runId));
    // Only now do the old requests come to their receivers, and the answers to a frozen process.
    await receiver.release();
    await gateway.release();
    for (const goOn of goOns) goOn();
    zombie.thaw();
    await zombie.line(`PASSED before_barrier ${actionOf('zombie-unsent')}`, WITHIN_MS);
    await zombie.line(`PASSED after_result ${actionOf('zombie-stored')}`, WITHIN_MS);
  });

  const attemptsOf = async (runId: string) =>
    (await stage.ledger.read(runId)).actions.get(actionOf(runId))?.attempts ?? [];

  test('R-101 frozen before the barrier: closed meanwhile, and refused when it wakes', async () => {
    const runId = 'zombie-unsent';
    const [closed] = await stage.bodies(runId, 'attempt_refused');
    expect(closed).toMatchObject({ verdict: 'closed_by_inquiry' });
    const attempts = await attemptsOf(runId);
    expect(attempts.map(({ attemptId }) => attemptId)).not.toContain(closed?.attemptId);
    expect(await stage.requests(runId)).toMatchObject([{ answer: 'executed' }]);
  });

  test('R-101 K-061 in the call to a receiver that closes: the late one is refused', async () => {
    const runId = 'zombie-closed';
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const requests = await stage.requests(runId);
    expect(requests.map(({ answer, sendToken }) => [sendToken?.number, answer])).toEqual([
      [1, 'closed'],
      [2, 'executed'],
    ]);
    const effects = await stage.receiver.effects();
    expect(effects.filter(({ key }) => key.includes(`/${runId}.`))).toHaveLength(1);
  });

  test('R-101 K-061 to a dumb receiver: unknown while it is silent, then a late fact', async () => {
    const runId = 'zombie-dumb';
    expect(await stage.client.result(runId)).toMatchObject(completed);
    expect(await stage.bodies(runId, 'action_in_doubt')).toHaveLength(1);
    const settled = (await stage.facts(runId)).filter(
      ({ body }) => body.kind === 'attempt_settled',
    );
    expect(settled).toMatchObject([{ source: 'late_result', body: { outcome: 'executed' } }]);
    expect(await stage.bodies(runId, 'resolution')).toEqual([]);
    expect([(await attemptsOf(runId)).length, await stage.sent(runId)]).toEqual([1, 1]);
  });

  test('past start-to-close the result is stored all the same, and ends the question', async () => {
    const runId = 'zombie-brief';
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const [doubt] = await stage.bodies(runId, 'action_in_doubt');
    expect(doubt?.why).toContain('START_TO_CLOSE');
    const settled = (await stage.facts(runId)).filter(
      ({ body }) => body.kind === 'attempt_settled',
    );
    expect(settled.map(({ source }) => source)).toEqual(['late_result']);
    expect(await stage.sent(runId)).toBe(1);
  });

  test('K-059 K-068 attempt 1 comes back after attempt 2: late, changes nothing', async () => {
    const runId = 'zombie-same-key';
    const late = await until('its late settlement', WITHIN_MS, async () => {
      const [first] = await attemptsOf(runId);
      return first?.settled ?? null;
    });
    const action = (await stage.ledger.read(runId)).actions.get(actionOf(runId));
    const [first, second] = action?.attempts ?? [];
    expect(late.outcome).toBe('executed');
    expect(late.resultId).not.toBe(second?.settled?.resultId);
    expect(late.attemptId).toBe(first?.attemptId);
    const facts = (await stage.facts(runId)).filter(({ body }) => body.kind === 'attempt_settled');
    expect(facts.map(({ source }) => source)).toEqual(['execution', 'late_result']);
    expect(action).toMatchObject({ disputed: false });
    expect(await stage.bodies(runId, 'run_ended')).toHaveLength(1);
    const { accounts } = (await stage.receiver.objects('credit')) as { accounts: object[] };
    expect(accounts).toMatchObject([{ name: 'u7', value: 110 }]);
  });

  test('K-064 the timeout and a heartbeat come after the result: it stays completed', async () => {
    const runId = 'zombie-stored';
    const { events } = await stage.temporal.workflow.getHandle(runId).fetchHistory();
    expect(
      (events ?? []).filter((event) => event.activityTaskTimedOutEventAttributes),
    ).toHaveLength(1);
    expect(await stage.client.result(runId)).toMatchObject(completed);
    expect(await stage.bodies(runId, 'action_in_doubt')).toEqual([]);
    const { recorded } = await stage.client.state(runId);
    expect(recorded?.actions).toMatchObject([{ word: 'finished' }]);
    expect(await stage.sent(runId)).toBe(1);
  });

  test('killed between late fact and signal: the question reads the ledger again', async () => {
    const runId = 'zombie-untold';
    await zombie.line(`REACHED before_late_signal ${actionOf(runId)}`, WITHIN_MS);
    await zombie.kill();
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const child = stage.temporal.workflow.getHandle(`unknown.${actionOf(runId)}`);
    const { events } = await child.fetchHistory();
    const signals = (events ?? []).filter(
      (event) => event.workflowExecutionSignaledEventAttributes,
    );
    expect(signals).toEqual([]);
    expect(await child.result()).toMatchObject({ end: 'settled', outcome: 'executed' });
    expect(await stage.requests(runId)).toHaveLength(1);
  });
});
