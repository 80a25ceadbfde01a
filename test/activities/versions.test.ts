// Catches an attempt that enters on something else than its action was first decided on: another
// object, another dependency, another account or scope of the credential, another policy.

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { NotAllowedError, type VersionsFor } from '../../activities/index.ts';
import type { PerformCall } from '../../core/activity-calls.ts';
import type { Versions } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import { activityRig, failureOfRun, RUN } from '../support/activity-rig.ts';
import { decideOn, redeclare, say } from '../support/rig-people.ts';

const ACTION = `${RUN}.t1.c1`;
const first: Versions = { object: 'v1', dependencies: 'd1', credentials: 'ada@bank/charge' };

async function versionsRig(over: Parameters<typeof redeclare>[1] = {}) {
  const rig = await activityRig();
  const now = { versions: async (_of: VersionsFor): Promise<Versions> => first };
  let sent = 0;
  redeclare(rig, { versions: (_input, of) => now.versions(of), ...over });
  rig.receiver.execute = async () => {
    sent++;
    return { kind: 'not_taken', code: '429', message: 'later' };
  };
  const opened = await rig.open();
  const attempt = (more: Partial<PerformCall> = {}) => rig.perform(rig.call(opened, more));
  return { rig, now, attempt, sent: () => sent };
}

describe('what an attempt depends on', () => {
  test.each<[string, keyof Versions]>([
    ['the object', 'object'],
    ['a dependency', 'dependencies'],
    ['the credential', 'credentials'],
  ])('R-111 %s has changed since the action was decided: not sent', async (_name, which) => {
    const { rig, now, attempt, sent } = await versionsRig();
    expect(await attempt()).toMatchObject({ verdict: 'entered', settled: 'not_taken' });
    now.versions = async () => ({ ...first, [which]: 'another' });
    expect((await attempt()).verdict).toBe(`${which}_changed`);
    expect(sent()).toBe(1);
    const { attempts } = (await rig.ledger.read(RUN)).actions.get(ACTION) ?? {};
    expect(attempts?.map(({ entry }) => entry.versions)).toEqual([first]);
    // As it was: the same action may go on.
    now.versions = async () => first;
    expect((await attempt()).verdict).toBe('entered');
  });

  test('R-111 what was the case when a person was asked still has to be', async () => {
    const { rig, now, attempt, sent } = await versionsRig({ approval: 'always' });
    const { asks } = await attempt();
    expect(asks?.versions).toEqual(first);
    await decideOn(rig, 'approve', asks);
    now.versions = async () => ({ ...first, object: 'v2' });
    expect((await attempt()).verdict).toBe('object_changed');
    expect(sent()).toBe(0);
  });

  test('R-111 another replay policy under the same binding: not sent', async () => {
    const { rig, attempt, sent } = await versionsRig();
    redeclare(rig, { replay: 'safe', versions: async () => first });
    const refused = await attempt();
    expect(refused).toMatchObject({ verdict: 'policy_changed', settled: null });
    expect(refused.detail).toMatch(/decided on as never; here it is safe/);
    expect(sent()).toBe(0);
  });

  test('they are asked for the principal of the run, before each attempt', async () => {
    const { now, attempt } = await versionsRig();
    const asked: VersionsFor[] = [];
    now.versions = async (of) => {
      asked.push(of);
      return first;
    };
    await attempt();
    await attempt();
    const of = { runId: RUN, actionId: ACTION, principal: { user: 'ada', workspace: 'w1' } };
    expect(asked).toEqual([of, of]);
  });

  test('R-115 nothing is looked up any more for a run that was revoked', async () => {
    const { rig, now, attempt } = await versionsRig();
    let asked = 0;
    now.versions = async () => {
      asked++;
      return first;
    };
    await say(rig, 'revoke', {});
    expect((await attempt()).verdict).toBe('revoked');
    expect(asked).toBe(0);
  });
});

