// Cases from the field in which a call was left without a result. Would catch: an answer that is
// made up for it, a result at the wrong call, something that is "running" for ever, and parts of an
// effect that are done again. Counts are the receivers' own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { caseStage } from '../support/case-stage.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const add = (counter: string, delta: number) => ({ tool: 'add', input: { counter, delta } });

const cases = caseStage(
  (instructions, turn) => {
    if (turn === 1) return [add(`${instructions}-a`, 10), add(`${instructions}-b`, 20)];
    return turn === 2 ? [add(`${instructions}-c`, 30)] : [];
  },
  { HOLDFAST_START_TO_CLOSE_MS: '10000' },
);

const held = (part: string) =>
  until(`a request of ${part} at the receiver`, WITHIN_MS, async () => {
    return (await cases().stage.receiver.faults()).held.some(({ key }) => key.includes(part));
  });

test('K-088 K-091 results in reverse, all calls named alike: each at its own', async () => {
  const { stage, start, model } = cases();
  const runId = 'reverse';
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `${runId}.t1.c1` });
  const run = await start(runId, { kind: 'model', instructions: runId });
  await held(`${runId}.t1.c1`);
  await until('the result of the second call', WITHIN_MS, async () => {
    return (await stage.ledger.read(runId)).actions.get(`${runId}.t1.c2`)?.final != null;
  });
  await stage.receiver.release(`${runId}.t1.c1`);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  const last = model.asked(runId).at(-1) ?? [];
  const called = last.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
  expect(called).toEqual(['call_t1_c1', 'call_t1_c2', 'call_t2_c1']);
  const results = last.filter(({ role }) => role === 'tool');
  expect(results.map(({ tool_call_id, content }) => [tool_call_id, content])).toEqual([
    ['call_t1_c1', JSON.stringify({ value: 10 })],
    ['call_t1_c2', JSON.stringify({ value: 20 })],
    ['call_t2_c1', JSON.stringify({ value: 30 })],
  ]);
});

test('K-089 killed with one queued, one sent, one unrecorded: none stays running', async () => {
  const { stage, plan, sent, effects } = cases();
  const [queued, sentOne, unrecorded] = ['k89-queued', 'k89-sent', 'k89-unrecorded'] as const;
  stage.arm({ point: 'before_gate', actionId: `${queued}.t1.c1` });
  stage.arm({ point: 'after_gate', actionId: `${sentOne}.t1.c1` });
  stage.arm({ point: 'after_receiver_commit', actionId: `${unrecorded}.t1.c1` });
  const worker = await stage.worker();
  await plan(queued, [{ tool: 'create_once', input: { name: queued } }]);
  const notice = { to: 'lead@example.com', subject: sentOne, body: '' };
  const asking = await plan(sentOne, [{ tool: 'send_notice', input: notice }]);
  await plan(unrecorded, [{ tool: 'create_once', input: { name: unrecorded } }]);
  for (let reached = 0; reached < 3; reached++) await worker.line('REACHED ', WITHIN_MS);
  await worker.kill();
  const word = async (runId: string) =>
    (await stage.client.state(runId)).recorded?.actions[0]?.word ?? 'not submitted';
  expect(await word(queued)).toBe('not submitted');

  await stage.worker();
  const question = await asked(stage.client, `${sentOne}.t1.c1`);
  expect(await word(sentOne)).toBe('unknown');
  for (const runId of [queued, unrecorded]) {
    expect(await stage.client.result(runId)).toMatchObject({ end: { kind: 'completed' } });
    expect(await word(runId)).toBe('finished');
    expect(await effects(`${runId}.t1.c1`)).toBe(1);
  }
  await answerAs(stage.client, question, 'no', 'gateway log, whole');
  expect(await asking.result()).toMatchObject({ end: { kind: 'completed' } });
  expect(await sent(sentOne)).toBe(1);
});

test('K-092 killed before the output was recorded: the content of the file tells', async () => {
  const { stage, plan, directory } = cases();
  const written = { tool: 'create_file', input: { path: 'k92.txt', content: 'after' } };
  stage.arm({ point: 'after_receiver_commit', actionId: 'k92.t1.c1' });
  const worker = await stage.worker();
  const run = await plan('k92', [written]);
  await worker.line('REACHED ', WITHIN_MS);
  await worker.kill();
  await stage.worker();
  expect(await run.result()).toMatchObject({
    end: { kind: 'completed' },
    effects: [{ outcome: 'executed_result_missing' }],
  });
  expect(readFileSync(join(directory, 'k92.txt'), 'utf8')).toBe('after');
  const [attempt, ...more] =
    (await stage.ledger.read('k92')).actions.get('k92.t1.c1')?.attempts ?? [];
  expect(more).toEqual([]);
  expect(attempt?.settled?.objectVersion).toMatch(/^sha256:/);
});

