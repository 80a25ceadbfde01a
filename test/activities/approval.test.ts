// Catches an approval that does not bind what is sent: other bytes, another tool, another revision,
// a decision that has run out, or one that a mismatched try uses up.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PerformCall, PerformReply } from '../../core/activity-calls.ts';
import { activityRig, type RigOptions, RUN } from '../support/activity-rig.ts';
import { decideOn, redeclare, say } from '../support/rig-people.ts';
import { tempDir } from '../support/temp-dir.ts';

const ACTION = `${RUN}.t1.c1`;
const HOUR = 3_600_000;
type Approval = NonNullable<Parameters<typeof redeclare>[1]['approval']>;

async function approvalRig(approval: Approval = 'always', options: RigOptions = {}) {
  const rig = await activityRig(options);
  redeclare(rig, { approval });
  const executed: unknown[] = [];
  rig.receiver.execute = async (input) => {
    executed.push(input);
    return { kind: 'executed', result: { ok: true } };
  };
  const opened = await rig.open();
  const attempt = (over: Partial<PerformCall> = {}) => rig.perform(rig.call(opened, over));
  return { rig, opened, executed, attempt };
}

const amount = (value: number) =>
  ({ input: { kind: 'inline', value: { amount: value } } }) as const;

/** Settled on record and with proof: the next attempt is a new one of the same action. */
const notTaken = async () => ({ kind: 'not_taken', code: '429', message: 'later' });

test('K-137 an attempt waits for a decision, and a fresh worker does not ask again', async () => {
  const path = join(tempDir(), 'ledger.db');
  const before = await approvalRig('always', { path });
  const asked = await before.attempt();
  expect(asked).toMatchObject({ verdict: 'approval_missing', settled: null });
  expect(asked.asks).toMatchObject({ validForMs: null, versions: {} });
  expect(await decideOn(before.rig, 'approve', asked.asks)).toMatchObject({ what: 'applied' });
  await before.rig.ledger.close();
  const { rig, executed, attempt } = await approvalRig('always', { path });
  const execute = rig.receiver.execute;
  rig.receiver.execute = notTaken;
  expect(await attempt()).toMatchObject({ verdict: 'entered', settled: 'not_taken' });
  rig.receiver.execute = execute;
  expect(await attempt()).toMatchObject({ verdict: 'entered', settled: 'executed' });
  expect([before.executed.length, executed.length]).toEqual([0, 1]);
  const action = (await rig.ledger.read(RUN)).actions.get(ACTION);
  const id = action?.approvals[0]?.commandId;
  expect(action?.attempts.map(({ entry }) => entry.approval)).toEqual([id, id]);
  expect(action?.refusals).toHaveLength(1);
});

test('an inquiry tells of the waiting question, until it is decided', async () => {
  const { rig, attempt } = await approvalRig();
  const { asks } = await attempt();
  const look = () =>
    rig.activities().inquire({
      ...{ runId: RUN, actionId: ACTION, mode: 'look', attemptIds: [] },
      ...{ wantsValue: false, pin: null },
    });
  expect(await look()).toMatchObject({ asks, outcome: { reason: 'approval_missing' } });
  await decideOn(rig, 'approve', asks);
  expect(await look()).not.toHaveProperty('asks');
});

test.each<[string, unknown[]]>([
  ['a reason', ['too dear']],
  ['a reason as long as they come', ['x'.repeat(2_000)]],
])('a denial with %s closes the action, and nobody is called', async (_, [reason]) => {
  const { rig, executed, attempt } = await approvalRig();
  const { asks } = await attempt();
  const decision = { actionId: ACTION, bound: asks?.bound ?? '', reason: String(reason) };
  await say(rig, 'deny', decision as never);
  const refused = await attempt();
  expect(refused.verdict).toBe('approval_denied');
  expect(refused.detail).toMatch(/^denied by grace: /);
  expect(executed).toEqual([]);
});

test('K-130 (a) a tool that was withdrawn after the approval is not called', async () => {
  const { rig, executed, attempt } = await approvalRig();
  const { asks } = await attempt();
  await decideOn(rig, 'approve', asks);
  Object.assign(rig.deps, { registry: { tools: new Map() } });
  expect(await attempt()).toMatchObject({ verdict: 'binding_changed' });
  expect(executed).toEqual([]);
});

test.each<[string, Approval, Approval]>([
  [
    'a tighter rule',
    { when: ({ amount: due }) => due > 5 },
    { when: ({ amount: due }) => due > 1 },
  ],
  ['always instead of a rule', { when: ({ amount: due }) => due > 5 }, 'always'],
  ['an end of validity', 'always', { always: true, validForMs: HOUR }],
])('K-130 (b) %s after the approval is another tool', async (_name, before, after) => {
  const { rig, executed, attempt } = await approvalRig(before);
  const { asks } = await attempt();
  await decideOn(rig, 'approve', asks);
  redeclare(rig, { approval: after });
  expect(await attempt()).toMatchObject({ verdict: 'binding_changed' });
  expect(executed).toEqual([]);
});

