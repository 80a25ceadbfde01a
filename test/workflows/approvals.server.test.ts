// Would catch: an action that is carried out before a person approved exactly it, one approval that
// lets two through, and a decision that is lost, asked for twice, or overruled by a later one.

import type { WorkflowHandle } from '@temporalio/client';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import type { RunStateAnswer } from '../../workflows/messages.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import {
  eventually,
  factsOf,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
let operator: Operator;
beforeAll(() => {
  operator = operatorOf(stage.client);
});

const ann = { actor: 'ann', reason: 'looked at the order' };
const call = (n: number) => ({ tool: 'sign_off', input: { n } });
const plan = (...steps: readonly { tool: string; input: { n: number } }[]) => ({
  kind: 'plan' as const,
  steps,
});

/** What the run asks to approve, once it asks for so many. */
async function asked(run: WorkflowHandle, count = 1) {
  return eventually(`${count} to approve`, async () => {
    const { approvals } = (await run.query('state')) as RunStateAnswer;
    if (approvals.length !== count) return null;
    return approvals.toSorted((a, b) => a.actionId.localeCompare(b.actionId));
  });
}

type Asked = Awaited<ReturnType<typeof asked>>[number] | undefined;

function decision(about: Asked, over: object = {}) {
  if (about === undefined) throw new Error('nothing is asked');
  const { actionId, bound } = about;
  return { id: `decision/${actionId}`, ...ann, actionId, bound, ...over };
}

async function bodiesOf(runId: string, kind: string) {
  return (await factsOf(stage, runId)).map(({ body }) => body).filter((body) => body.kind === kind);
}

async function endOf(run: WorkflowHandle): Promise<RunResult> {
  return (await run.result()) as RunResult;
}

