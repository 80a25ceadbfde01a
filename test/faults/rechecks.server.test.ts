// Would catch: a retry that goes by what was allowed when the first try began; waiting in a queue
// taken for a death; tasks that a frozen worker swallowed, lost or done twice; a second copy of an
// attempt because a connection broke.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { type CutProxy, startCutProxy } from '../support/cut-proxy.ts';
import { asked, until } from '../support/fault-stage.ts';
import { scheduledAttempts } from '../support/history-events.ts';
import { operatorOf } from '../support/operator.ts';
import {
  noticeOf,
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';
import { STEADY_MS } from '../support/zombie-tools.ts';

const actionOf = (runId: string) => `${runId}.t1.c1`;
const completed = { end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 };
const counted = { tool: 'add', input: { counter: 'visits', delta: 1 } };

let stage: ZombieStage;
/** Between the server and the worker that goes on where the frozen one stopped. */
let proxy: CutProxy;
/** One attempt at a time. Frozen by the third test; then the one behind the wire is alone. */
let single: Child;
beforeAll(async () => {
  [stage, proxy] = await Promise.all([
    openZombieStage(),
    startCutProxy(inject('temporal').address),
  ]);
  [, single] = await Promise.all([
    stage.worker(['runs', 'actions', 'inquiries']),
    stage.worker(['tools'], { slots: 1 }),
  ]);
});
afterAll(async () => {
  await stage.close();
  await proxy.stop();
});

test('R-095 a read that fails again and again, revoked before try 3: no try 3', async () => {
  const runId = 'recheck-reads';
  const key = 'order-7';
  const { receiver } = stage;
  const reads = async () =>
    (await receiver.requests()).filter((each) => each.kind === 'inquire' && each.key === key);
  const held = (count: number) =>
    until(`try ${count}`, WITHIN_MS, async () => {
      const { held: now, armed } = await receiver.faults();
      const hits = armed.find(({ keyIncludes }) => keyIncludes === key)?.hits;
      return now.length === 1 && hits === count;
    });
  await receiver.arm({ fault: 'hold', on: 'inquire', keyIncludes: key, times: 2 });
  await stage.start(runId, [{ tool: 'lookup', input: { key } }]);
  await held(1);
  await receiver.release(key);
  await held(2);
  const goOn = stage.arm({ point: 'before_barrier', about: actionOf(runId) });
  await receiver.release(key);
  // Try 3 is on its way: scheduled, delivered, about to ask whether it is still wanted.
  await single.line(`REACHED before_barrier ${actionOf(runId)}`, WITHIN_MS);
  await stage.client.revoke(runId, { id: 'r1', actor: 'ann', reason: 'withdrawn' });
  goOn();
  const stopped = { kind: 'stopped', reason: 'revoked' };
  expect(await stage.client.result(runId)).toMatchObject({ end: stopped });
  expect(await stage.bodies(runId, 'attempt_entered')).toHaveLength(2);
  expect(await reads()).toHaveLength(2);
});

test('K-049 K-058 five actions behind one slot wait past a lease: one effect each', async () => {
  const runs = ['recheck-q1', 'recheck-q2', 'recheck-q3', 'recheck-q4', 'recheck-q5'];
  const slow = { fault: 'delayed_commit', connection: 'hold', delayMs: 1_000, times: 5 } as const;
  await stage.receiver.arm({ ...slow, keyIncludes: '/recheck-q' });
  for (const runId of runs) await stage.start(runId, [counted]);
  const times: number[] = [];
  for (const runId of runs) {
    expect(await stage.client.result(runId)).toMatchObject(completed);
    const facts = await stage.facts(runId);
    const kinds = facts.map(({ body }) => body.kind);
    // Never in doubt, never closed and made again: waiting is no attempt.
    expect(kinds).toEqual(['run_opened', 'attempt_entered', 'attempt_settled', 'run_ended']);
    expect(await scheduledAttempts(inject('temporal'), runId, actionOf(runId))).toHaveLength(1);
    expect(await stage.requests(runId)).toHaveLength(1);
    times.push(...facts.filter(({ body }) => body.kind === 'attempt_entered').map(({ at }) => at));
  }
  // What the last one waited: four calls of the slot, longer than the lease of 3 s.
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(3_000);
});

test('R-101 a task that a frozen worker swallowed is closed and made again', async () => {
  const runs = ['recheck-s1', 'recheck-s2', 'recheck-s3', 'recheck-s4'];
  single.freeze();
  for (const runId of runs) await stage.start(runId, [noticeOf(runId)]);
  const swallowed = await until('a swallowed task', WITHIN_MS, () => handedOut(runs));
  await stage.worker(['tools'], { env: { HOLDFAST_ADDRESS: proxy.address } });
  for (const runId of runs) expect(await stage.client.result(runId)).toMatchObject(completed);
  const victims = new Set(swallowed.map((attemptId) => attemptId.split('~', 1)[0] ?? ''));
  for (const about of victims) stage.arm({ point: 'before_barrier', about })();
  single.thaw();
  // It wakes with them, and does not know that they are old.
  for (const about of victims) await single.line(`PASSED before_barrier ${about}`, WITHIN_MS);
  await single.stop();
  const refused = await Promise.all(runs.map((runId) => stage.bodies(runId, 'attempt_refused')));
  const closed = refused.flat().filter(({ attemptId }) => swallowed.includes(attemptId));
  expect(closed.map(({ verdict }) => verdict)).toEqual(swallowed.map(() => 'closed_by_inquiry'));
  for (const runId of runs) {
    const entered = await stage.bodies(runId, 'attempt_entered');
    expect(entered.filter(({ attemptId }) => swallowed.includes(attemptId))).toEqual([]);
    expect(await stage.sent(runId)).toBe(1);
  }
});

/** Attempts that the server believes to be at work; null: none. */
async function handedOut(runs: readonly string[]): Promise<string[] | null> {
  const operator = operatorOf(stage.temporal);
  const pending = (await Promise.all(runs.map((runId) => operator.pending(runId)))).flat();
  const ids = pending
    .filter(({ type, started }) => type === 'performAction' && started)
    .map(({ attemptId }) => attemptId);
  return ids.length > 0 ? ids : null;
}

test('K-065 every connection of the worker breaks once in the call: no second copy', async () => {
  const runId = 'recheck-cut';
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId, 'patient_notice')]);
  await untilHeld(stage.gateway, runId);
  const before = proxy.accepted();
  proxy.cut();
  await until('its next connection', WITHIN_MS, async () => proxy.accepted() > before);
  await stage.gateway.release();
  expect(await stage.client.result(runId)).toMatchObject(completed);
  expect(await scheduledAttempts(inject('temporal'), runId, actionOf(runId))).toHaveLength(1);
  expect(await stage.bodies(runId, 'action_in_doubt')).toEqual([]);
  expect(await stage.sent(runId)).toBe(1);
});

