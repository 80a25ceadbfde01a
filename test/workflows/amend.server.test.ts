// Would catch: a step of the old goal that is carried out under the new one, a new goal that is
// decided over something open of the old, and one that is lost where the run is taken up again.

import type { WorkflowHandle } from '@temporalio/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { decideAuthority } from '../../core/authority.ts';
import type { Json } from '../../core/digest.ts';
import type { Grant } from '../../core/grants.ts';
import type { RunResult } from '../../core/outcome.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  principal,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
let operator: Operator;
beforeAll(() => {
  operator = operatorOf(stage.client);
});

const ann = { actor: 'ann', reason: 'the customer changed the order' };
const planOf = (...tools: readonly string[]) => ({
  kind: 'plan' as const,
  steps: tools.map((tool, n) => ({ tool, input: { n } })),
});
const executed = async () => ({ kind: 'executed', result: { ok: true } }) as const;

/** A tool that waits at its receiver until it is let go. */
function held(tool: string): { release: () => void; reached: Promise<void> } {
  let release: () => void = () => undefined;
  let reach: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  stage.behave[tool] = async () => {
    reach();
    await gate;
    return executed();
  };
  return { release: () => release(), reached };
}

/** With tools of its own: an amended goal has no others. */
async function begin(runId: string, goal: object) {
  const tools = ['charge_card', 'post_letter', 'read_note', 'elsewhere'];
  const args = [{ goal, principal, tools, ticket: null }];
  return stage.client.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue: stage.queues.runs,
    args,
  });
}

async function endOf(handle: WorkflowHandle): Promise<RunResult> {
  return (await handle.result()) as RunResult;
}

async function changesOf(runId: string) {
  const bodies = (await factsOf(stage, runId)).map(({ body }) => body);
  return bodies.filter(({ kind }) => kind === 'authority_changed');
}

describe('another goal', () => {
  test.each(['signal', 'update'] as const)(
    'R-098 R-109 by %s keeps what was done, drops the old steps, follows the new ones',
    async (by) => {
      const runId = newRunId('amend');
      const first = held('charge_card');
      const old = planOf('charge_card', 'post_letter', 'read_note');
      const run = await begin(runId, old);
      await first.reached;
      const command = { id: 'amend-1', ...ann, goal: planOf('post_letter') };
      if (by === 'signal') await run.signal('amend', command);
      else
        expect(await run.executeUpdate('amend', { args: [command] })).toMatchObject({
          what: 'applied',
        });
      await eventually('the amendment', async () => (await changesOf(runId)).length === 1);
      first.release();

      const result = await endOf(run);
      expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
      expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.b2.t1.c1`]);
      expect(await changesOf(runId)).toMatchObject([{ revisions: { goal: 2, auth: 1 } }]);
      const { actions } = await stage.ledger.read(runId);
      expect(actions.get(`${runId}.t1.c1`)?.attempts[0]?.entry.revisions.goal).toBe(1);
      expect(actions.get(`${runId}.b2.t1.c1`)?.attempts[0]?.entry.revisions.goal).toBe(2);
    },
  );

  test('R-098 of which no signal came is followed all the same: the ledger has it', async () => {
    const runId = newRunId('unsaid');
    const first = held('charge_card');
    const run = await begin(runId, planOf('charge_card', 'post_letter', 'post_letter'));
    await first.reached;
    await amendInLedger(runId, planOf('read_note'));
    first.release();
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' } });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.b2.t1.c1`]);
  });

  test('R-098 that comes as the run ends is followed before the end', async () => {
    const runId = newRunId('at-the-end');
    let asked = 0;
    stage.around.endRun = async (call, next) => {
      if (call.runId === runId && asked++ === 0) await amendInLedger(runId, planOf('read_note'));
      return next(call);
    };
    const run = await begin(runId, planOf('charge_card'));
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' } });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.b2.t1.c1`]);
  });

  test('R-098 waits for what the old one left in doubt', async () => {
    const runId = newRunId('doubt');
    stage.behave['post_letter'] = async () => {
      throw new Error('lost');
    };
    const run = await begin(runId, planOf('post_letter', 'charge_card'));
    const action = await inDoubt(stage, runId, 't1.c1');
    await run.executeUpdate('amend', {
      args: [{ id: 'amend-1', ...ann, goal: planOf('read_note') }],
    });
    expect(stage.effects).toEqual([action.actionId]);
    const answer = answerTo(action, { verb: 'confirm_executed', evidence });
    await run.executeUpdate('resolve', { args: [answer] });
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
    expect(stage.effects).toEqual([action.actionId, `${runId}.b2.t1.c1`]);
  });

  test('R-098 R-135 survives a Reset to the first task without its signals', async () => {
    const runId = newRunId('reset');
    const first = held('charge_card');
    const run = await begin(runId, planOf('charge_card', 'post_letter'));
    await first.reached;
    const command = { id: 'amend-1', ...ann, goal: planOf('read_note', 'post_letter') };
    await run.executeUpdate('amend', { args: [command] });
    first.release();
    const last = held('post_letter');
    await last.reached;
    const before = [...stage.effects];
    const [eventId = 0] = await operator.resetPoints(runId);
    await operator.reset(runId, { eventId, excludeSignals: true });
    // Sent again, as somebody would who saw it excluded: applied once, by our own id.
    const copy = stage.client.workflow.getHandle(runId);
    await copy.signal('amend', command);
    last.release();
    const result = (await copy.result()) as RunResult;
    expect(result.end).toEqual({ kind: 'completed' });
    expect(stage.effects).toEqual(before);
    expect(await changesOf(runId)).toHaveLength(1);
  });

  test.each<[string, object, RegExp]>([
    ['no goal at all', {}, /changes nothing/],
    ['a goal of no known kind', { goal: { kind: 'wish' } }, /does not parse/],
    ['a tool that the run does not have', { goal: planOf('launch') }, /uses the tool "launch"/],
    ['a placeholder', { reason: 'FILL IN', goal: planOf('read_note') }, /FILL IN/],
  ])('R-134 with %s is refused in words, and the run goes on', async (_, wrong, words) => {
    const runId = newRunId('refused');
    const first = held('charge_card');
    const run = await begin(runId, planOf('charge_card', 'post_letter'));
    await first.reached;
    const command = { id: 'amend-1', ...ann, ...wrong };
    await expect(run.executeUpdate('amend', { args: [command] })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(words) },
    });
    await run.signal('amend', command);
    await eventually('the rejection', async () =>
      (await factsOf(stage, runId)).some(({ body }) => body.kind === 'command_rejected'),
    );
    first.release();
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
    expect(await changesOf(runId)).toEqual([]);
  });

  test('R-098 for a model begins a turn of its own branch', async () => {
    const runId = newRunId('model');
    const first = held('charge_card');
    stage.turns = (turn) =>
      turn === 1 && stage.effects.length === 0
        ? { text: '', calls: [{ tool: 'charge_card', input: { n: 1 } }] }
        : { text: 'done', calls: [] };
    const goal = { kind: 'model', instructions: 'Charge it.' };
    const run = await begin(runId, goal);
    await first.reached;
    const amended = { kind: 'model', instructions: 'Only say what was done.' };
    await run.executeUpdate('amend', { args: [{ id: 'amend-1', ...ann, goal: amended }] });
    first.release();
    expect(await endOf(run)).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
    const { actions } = await stage.ledger.read(runId);
    expect([...actions.keys()]).toEqual([`${runId}.t1.m`, `${runId}.t1.c1`, `${runId}.b2.t1.m`]);
  });
});

