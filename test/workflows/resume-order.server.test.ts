// A takeover goes step by step: look at the record, claim what allows looking, settle what is open,
// claim what allows acting, look again, act. Would catch: a step that is taken although the one
// before it gave no answer.

import { expect, test } from 'vitest';
import type { Room } from '../../client/room.ts';
import { resumeRun } from '../../client/takeover.ts';
import { decideAuthority } from '../../core/authority.ts';
import { axesOf } from '../../core/axes.ts';
import { unknownIdOf } from '../../core/ids.ts';
import type { RunResult } from '../../core/outcome.ts';
import type { ActionState } from '../../core/run-state.ts';
import { type Ledger, LedgerError } from '../../ledger/port.ts';
import { operatorOf } from '../support/operator.ts';
import {
  answerTo,
  eventually,
  evidence,
  factsOf,
  inDoubt,
  newRunId,
  principal,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
const ann = { actor: 'ann', reason: 'the worker is gone' };
const yes = { verb: 'confirm_executed', evidence, externalId: 'L-7' } as const;

type Step = 'openRun' | 'recordFacts' | 'inquire' | 'performAction';

/** Steps that give no answer until they are let go. */
function broken(...steps: readonly Step[]): void {
  const fail = async () => {
    throw new Error('no answer');
  };
  stage.around = Object.fromEntries(steps.map((step) => [step, fail]));
  stage.delivered.length = 0;
}

/** The step was tried more than once, and everything delivered since is `earlier` or the step. */
async function stuckAt(step: Step, earlier: readonly Step[]): Promise<void> {
  await eventually(`${step} tried again`, async () => {
    return stage.delivered.filter((each) => each === step).length > 1;
  });
  const others = stage.delivered.filter((each) => each !== step);
  expect(others.filter((each) => !earlier.includes(each as Step))).toEqual([]);
}

function roomWith(ledger: Ledger): Room {
  const { client, queues } = stage;
  const server = { address: 'here', namespace: client.options.namespace };
  const connection = client.connection as Room['temporal']['connection'];
  return {
    temporal: { client, connection, server, owned: false },
    ...{ ledger, runsQueue: queues.runs, newId: () => newRunId('id') },
  };
}

/** Its first step is unknown, its second not begun; its workflow is closed without an end. */
async function leftRun() {
  stage.behave['post_letter'] = async () => {
    throw new Error('connection reset after the request was sent');
  };
  const runId = newRunId('order');
  const steps = [
    { tool: 'post_letter', input: { runId } },
    { tool: 'charge_card', input: {} },
  ];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const action = await inDoubt(stage, runId, 't1.c1');
  await handle.terminate('test');
  await stage.client.workflow.getHandle(unknownIdOf(action.actionId)).terminate('test');
  expect(stage.effects).toEqual([action.actionId]);
  return { runId, action };
}

async function answer(action: ActionState): Promise<void> {
  const child = stage.client.workflow.getHandle(unknownIdOf(action.actionId));
  await eventually('its question', async () =>
    child.describe().then(
      ({ status }) => status.name === 'RUNNING',
      () => false,
    ),
  );
  await child.signal('resolve', answerTo(action, yes));
}

test('R-094 a step of a takeover that gives no answer keeps later ones from running', async () => {
  const { runId, action } = await leftRun();
  const scopes = async () =>
    (await factsOf(stage, runId)).flatMap(({ body }) =>
      body.kind === 'run_opened' ? [`${body.epoch} ${body.claim.scope}`] : [],
    );

  // The record does not check out: no ticket is written, nothing is started.
  const facts = (await factsOf(stage, runId)).length;
  const corrupt = async (): Promise<never> => {
    throw new LedgerError('corrupt', 'fact 2 does not follow', { nothingWritten: true });
  };
  const untrusted = { ...ledgerOf(), read: corrupt, transact: corrupt };
  broken();
  await expect(resumeRun(roomWith(untrusted), runId, ann)).rejects.toThrow('does not follow');
  expect([(await factsOf(stage, runId)).length, stage.delivered]).toEqual([facts, []]);

  // No claim: nothing is settled.
  broken('openRun');
  const run = await resumeRun(roomWith(stage.ledger), runId, ann);
  await stuckAt('openRun', []);
  expect(await scopes()).toEqual(['1 effects']);

  // A claim of facts, and what is open is not settled: nobody is asked, nothing is decided.
  broken('recordFacts');
  await stuckAt('recordFacts', ['openRun']);
  expect(await scopes()).toEqual(['1 effects', '2 facts']);
  broken('performAction', 'inquire');
  await answer(action);
  await stuckAt('inquire', ['recordFacts']);

  // Settled, and no claim of effects: the gate lets nothing in.
  broken('openRun');
  await stuckAt('openRun', ['inquire', 'recordFacts', 'performAction']);
  expect(await scopes()).toEqual(['1 effects', '2 facts']);
  expect(stage.effects).toEqual([action.actionId]);

  // Withdrawn meanwhile: what was allowed at the beginning is looked at again.
  const command = { id: 'revoke-1', ...ann };
  const revoke = { verb: 'revoke', command } as const;
  await stage.ledger.transact({ runId }, decideAuthority(revoke));
  broken();
  const result: RunResult = await run.result();
  expect(result).toMatchObject({ end: { kind: 'stopped', reason: 'revoked' }, effectsCount: 1 });
  expect(stage.effects).toEqual([action.actionId]);
});

test('R-094 a takeover opens, settles what is open, claims effects, then acts', async () => {
  const { runId, action } = await leftRun();
  stage.delivered.length = 0;
  const before = (await factsOf(stage, runId)).length;
  const run = await resumeRun(roomWith(stage.ledger), runId, ann);
  await answer(action);
  expect((await run.result()).end).toEqual({ kind: 'completed' });
  const kinds = (await factsOf(stage, runId)).slice(before).map(({ body }) => {
    if (body.kind === 'run_opened') return `claim of ${body.claim.scope}`;
    return body.kind === 'authority_changed' ? body.change : body.kind;
  });
  expect(kinds).toEqual([
    'permit',
    'claim of facts',
    'resolution',
    'claim of effects',
    'attempt_entered',
    'attempt_settled',
    'run_ended',
  ]);
  const first = (name: string) => stage.delivered.indexOf(name);
  expect(first('openRun')).toBe(0);
  expect(first('inquire')).toBeLessThan(first('performAction'));
  expect(stage.effects).toEqual([action.actionId, `${runId}.t2.c1`]);
});

test('R-099 R-135 a Reset of an execution that was taken over acts no more', async () => {
  const { runId, action } = await leftRun();
  const old = stage.client.workflow.getHandle(runId);
  const { runId: execution } = await old.describe();
  const { events } = await old.fetchHistory();
  const opened =
    events?.findIndex((each) => each.activityTaskCompletedEventAttributes != null) ?? 0;
  const point = events?.slice(opened).find((each) => each.workflowTaskCompletedEventAttributes);
  const run = await resumeRun(roomWith(stage.ledger), runId, ann);
  await eventually(
    'the takeover',
    async () => (await stage.ledger.read(runId)).opened?.epoch === 2,
  );

  // It replays the claim of the first epoch, and hears of the second in every reply.
  const eventId = Number(point?.eventId);
  await operatorOf(stage.client).reset(runId, { eventId, execution });
  await expect(run.result()).rejects.toMatchObject({ code: 'needs_resume' });
  expect(stage.effects).toEqual([action.actionId]);

  const again = await resumeRun(roomWith(stage.ledger), runId, { ...ann, id: 'again' });
  await answer(action);
  expect((await again.result()).end).toEqual({ kind: 'completed' });
  expect(stage.effects).toEqual([action.actionId, `${runId}.t2.c1`]);
  expect((await stage.ledger.read(runId)).opened?.epoch).toBe(3);
});

test('R-024 R-112 taken over from another workspace it acts for its own user', async () => {
  const { runId, action } = await leftRun();
  const seen: unknown[] = [];
  stage.behave['charge_card'] = async (_input, attempt) => {
    seen.push(attempt.principal);
    return { kind: 'executed', result: { ok: true } };
  };
  const eve = { actor: 'eve@w2', reason: 'ada is on leave' };
  const run = await resumeRun(roomWith(stage.ledger), runId, eve);
  await answer(action);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect(seen).toEqual([principal]);
  const bodies = (await factsOf(stage, runId)).map(({ body }) => body);
  const opened = bodies.flatMap((body) => (body.kind === 'run_opened' ? [body.principal] : []));
  expect(opened.length).toBeGreaterThan(1);
  expect(opened).toEqual(opened.map(() => principal));
  expect(bodies.filter((body) => 'actor' in body && body.actor === eve.actor)).toMatchObject([
    { kind: 'authority_changed', change: 'permit' },
  ]);
});

test('K-017 done and not to be seen yet: a resume looks, and does what is left', async () => {
  const runId = newRunId('unseen');
  let isVisible = false;
  stage.behave['read_note'] = async () => {
    if (!isVisible) throw new Error('it is not there yet');
    return { kind: 'executed', result: { seen: true } };
  };
  const names = ['charge_card', 'read_note', 'post_letter'];
  const steps = names.map((tool) => ({ tool, input: { runId } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const [published, looked, told] = [`${runId}.t1.c1`, `${runId}.t2.c1`, `${runId}.t3.c1`];
  await eventually('a look', async () => stage.effects.includes(looked));
  const before = await stage.ledger.read(runId);
  const action = before.actions.get(published);
  expect(action && axesOf(before, action)).toMatchObject({
    ...{ effect: 'complete', acceptance: 'not_evaluated', result: 'recorded' },
  });
  await handle.terminate('test');
  isVisible = true;
  const run = await resumeRun(roomWith(stage.ledger), runId, ann);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  const count = (actionId: string) => stage.effects.filter((each) => each === actionId).length;
  expect([count(published), count(told)]).toEqual([1, 1]);
});

function ledgerOf(): Ledger {
  const { ledger } = stage;
  return {
    identity: ledger.identity,
    read: (id) => ledger.read(id),
    facts: (id, range) => ledger.facts(id, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    transact: (look, decide) => ledger.transact(look, decide),
    close: () => ledger.close(),
  };
}
