// A run with a fixed plan: from its steps to its end, and what an attempt's end does to it.
// Nothing is cached, so that every workflow task replays the whole history.

import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import { factsOf, newRunId, startRun, workflowStage } from '../support/workflow-stage.ts';

const stage = workflowStage({ maxCachedWorkflows: 0 });
const step = (tool: string, more: object = {}) => ({ tool, input: { n: 1 }, ...more });

async function run(steps: readonly object[]) {
  const runId = newRunId('plan');
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  return { runId, handle, result: (await handle.result()) as RunResult };
}

const entered = async (runId: string) =>
  (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_entered' ? [body] : [],
  );

test('a plan is followed step by step, replayed at every task, and ends completed', async () => {
  const { runId, result } = await run([
    step('charge_card'),
    step('read_note', { name: 'look' }),
    step('charge_card'),
  ]);
  expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.look`, `${runId}.t3.c1`]);
  expect(result.end).toEqual({ kind: 'completed' });
  expect(result.undone).toBe(false);
  expect((await stage.ledger.read(runId)).ended?.end).toEqual({ kind: 'completed' });
});

test('each attempt states what the run had received before it, rolled up', async () => {
  const { runId } = await run([step('charge_card'), step('charge_card'), step('charge_card')]);
  const attempts = await entered(runId);
  expect(attempts.map(({ consumes }) => consumes.pairs.map((pair) => pair.actionId))).toEqual([
    [],
    [`${runId}.t1.c1`],
    [`${runId}.t2.c1`],
  ]);
  expect(attempts[2]?.consumes.base).toBe(attempts[1]?.rolled);
});

test('R-016 R-017 not taken, then executed: one action, two attempts of their own', async () => {
  let tries = 0;
  stage.behave['charge_card'] = async () => {
    tries++;
    return tries === 1
      ? { kind: 'not_taken', code: '429', message: 'too many', retryAfterMs: 10 }
      : { kind: 'executed', result: { ok: true } };
  };
  const { runId, result } = await run([step('charge_card')]);
  expect(result.end).toEqual({ kind: 'completed' });
  const attempts = await entered(runId);
  expect(attempts.map(({ number }) => number)).toEqual([1, 2]);
  expect(new Set(attempts.map(({ actionId }) => actionId))).toEqual(new Set([`${runId}.t1.c1`]));
  expect(new Set(attempts.map(({ attemptId }) => attemptId)).size).toBe(2);
});

test('R-011 a safe tool whose reply is lost is tried again, and nobody is asked', async () => {
  let tries = 0;
  stage.behave['read_note'] = async () => {
    tries++;
    if (tries === 1) throw new Error('connection reset');
    return { kind: 'executed', result: { note: 'n' } };
  };
  const { runId, result } = await run([step('read_note')]);
  expect(result.end).toEqual({ kind: 'completed' });
  expect((await entered(runId)).length).toBe(2);
  expect((await factsOf(stage, runId)).map(({ body }) => body.kind)).toContain('action_in_doubt');
});

test('R-042 an unreachable ledger is waited for; no attempt is burnt', async () => {
  let refusals = 0;
  stage.around.recordFacts = async () => {
    throw new Error('not used here');
  };
  stage.around.openRun = (call, next) => {
    refusals++;
    if (refusals <= 2) throw ApplicationFailure.create({ message: 'no ledger', type: 'Ledger' });
    return next(call);
  };
  const { runId, result } = await run([step('charge_card')]);
  expect(result.end).toEqual({ kind: 'completed' });
  expect(refusals).toBe(3);
  expect((await entered(runId)).length).toBe(1);
});

test('R-006 an attempt that no worker took is closed before another is made', async () => {
  const runId = newRunId('nobody');
  const handle = await startRun(stage, runId, { kind: 'plan', steps: [step('elsewhere')] });
  const result = (await handle.result()) as RunResult;
  expect(result.end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(stage.effects).toEqual([]);
  const closed = (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_refused' ? [body.verdict] : [],
  );
  expect(closed).toEqual(['closed_by_inquiry', 'closed_by_inquiry']);
});

test('a step that the receiver refuses blocks what comes after it', async () => {
  stage.behave['charge_card'] = async () => ({ kind: 'refused', code: '402', message: 'no funds' });
  const { runId, result } = await run([step('charge_card'), step('read_note')]);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

test('a step declared independent does not block the next when it is refused', async () => {
  stage.behave['charge_card'] = async () => ({ kind: 'refused', code: '402', message: 'no funds' });
  const { result } = await run([step('charge_card', { onUnknown: 'continue' }), step('read_note')]);
  expect(result.end).toEqual({ kind: 'completed' });
});

test('R-007 a reply that is none, completed by hand, is asked of the ledger', async () => {
  let forged = 0;
  stage.around.performAction = async (call, next) => {
    const real = await next(call);
    forged++;
    return forged === 1 ? ({ status: 'Completed' } as never) : real;
  };
  const { runId, result } = await run([step('charge_card'), step('charge_card')]);
  expect(result.end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
});

test('a result forged with a readable reply stops at the next step', async () => {
  stage.around.performAction = async (call, next) => {
    const real = await next(call);
    if (!call.position.startsWith('t1.') || real.outcome?.kind !== 'executed') return real;
    const digest = `sha256:${'0'.repeat(64)}` as const;
    return { ...real, outcome: { ...real.outcome, digest } };
  };
  const { runId, result } = await run([step('charge_card'), step('charge_card')]);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'predecessor_mismatch' });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

test.each([
  ['no goal at all', { goal: {} }, /does not parse/],
  ['a step without a tool', { kind: 'plan', steps: [{ input: {} }] }, /steps/],
  [
    'two steps at one position',
    {
      kind: 'plan',
      steps: [step('charge_card', { name: 'a' }), step('charge_card', { name: 'a' })],
    },
    /same position "a"/,
  ],
  [
    'a tool that is not registered',
    { kind: 'plan', steps: [step('charge_card'), step('launch')] },
    /launch/,
  ],
  [
    'an input over the limit',
    { kind: 'plan', steps: [step('charge_card', { input: { x: 'x'.repeat(600_000) } })] },
    /bytes/,
  ],
])('R-010 %s is refused before anything is dispatched', async (_name, goal, words) => {
  const runId = newRunId('bad');
  const handle = await startRun(stage, runId, goal);
  const failure = await handle.result().then(
    () => null,
    (error: { cause?: { message?: string } }) => error.cause?.message ?? '',
  );
  expect(failure).toMatch(words);
  expect(failure).toContain(runId);
  expect(stage.delivered).not.toContain('performAction');
  expect((await stage.ledger.read(runId)).head.count).toBe(0);
});

test('R-010 arguments that fail the schema: not called, and the ledger says why', async () => {
  const { runId, result } = await run([
    { tool: 'strict', input: { n: 'one' } },
    step('charge_card'),
  ]);
  expect(result.end).toEqual({ kind: 'stopped', reason: 'blocked' });
  expect(stage.effects).toEqual([]);
  const closed = (await factsOf(stage, runId)).flatMap(({ body }) =>
    body.kind === 'attempt_refused' ? [body] : [],
  );
  expect(closed).toMatchObject([
    { actionId: `${runId}.t1.c1`, verdict: 'invalid_input', tool: 'strict' },
  ]);
  expect(closed[0]?.detail).toMatch(/^at n: .*number.*; correct the input/);
});

test('R-137 a closed run answers its recorded end to whoever starts its id again', async () => {
  const { runId, result } = await run([step('charge_card')]);
  const again = await startRun(stage, runId, { kind: 'plan', steps: [step('charge_card')] });
  expect(await again.result()).toEqual(result);
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});