test('R-013 the file is written, not registered: told as parts, never redone', async () => {
  const { stage, plan, sent } = cases();
  const publish = (name: string) => ({ tool: 'publish', input: { name } });
  const parts = [
    { name: 'file', state: 'confirmed' },
    { name: 'registration', state: 'unconfirmed' },
  ];
  await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: 'registry half' });
  const half = await plan('half', [publish('half'), add('half', 1)]);
  expect(await half.result()).toMatchObject({
    end: { kind: 'stopped', reason: 'blocked' },
    effects: [{ actionId: 'half.t1.c1', outcome: 'partial', externalId: 'half' }],
  });
  const finalOf = async (runId: string) =>
    (await stage.ledger.read(runId)).actions.get(`${runId}.t1.c1`)?.final;
  expect(await finalOf('half')).toMatchObject({ kind: 'partial', parts });
  const again = await plan('half', [publish('half'), add('half', 1)]);
  expect(await again.result()).toEqual(await half.result());

  // Killed between the two: the question waits until a look at the receiver tells the parts.
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: 'registry cut' });
  const worker = await stage.worker();
  const cut = await plan('cut', [publish('cut'), add('cut', 1)]);
  await until('the file of the second', WITHIN_MS, async () => {
    return (await stage.gateway.faults()).held.length === 1;
  });
  await worker.kill();
  expect((await stage.client.state('cut')).recorded?.actions).toMatchObject([{ word: 'running' }]);
  await stage.worker();
  expect(await cut.result()).toMatchObject({ end: { kind: 'stopped', reason: 'blocked' } });
  expect(await finalOf('cut')).toMatchObject({ kind: 'partial', parts });
  for (const name of ['half', 'cut']) {
    expect([await sent(`file ${name}`), await sent(`registry ${name}`)]).toEqual([1, 0]);
    const [action] = (await stage.client.state(name)).recorded?.actions ?? [];
    expect(action).toMatchObject({ word: 'partial', axes: { effect: 'partial' } });
  }
});

test('K-001 the first is healthy and slow: its door is closed, then the next goes', async () => {
  const { stage, plan, effects } = cases();
  const actionId = 'k1.t1.c1';
  await stage.receiver.arm({ fault: 'hold', keyIncludes: actionId });
  const run = await plan('k1', [{ tool: 'create_record', input: { name: 'k1' } }]);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  const { released, statuses } = await stage.receiver.release(actionId);
  expect([released, statuses]).toEqual([1, [200]]);
  const { kinds, answers } = { kinds: [] as string[], answers: [] as (string | null)[] };
  for (const { kind, key, answer } of await stage.receiver.requests())
    if (key.endsWith(actionId)) {
      kinds.push(kind);
      answers.push(answer);
    }
  expect(kinds).toEqual(['close', 'execute', 'execute']);
  expect(answers).toEqual(['not_executed', 'executed', 'replayed']);
  expect(await effects(actionId)).toBe(1);
  const action = await until('the late result of the first', WITHIN_MS, async () => {
    const [found] = (await stage.client.state('k1')).recorded?.actions ?? [];
    return found?.attempts.every(({ state }) => state === 'executed') ? found : null;
  });
  expect(action.axes.disputed).toBe(false);
  const ids = action.attempts.map(({ attemptId }) => attemptId);
  expect(new Set(ids).size).toBe(2);
  expect(ids.every((id) => id.startsWith(`${actionId}~`))).toBe(true);
  expect(action.cost).toMatchObject({ unknownAttempts: 0 });
});

test('K-014 twenty effects replayed without receivers: same end, no call', async () => {
  const { stage, temporal, plan } = cases();
  const steps = Array.from({ length: 20 }, () => add('k14', 1));
  const run = await plan('k14', steps);
  const before = await run.result();
  expect(before).toMatchObject({ end: { kind: 'completed' }, effectsCount: 20 });
  const { head } = await stage.ledger.read('k14');
  await Promise.all([stage.receiver.kill(), stage.gateway.kill()]);

  const again = await plan('k14', steps);
  expect(again.how).toBe('ended');
  const { events } = await temporal.workflow.getHandle('k14').fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  const { runId } = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId: 'k14' },
    reason: 'replay',
    requestId: 'k14-replay',
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
  expect(await temporal.workflow.getHandle('k14', runId).result()).toEqual(before);
  expect((await stage.ledger.read('k14')).head).toEqual(head);
});
