// Terminate and `temporal workflow delete`: no end is recorded, the attempts run on, and the run is
// taken over by `resume`. Would catch: an effect of the old execution beside that of the new one,
// an old result that is lost, and a claim that somebody makes by himself.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ticketOf } from '../../core/authority.ts';
import type { Child } from '../../examples/support-desk/child.ts';
import { AGENT_RUN } from '../../workflows/messages.ts';
import { answerAs } from '../support/fault-person.ts';
import { asked, until } from '../support/fault-stage.ts';
import { type Operator, operatorOf } from '../support/operator.ts';
import {
  noticeOf,
  openZombieStage,
  type Step,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

const ann = { actor: 'ann@example.com', reason: 'it was terminated' };
const principal = { user: 'ada', workspace: 'w1' };

let stage: ZombieStage;
let operator: Operator;
let worker: Child;
beforeAll(async () => {
  stage = await openZombieStage();
  operator = operatorOf(stage.temporal);
  worker = await stage.worker(['runs', 'actions', 'inquiries', 'tools']);
});
afterAll(() => stage.close());

const add = (runId: string): Step => ({ tool: 'add', input: { counter: runId, delta: 1 } });

/** A run whose first step waits at its receiver; then it is terminated. */
async function terminatedInFlight(runId: string, steps: readonly Step[]): Promise<void> {
  await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t1.c1` });
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, steps);
  await untilHeld(steps[0]?.tool === 'add' ? stage.receiver : stage.gateway, runId);
  await operator.terminate(runId);
}

async function claims(runId: string) {
  const opened = await stage.bodies(runId, 'run_opened');
  return opened.map(({ epoch, claim }) => [epoch, claim.scope]);
}

const executed = async (runId: string) =>
  (await stage.receiver.effects()).filter(({ key }) => key.includes(`/${runId}.`)).length;

test('R-101 R-104 terminated and resumed: unknown, nothing more, then a late fact', async () => {
  const runId = 'silent';
  await terminatedInFlight(runId, [noticeOf(runId), add(runId)]);
  expect((await stage.client.state(runId)).phase).toBe('needs_resume');
  expect((await stage.client.inbox()).needResume).toContain(runId);
  const start = {
    goal: { kind: 'plan' as const, steps: [noticeOf(runId), add(runId)] },
    principal,
  };
  await expect(stage.client.start(runId, start)).rejects.toMatchObject({ code: 'needs_resume' });

  const run = await stage.client.resume(runId, ann);
  const question = await asked(stage.client, `${runId}.t1.c1`);
  expect(await claims(runId)).toEqual([
    [1, 'effects'],
    [2, 'facts'],
  ]);
  const claim = (await stage.bodies(runId, 'run_opened')).at(-1)?.claim;
  expect(claim?.oldExecutor).toContain(question.action.attemptIds[0]);
  expect([await stage.sent(runId), await executed(runId)]).toEqual([0, 0]);

  await stage.gateway.release();
  const result = await run.result();
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2, unknownsCount: 0 });
  expect(result.lateFacts).toMatchObject([{ actionId: `${runId}.t1.c1`, outcome: 'executed' }]);
  expect([await stage.sent(runId), await executed(runId)]).toEqual([1, 1]);
  expect((await claims(runId)).at(-1)).toEqual([2, 'effects']);
});

test('R-101 R-104 the claim of facts may ask the receiver, which refuses the old one', async () => {
  const runId = 'fenced';
  await terminatedInFlight(runId, [add(runId)]);
  const run = await stage.client.resume(runId, ann);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  const before = await stage.facts(runId);
  const asking = before.findIndex(({ source }) => source === 'receiver_inquiry');
  const kinds = before.map(({ body }) => (body.kind === 'run_opened' ? body.claim.scope : ''));
  expect(kinds.indexOf('facts')).toBeLessThan(asking);
  expect(asking).toBeLessThan(kinds.lastIndexOf('effects'));

  await stage.receiver.release();
  await until('the answer to the old request', WITHIN_MS, async () => {
    return (await stage.requests(runId)).length === 2;
  });
  const answers = (await stage.requests(runId)).map(({ answer }) => answer);
  expect(answers).toEqual(['executed', 'replayed']);
  expect(await executed(runId)).toBe(1);
});

test('R-101 an attempt of the old epoch that comes late to the gate sends nothing', async () => {
  const runId = 'late-at-the-gate';
  const actionId = `${runId}.t1.c1`;
  const goOn = stage.arm({ point: 'before_gate', about: actionId });
  await stage.start(runId, [noticeOf(runId)]);
  await worker.line(`REACHED before_gate ${actionId}`, WITHIN_MS);
  const [old] = await operator.pending(runId);
  await operator.terminate(runId);
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  const run = await stage.client.resume(runId, ann);
  await untilHeld(stage.gateway, runId);
  goOn();
  await worker.line(`PASSED before_gate ${actionId}`, WITHIN_MS);

  // Nobody may write for the old epoch: the ledger does not know the attempt.
  const attempts = [
    ...(await stage.bodies(runId, 'attempt_entered')),
    ...(await stage.bodies(runId, 'attempt_refused')),
  ].map(({ attemptId }) => attemptId);
  expect(attempts).toHaveLength(1);
  expect(attempts).not.toContain(old?.attemptId);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, lateFactsCount: 0 });
  expect(await stage.sent(runId)).toBe(1);
});

test('R-104 beside an unknown old executor only what was declared independent acts', async () => {
  const runId = 'independent';
  const independent = { onUnknown: 'continue' } as const;
  const [first, second] = [noticeOf(runId), add(runId)].map((step) => ({
    ...step,
    ...independent,
  }));
  await terminatedInFlight(runId, [first, second, add(runId)] as Step[]);
  const run = await stage.client.resume(runId, ann);
  await asked(stage.client, `${runId}.t1.c1`);
  await until('it waits with the third step', WITHIN_MS, async () => {
    const { live } = await stage.client.state(runId);
    return live?.phase === 'waiting' && (await executed(runId)) === 1;
  });
  expect(await claims(runId)).toEqual([
    [1, 'effects'],
    [2, 'facts'],
    [2, 'effects'],
  ]);
  expect(await stage.requests(runId)).toMatchObject([{ answer: 'executed' }]);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 3 });
  expect([await stage.sent(runId), await executed(runId)]).toEqual([1, 2]);
});

test('R-099 of two persons who take over one wins; a claim of one’s own is refused', async () => {
  const runId = 'claimed';
  await terminatedInFlight(runId, [noticeOf(runId)]);
  const { taskQueue } = await stage.temporal.workflow.getHandle(runId).describe();
  const goal = { kind: 'plan', steps: [noticeOf(runId)] };
  const args = [{ goal, principal, tools: null, ticket: 'ticket/of-my-own' }];
  const own = await stage.temporal.workflow.start(AGENT_RUN, {
    ...{ workflowId: runId, taskQueue, args },
  });
  const refused = { cause: { type: 'HoldfastNeedsResume' } };
  await expect(own.result()).rejects.toMatchObject(refused);

  const both = await Promise.allSettled(
    ['ann', 'bob'].map((actor) => stage.client.resume(runId, { ...ann, actor, id: actor })),
  );
  const statuses = both.map(({ status }) => status).sort();
  expect(statuses).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'still_open' },
  });
  await asked(stage.client, `${runId}.t1.c1`);
  // Terminated again: neither the ticket that is used nor the one of the same epoch opens it.
  await operator.terminate(runId);
  const used = (await stage.bodies(runId, 'run_opened')).at(-1)?.claim.ticket ?? '';
  for (const id of ['ann', 'bob'].filter((actor) => ticketOf(runId, actor) === used))
    await expect(stage.client.resume(runId, { ...ann, id })).rejects.toMatchObject({
      code: 'refused_by_ledger',
    });
  const left = await stage.client.resume(runId, { ...ann, actor: 'cid', id: 'cid' });
  await stage.gateway.release();
  expect(await left.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect((await claims(runId)).at(-1)).toEqual([3, 'effects']);
  expect(await stage.sent(runId)).toBe(1);
});

test('R-135 terminated with a question open: the answer is kept, resume adopts it', async () => {
  const runId = 'asked';
  const actionId = `${runId}.t1.c1`;
  await stage.gateway.arm({ fault: 'commit_then_drop_reply', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId), add(runId)]);
  const question = await asked(stage.client, actionId);
  await operator.terminate(runId);
  await answerAs(stage.client, question, 'yes', 'gateway log');
  await stage.temporal.workflow.getHandle(`unknown.${actionId}`).result();
  expect(await executed(runId)).toBe(0);
  const run = await stage.client.resume(runId, ann);
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 2 });
  expect([await stage.sent(runId), await executed(runId)]).toEqual([1, 1]);
});

test('R-135 deleted in flight: resume needs the start again, and doubles nothing', async () => {
  const runId = 'deleted';
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId)]);
  await untilHeld(stage.gateway, runId);
  await operator.remove(runId);
  await until('Temporal has forgotten it', WITHIN_MS, async () => {
    const { phase, workflow } = await stage.client.state(runId);
    return phase === 'needs_resume' && workflow === null;
  });
  await expect(stage.client.resume(runId, ann)).rejects.toMatchObject({ code: 'history_gone' });
  const other = { goal: { kind: 'plan' as const, steps: [add(runId)] }, principal };
  await expect(stage.client.resume(runId, { ...ann, start: other })).rejects.toMatchObject({
    code: 'other_goal',
  });
  const start = { goal: { kind: 'plan' as const, steps: [noticeOf(runId)] }, principal };
  const run = await stage.client.resume(runId, { ...ann, start });
  await asked(stage.client, `${runId}.t1.c1`);
  await stage.gateway.release();
  expect(await run.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(await stage.sent(runId)).toBe(1);
});