test('K-130 (c) a decision that ran out while no worker was there asks anew', async () => {
  let now = Date.now();
  const options = { ledgerClock: () => now, path: join(tempDir(), 'ledger.db') };
  const approval: Approval = { always: true, validForMs: HOUR };
  const before = await approvalRig(approval, options);
  const { asks } = await before.attempt();
  await decideOn(before.rig, 'approve', asks);
  await before.rig.ledger.close();
  now += HOUR;
  const { rig, executed, attempt } = await approvalRig(approval, options);
  const again = await attempt();
  expect(again).toMatchObject({ verdict: 'approval_missing', asks: { bound: asks?.bound } });
  expect(again.detail).toMatch(/expired/);
  expect([before.executed, executed]).toEqual([[], []]);
  await decideOn(rig, 'approve', again.asks);
  now += HOUR - 1;
  expect(await attempt()).toMatchObject({ verdict: 'entered', settled: 'executed' });
});

test('an attempt after the first goes on under a decision that has expired meanwhile', async () => {
  let now = Date.now();
  const approval: Approval = { always: true, validForMs: HOUR };
  const { rig, attempt } = await approvalRig(approval, { ledgerClock: () => now });
  await decideOn(rig, 'approve', (await attempt()).asks);
  rig.receiver.execute = notTaken;
  await attempt();
  now += 2 * HOUR;
  expect(await attempt()).toMatchObject({ verdict: 'entered' });
});

test('K-131 a payload that was changed after the approval is not sent', async () => {
  const { rig, executed, attempt } = await approvalRig();
  const { asks } = await attempt(amount(10));
  await decideOn(rig, 'approve', asks);
  // Between the approver and the gate something rewrites what the tool is called with.
  const changed = await attempt(amount(1_000));
  expect(changed).toMatchObject({ verdict: 'approval_mismatch', settled: null });
  expect(executed).toEqual([]);
  const action = (await rig.ledger.read(RUN)).actions.get(ACTION);
  expect(action?.attempts).toEqual([]);
});

test('K-131 what a rule does to its input reaches neither the digest nor the tool', async () => {
  const when = (input: { amount: number }) => {
    input.amount = 1_000;
    return true;
  };
  const { rig, executed, attempt } = await approvalRig({ when });
  await decideOn(rig, 'approve', (await attempt()).asks);
  await attempt();
  expect(executed).toEqual([{ amount: 10, note: 'none' }]);
});

test('K-133 a mismatched try leaves the approval, one exact match uses it up', async () => {
  const { rig, executed, attempt } = await approvalRig();
  await decideOn(rig, 'approve', (await attempt(amount(10))).asks);
  expect((await attempt(amount(11))).verdict).toBe('approval_mismatch');
  expect((await attempt(amount(10))).verdict).toBe('entered');
  expect((await attempt(amount(10))).verdict).toBe('already_final');
  expect(executed).toHaveLength(1);
  // The same bytes in another action are another question.
  expect((await attempt({ ...amount(10), position: 't1.c2' })).verdict).toBe('approval_missing');
});

test('another revision asks anew: the decision was made under the old one', async () => {
  const { rig, executed, attempt } = await approvalRig();
  await decideOn(rig, 'approve', (await attempt()).asks);
  const { authority } = await say(rig, 'amend', { grants: ['effect', 'query'] });
  const { revisions } = authority;
  expect(await attempt({ revisions })).toMatchObject({ verdict: 'approval_missing' });
  expect(executed).toEqual([]);
});

test.each<[string, Approval, PerformReply['verdict']]>([
  ['of an input that the rule lets pass', { when: ({ amount: due }) => due > 10 }, 'entered'],
  ['of an input that the rule picks', { when: ({ amount: due }) => due > 9 }, 'approval_missing'],
  ['that declares never', 'never', 'entered'],
  [
    'whose rule throws',
    {
      when: () => {
        throw new Error('no idea');
      },
    },
    'approval_missing',
  ],
  ['whose rule is async', { when: (async () => false) as never }, 'approval_missing'],
  [
    'whose async rule rejects',
    { when: (async () => Promise.reject(new Error('no idea'))) as never },
    'approval_missing',
  ],
  ['whose rule says nothing', { when: (() => undefined) as never }, 'approval_missing'],
])('an attempt %s comes to: %s', async (_name, approval, verdict) => {
  const { attempt } = await approvalRig(approval);
  expect((await attempt()).verdict).toBe(verdict);
});

test('the catalog tells workflows how a tool is approved, where it is', async () => {
  const policyOf = async (approval: Approval) =>
    (await approvalRig(approval)).opened.catalog[0] ?? {};
  expect(await policyOf('always')).toMatchObject({ approval: 'always' });
  expect(await policyOf({ when: () => true })).toMatchObject({ approval: 'by_rule' });
  expect(await policyOf('never')).not.toHaveProperty('approval');
});