test('K-065 a lease is renewed long before its end: one lost beat does not end it', async () => {
  const runId = 'recheck-steady';
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId, 'steady_notice')]);
  await untilHeld(stage.gateway, runId);
  const operator = operatorOf(stage.temporal);
  const beats: number[] = [];
  await until('two beats of which one may be lost', WITHIN_MS, async () => {
    const [attempt] = await operator.pending(runId);
    const heardAt = attempt?.heardAt ?? 0;
    const last = beats.at(-1);
    if (heardAt !== 0 && heardAt !== last) beats.push(heardAt);
    // The SDK by itself holds a beat back until 4/5 of the lease are over.
    return last !== undefined && heardAt > last && heardAt - last < STEADY_MS * 0.7;
  });
  await stage.gateway.release();
  expect(await stage.client.result(runId)).toMatchObject(completed);
});

test('R-101 cut off in the call for longer than its lease: unknown, no second copy', async () => {
  const runId = 'recheck-cut-off';
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId)]);
  await untilHeld(stage.gateway, runId);
  const before = proxy.accepted();
  proxy.down();
  // The run has given up on it, and it goes on all the same.
  await asked(stage.client, actionOf(runId));
  expect(await stage.sent(runId)).toBe(0);
  proxy.up();
  await until('its next connection', WITHIN_MS, async () => proxy.accepted() > before);
  await stage.gateway.release();
  expect(await stage.client.result(runId)).toMatchObject(completed);
  expect(await stage.bodies(runId, 'action_in_doubt')).toHaveLength(1);
  expect(await scheduledAttempts(inject('temporal'), runId, actionOf(runId))).toHaveLength(1);
  expect(await stage.sent(runId)).toBe(1);
});