describe('other grants', () => {
  test('R-115 without "effect" nothing more has one; reading goes on', async () => {
    const runId = newRunId('grants');
    const first = held('charge_card');
    const run = await begin(runId, planOf('charge_card', 'read_note', 'post_letter'));
    await first.reached;
    const grants: Grant[] = ['read', 'query', 'accept'];
    await run.executeUpdate('amend', { args: [{ id: 'amend-1', ...ann, grants }] });
    first.release();
    expect(await endOf(run)).toMatchObject({
      end: { kind: 'stopped', reason: 'blocked' },
      effectsCount: 1,
    });
    expect(stage.effects).toEqual([`${runId}.t1.c1`, `${runId}.t2.c1`]);
    const { actions, revisions } = await stage.ledger.read(runId);
    expect(revisions).toEqual({ goal: 1, auth: 2 });
    expect(actions.get(`${runId}.t3.c1`)?.refusals.at(-1)).toMatchObject({
      verdict: 'not_granted',
      payload: { digest: expect.any(String) },
    });
  });

  test('R-109 R-111 a queued attempt is decided anew, under the new revision', async () => {
    const runId = newRunId('queued');
    const run = await begin(runId, planOf('elsewhere'));
    await eventually('the queued attempt', async () =>
      (await operator.pending(runId)).some(({ type }) => type === 'performAction'),
    );
    const before = (await operator.pending(runId)).map(({ attemptId }) => attemptId);
    const grants: Grant[] = ['effect'];
    await run.executeUpdate('amend', { args: [{ id: 'amend-1', ...ann, grants }] });
    await eventually('another attempt', async () =>
      (await operator.pending(runId)).some(({ attemptId }) => !before.includes(attemptId)),
    );
    await run.signal('revoke', { id: 'revoke-1', ...ann });
    expect(await endOf(run)).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' } });
    expect(stage.effects).toEqual([]);
  });
});

async function amendInLedger(runId: string, goal: Json): Promise<void> {
  const command = { id: 'amend-1', ...ann, goal };
  const { reply } = await stage.ledger.transact(
    { runId },
    decideAuthority({ verb: 'amend', command }),
  );
  expect(reply.what).toBe('applied');
}