describe('who acts', () => {
  /** A platform that says what it lets a user do, and the tool that asks it before each attempt. */
  const provider = (rights: { ada: boolean }) => async () => {
    if (!rights.ada) throw new NotAllowedError('ada may not charge cards any more');
    return { credentials: 'ada/charge' };
  };

  test('R-113 provider mode: an authorization that was withdrawn closes the attempt', async () => {
    const rights = { ada: true };
    const { now, attempt, sent } = await versionsRig();
    now.versions = provider(rights);
    expect((await attempt()).verdict).toBe('entered');
    rights.ada = false;
    const refused = await attempt();
    expect(refused).toMatchObject({
      verdict: 'not_granted',
      detail: 'ada may not charge cards any more',
    });
    expect(sent()).toBe(1);
  });

  test('R-113 provider mode: one that was never there closes the first attempt', async () => {
    const { now, attempt, sent } = await versionsRig();
    now.versions = provider({ ada: false });
    expect((await attempt()).verdict).toBe('not_granted');
    expect(sent()).toBe(0);
  });

  test('R-113 connector mode: the user bound to another account does not act there', async () => {
    const bound = { account: 'acct-1' };
    const { now, attempt, sent } = await versionsRig();
    now.versions = async () => ({ credentials: `${bound.account}/charge` });
    expect((await attempt()).verdict).toBe('entered');
    bound.account = 'acct-2';
    const refused = await attempt();
    expect(refused.verdict).toBe('credentials_changed');
    expect(refused.detail).toMatch(/acct-1\/charge.*acct-2\/charge/);
    expect(sent()).toBe(1);
  });

  test.each([
    ['the same identity and scope', { subject: 'ada', scope: 'charge' }, 'entered', 2],
    ['another identity', { subject: 'eve', scope: 'charge' }, 'credentials_changed', 1],
    ['a wider scope', { subject: 'ada', scope: 'charge refund' }, 'credentials_changed', 1],
    ['a narrower scope', { subject: 'ada', scope: 'read' }, 'credentials_changed', 1],
  ] as const)(
    'R-114 a credential refreshed with %s: %s',
    async (_name, renewed, verdict, times) => {
      const vault = { current: { subject: 'ada', scope: 'charge', secret: 's1' } };
      const { now, attempt, sent } = await versionsRig();
      now.versions = async () => {
        const { subject, scope } = vault.current;
        return { credentials: `${subject}/${scope}` };
      };
      await attempt();
      vault.current = { ...renewed, secret: 's2' };
      expect((await attempt()).verdict).toBe(verdict);
      expect(sent()).toBe(times);
    },
  );

  test('R-114 an expired credential is refused, and no broader key takes its place', async () => {
    const keys = { ada: null as string | null, platform: 'root', platformUses: 0 };
    const { now, attempt, sent } = await versionsRig({
      execute: async () => {
        keys.platformUses++;
        return { kind: 'executed', result: null };
      },
    });
    now.versions = async () => {
      if (keys.ada === null) throw new NotAllowedError('the credential of ada has expired');
      return { credentials: 'ada/charge' };
    };
    expect((await attempt()).verdict).toBe('not_granted');
    expect([sent(), keys.platformUses]).toEqual([0, 0]);
  });
});

describe('what cannot be looked up', () => {
  test.each<[string, () => Promise<Versions>, RegExp]>([
    ['fails', async () => Promise.reject(new Error('vault down')), /vault down/],
    ['is something else', async () => ({ object: 7 }) as never, /something else than versions/],
    ['is nothing', async () => undefined as never, /something else than versions/],
  ])('a look-up that %s: nothing enters, and it can be tried again', async (_n, broken, words) => {
    const { rig, now, attempt, sent } = await versionsRig();
    now.versions = broken;
    const failure = await failureOfRun(attempt());
    expect(failure).toMatchObject({ type: 'AttemptNotEntered', details: { phase: 'binding' } });
    expect(failure.message).toMatch(words);
    expect(sent()).toBe(0);
    expect((await rig.ledger.read(RUN)).actions.get(ACTION)).toBeUndefined();
    now.versions = async () => first;
    expect((await attempt()).verdict).toBe('entered');
  });

  test('a look-up without end is given up, and nothing enters', async () => {
    const { now, attempt, sent } = await versionsRig();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    let beganTo: () => void = () => undefined;
    const began = new Promise<void>((resolve) => {
      beganTo = resolve;
    });
    now.versions = () => {
      beganTo();
      return new Promise(() => undefined);
    };
    const failure = failureOfRun(attempt());
    await began;
    await vi.advanceTimersByTimeAsync(limits.versionsMs);
    expect(await failure).toMatchObject({
      type: 'AttemptNotEntered',
      message: expect.stringMatching(/no answer in 15000 ms/),
    });
    expect(sent()).toBe(0);
  });

  test('a refusal without words has some', async () => {
    const { now, attempt } = await versionsRig();
    now.versions = async () => Promise.reject(new NotAllowedError(''));
    expect(await attempt()).toMatchObject({
      verdict: 'not_granted',
      detail: 'its tool does not let it act',
    });
  });

  test('R-051 what is known of the action comes before what its tool says now', async () => {
    const { rig, now, attempt } = await versionsRig();
    rig.receiver.execute = async () => ({ kind: 'executed', result: null });
    await attempt();
    now.versions = async () => Promise.reject(new NotAllowedError('withdrawn'));
    expect(await attempt()).toMatchObject({
      verdict: 'already_final',
      outcome: { kind: 'executed' },
    });
  });
});
