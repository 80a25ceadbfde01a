// Would catch: work that goes on beyond its budget, a budget that a restart, a Reset or a second
// lane fills again, and a lost reply that is taken for one that cost nothing.

import type { WorkflowHandle } from '@temporalio/client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BudgetInput } from '../../core/budget-limits.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import { eventually, newRunId, principal, workflowStage } from '../support/workflow-stage.ts';

const stage = workflowStage();
let operator: Operator;
beforeAll(() => {
  operator = operatorOf(stage.client);
});

const ann = { actor: 'ann', reason: 'worth it' };
const instructions = { kind: 'model', instructions: 'Charge three cards.' };
const charge = (n: number) => ({ tool: 'charge_card', input: { n } });

interface Begun {
  readonly goal?: object;
  readonly budget: BudgetInput;
}

async function begin(runId: string, { goal = instructions, budget }: Begun) {
  const args = [{ goal, principal, tools: null, ticket: null, budget }];
  return stage.client.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue: stage.queues.runs,
    args,
  });
}

/** One card a turn, three turns, then the answer: four requests of 15 tokens. */
function threeCards(): void {
  stage.turns = (turn) =>
    turn <= 3 ? { text: '', calls: [charge(turn)] } : { text: 'done', calls: [] };
}

/** Why it is, once it is exhausted. */
function exhausted(run: WorkflowHandle): Promise<string> {
  return eventually('an exhausted budget', async () => {
    const { exhausted: why } = (await run.query('state')) as RunStateAnswer;
    return why;
  });
}

async function endOf(run: WorkflowHandle): Promise<RunResult> {
  return (await run.result()) as RunResult;
}

describe('requests', () => {
  test.each(['signal', 'update'] as const)(
    'R-131 exhausted, the run asks, and goes on once it was topped up by %s',
    async (by) => {
      const runId = newRunId('requests');
      threeCards();
      const run = await begin(runId, { budget: { requests: 2 } });
      expect(await exhausted(run)).toMatch(/requests: 2 used, 0 held, 1 more do not fit 2/);
      expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
      expect(await operator.pending(runId)).toEqual([]);
      const topUp = { id: 'top-up-1', ...ann, requests: 2 };
      if (by === 'signal') await run.signal('topUp', topUp);
      else await run.executeUpdate('topUp', { args: [topUp] });
      // Sent again, as by a person who saw nothing happen: added once.
      await run.signal('topUp', topUp);

      const result = await endOf(run);
      expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
      expect(result.cost).toMatchObject({ atLeast: { requests: 4 }, unknownAttempts: 0 });
      expect((await stage.ledger.read(runId)).budget).toMatchObject({ requests: 4 });
    },
  );

  test('R-131 exhausted, a run that is declared to end does: what it did is listed', async () => {
    const runId = newRunId('ends');
    threeCards();
    const run = await begin(runId, { budget: { requests: 2, onExhausted: 'end' } });
    expect(await endOf(run)).toMatchObject({
      end: { kind: 'stopped', reason: 'budget' },
      effectsCount: 2,
      undone: false,
    });
  });

  test('R-116 R-131 T-20 a lost reply keeps its reserve, is unknown, is not used', async () => {
    const runId = newRunId('lost');
    const asked: number[] = [];
    stage.turns = (turn) => {
      asked.push(turn);
      if (asked.length === 1) throw new Error('the connection broke');
      return { text: 'done', calls: [] };
    };
    const run = await begin(runId, { budget: { requests: 1 } });
    expect(await exhausted(run)).toMatch(/requests: 0 used, 1 held, 1 more do not fit 1/);
    expect(asked).toEqual([1]);
    await run.signal('topUp', { id: 'top-up-1', ...ann, requests: 1 });
    const result = await endOf(run);
    expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 0 });
    expect(result.cost).toMatchObject({ atLeast: { requests: 2 }, unknownAttempts: 1 });
    expect(result.costText).toMatch(/^at least .*, 1 of unknown cost$/);
    const [first, second] =
      (await stage.ledger.read(runId)).actions.get(`${runId}.t1.m`)?.attempts ?? [];
    expect(first?.entry.payload.digest).not.toBe(second?.entry.payload.digest);
    const context = await stage.ledger.payload(second?.entry.payload.digest ?? 'sha256:none');
    expect(new TextDecoder().decode(context ?? undefined)).toContain('"repliesMissing":1');
  });

  test('R-131 R-135 a Reset to the first task spends and gives back nothing', async () => {
    const runId = newRunId('reset');
    threeCards();
    const run = await begin(runId, { budget: { requests: 2 } });
    await exhausted(run);
    const [eventId = 0] = await operator.resetPoints(runId);
    await operator.reset(runId, { eventId, excludeSignals: true });
    const copy = stage.client.workflow.getHandle(runId);
    expect(await exhausted(copy)).toMatch(/requests: 2 used/);
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
    await copy.signal('topUp', { id: 'top-up-1', ...ann, requests: 2 });
    const result = await endOf(copy);
    expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
    expect(result.cost).toMatchObject({ atLeast: { requests: 4 } });
  });

  test('R-109 revoked while it is exhausted it ends, and no top-up helps', async () => {
    const runId = newRunId('revoked');
    threeCards();
    const run = await begin(runId, { budget: { requests: 1 } });
    await exhausted(run);
    await run.signal('revoke', { id: 'revoke-1', ...ann });
    await run.signal('topUp', { id: 'top-up-1', ...ann, requests: 5 });
    expect(await endOf(run)).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' } });
    expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  });
});

describe('tokens', () => {
  test('R-131 what is known of a request releases its reserve for the next', async () => {
    const runId = newRunId('tokens');
    threeCards();
    // A request reserves 100 and costs 15: four fit 145, and not 144.
    const fits = await begin(runId, { budget: { tokens: 145 } });
    expect(await endOf(fits)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
    const short = await begin(newRunId('short'), { budget: { tokens: 144 } });
    expect(await exhausted(short)).toMatch(/tokens: 45 used, 0 held, 100 more do not fit 144/);
    await short.signal('topUp', { id: 'top-up-1', ...ann, tokens: 1 });
    expect(await endOf(short)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  });
});

describe('money', () => {
  test('K-128 five lanes share it: what fits goes, the others wait for more', async () => {
    const runId = newRunId('lanes');
    stage.turns = (turn) =>
      turn === 1
        ? { text: '', calls: [1, 2, 3, 4, 5].map((n) => ({ tool: 'paid', input: { n } })) }
        : { text: 'done', calls: [] };
    const budget = { tokens: 1_000, money: { currency: 'USD', micros: 3_000_000 } };
    const run = await begin(runId, { budget });
    expect(await exhausted(run)).toMatch(/money: .* do not fit USD 3\.00/);
    await eventually('three', async () => stage.effects.length === 3);
    await run.signal('topUp', { id: 'top-up-1', ...ann, micros: 2_000_000 });
    const result = await endOf(run);
    expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 5 });
    expect(result.cost).toMatchObject({ money: [{ currency: 'USD', micros: 5_000_000 }] });
    expect(stage.effects).toHaveLength(5);
  });

  test('R-131 a limit that the run does not have cannot be topped up', async () => {
    const run = await begin(newRunId('none'), { budget: { requests: 0 } });
    await exhausted(run);
    const wrong = await run.executeUpdate('topUp', {
      args: [{ id: 'top-up-1', ...ann, tokens: 5 }],
    });
    expect(wrong).toEqual({ what: 'rejected', why: 'the run has no limit on tokens' });
    await run.signal('topUp', { id: 'top-up-1', ...ann, requests: 9 });
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' } });
  });
});