describe('one action', () => {
  test.each(['signal', 'update'] as const)(
    'R-095 is carried out once it was approved by %s, and not before',
    async (by) => {
      const runId = newRunId('approve');
      const run = await startRun(stage, runId, plan(call(1)));
      const [about] = await asked(run);
      expect(about).toMatchObject({ actionId: `${runId}.t1.c1`, tool: 'sign_off' });
      expect(stage.effects).toEqual([]);
      expect(await operator.pending(runId)).toEqual([]);
      if (by === 'signal') await run.signal('approve', decision(about));
      else await run.executeUpdate('approve', { args: [decision(about)] });

      expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
      expect(stage.effects).toEqual([`${runId}.t1.c1`]);
      expect(await bodiesOf(runId, 'attempt_entered')).toMatchObject([
        { approval: decision(about).id },
      ]);
    },
  );

  test('R-109 a revoke under the id of an approval is on record, not only heard', async () => {
    const runId = newRunId('id-taken');
    const run = await startRun(stage, runId, plan(call(1), call(2)));
    const [about] = await asked(run);
    await run.signal('approve', decision(about, { id: '1' }));
    await eventually('the next one', async () =>
      (await asked(run))[0]?.actionId.endsWith('.t2.c1'),
    );
    const answer = await run.executeUpdate('revoke', { args: [{ id: '1', ...ann }] });
    expect(answer).toMatchObject({ what: 'applied' });
    expect(await endOf(run)).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' } });
    const { revoked, revisions } = await stage.ledger.read(runId);
    expect({ revoked, revisions }).toEqual({ revoked: true, revisions: { goal: 1, auth: 2 } });
  });

  test('R-095 is not carried out once it was denied; what builds on it is blocked', async () => {
    const runId = newRunId('deny');
    const run = await startRun(stage, runId, plan(call(1), call(2)));
    const [about] = await asked(run);
    await run.signal('deny', decision(about));
    expect(await endOf(run)).toMatchObject({ end: { kind: 'stopped', reason: 'blocked' } });
    expect(stage.effects).toEqual([]);
    const refused = (await bodiesOf(runId, 'attempt_refused')).at(-1);
    expect(refused).toMatchObject({
      verdict: 'approval_denied',
      detail: expect.stringMatching(/ann/),
    });
  });

  test('K-139 the first decision stands, and the second is refused in words', async () => {
    const runId = newRunId('twice');
    const run = await startRun(stage, runId, plan(call(1), call(2)));
    const [about] = await asked(run);
    await run.executeUpdate('approve', { args: [decision(about)] });
    const late = await run.executeUpdate('deny', { args: [decision(about, { id: 'late' })] });
    expect(late).toEqual({ what: 'rejected', why: expect.stringMatching(/ann decided before/) });
    // The same command again is the same decision.
    const again = await run.executeUpdate('approve', { args: [decision(about)] });
    expect(again).toMatchObject({ what: 'duplicate' });
    await run.signal('approve', decision((await asked(run))[0]));
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
  });

  test('K-137 K-139 after a Reset without its signals: not asked, not done again', async () => {
    const runId = newRunId('reset');
    const run = await startRun(stage, runId, plan(call(1), call(2)));
    const [about] = await asked(run);
    await run.signal('approve', decision(about));
    await eventually('the second question', async () => stage.effects.length === 1);
    const [second] = await asked(run);
    const [eventId = 0] = await operator.resetPoints(runId);
    await operator.reset(runId, { eventId, excludeSignals: true });
    const copy = stage.client.workflow.getHandle(runId);
    // Only what nobody has decided on is asked.
    expect(await asked(copy)).toEqual([second]);
    const late = await copy.executeUpdate('deny', { args: [decision(about, { id: 'late' })] });
    expect(late).toMatchObject({ what: 'rejected' });
    await copy.signal('approve', decision(second));
    expect(await endOf(copy)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
  });

  test('R-111 K-131 amended meanwhile it is asked anew, the old approval refused', async () => {
    const runId = newRunId('amended');
    const run = await startRun(stage, runId, plan(call(1)));
    const [old] = await asked(run);
    await run.executeUpdate('amend', {
      args: [{ id: 'amend-1', ...ann, grants: ['effect', 'query', 'read'] }],
    });
    const anew = await eventually('another digest', async () => {
      const [about] = await asked(run);
      return about?.bound === old?.bound ? null : about;
    });
    const stale = await run.executeUpdate('approve', { args: [decision(old)] });
    expect(stale).toMatchObject({ what: 'rejected', why: expect.stringMatching(/look again/) });
    expect(stage.effects).toEqual([]);
    // Corrected, it carries the id that the question gave it.
    await run.signal('approve', decision(anew));
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
    expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  });

  test('R-134 decisions that decide nothing ask the gate nothing: the record stays', async () => {
    const runId = newRunId('wrong');
    const run = await startRun(stage, runId, plan(call(1)));
    const [about] = await asked(run);
    const bound = about?.bound.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    for (let n = 0; n < 5; n++)
      await run.executeUpdate('approve', { args: [decision(about, { id: `wrong-${n}`, bound })] });
    expect(await bodiesOf(runId, 'command_rejected')).toHaveLength(5);
    expect(await bodiesOf(runId, 'attempt_refused')).toHaveLength(1);
    await run.signal('approve', decision(about));
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
    expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  });

  test('R-109 revoked while it waits it is never done, and no approval helps', async () => {
    const runId = newRunId('revoked');
    const run = await startRun(stage, runId, plan(call(1)));
    const [about] = await asked(run);
    await run.signal('revoke', { id: 'revoke-1', ...ann });
    await run.signal('approve', decision(about));
    const result = await endOf(run);
    expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, effectsCount: 0 });
    expect(stage.effects).toEqual([]);
  });
});

describe('a batch', () => {
  test('K-004 mixed decisions: each is for its own action, and the model is told', async () => {
    const runId = newRunId('batch');
    const told: number[] = [];
    stage.turns = (turn) => {
      told.push(turn);
      return turn === 1
        ? { text: '', calls: [call(1), call(2), call(3)] }
        : { text: 'done', calls: [] };
    };
    const run = await startRun(stage, runId, { kind: 'model', instructions: 'Sign them off.' });
    const [first, second, third] = await asked(run, 3);
    await run.signal('approve', decision(first));
    await eventually('the first', async () => stage.effects.length === 1);
    await run.signal('deny', decision(second));
    expect(await asked(run, 1)).toEqual([third]);
    expect(told).toEqual([1]);
    await run.signal('approve', decision(third));

    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t1.c3`]);
    const { actions } = await stage.ledger.read(runId);
    expect(actions.get(`${runId}.t1.c2`)?.attempts).toEqual([]);
    expect(told).toEqual([1, 2]);
  });
});
