// A goal that is amended while the worker dies at every step of it. Would catch: an amendment that
// is lost or made twice, a step of the old goal after it, one of the new goal that is done twice,
// and facts of the old goal that are written anew.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { ALL, type AuthorityStage, ann, openAuthorityStage } from '../support/authority-stage.ts';
import { until } from '../support/fault-stage.ts';
import type { Stand } from '../support/stand-points.ts';
import { untilHeld, WITHIN_MS } from '../support/zombie-stage.ts';

let stage: AuthorityStage;
let worker: Child;
beforeAll(async () => {
  stage = await openAuthorityStage();
  worker = await stage.worker(ALL);
});
afterAll(() => stage.close());

const OLD = 'old';
const NEW = 'new';
const planOf = (runId: string, goal: string) => ({
  kind: 'plan' as const,
  steps: [1, 2].map((n) => ({
    tool: 'add',
    input: { counter: `${runId}-${goal}-${n}`, delta: 1 },
  })),
});

/** Where the worker stands when it is killed, by run. */
const stands: Readonly<Record<string, readonly [Stand['point'], position: string | null]>> = {
  recording: ['before_amend', null],
  'on-record': ['after_amend', null],
  'old-done': ['after_result', 't1.c1'],
  'new-at-the-gate': ['before_gate', 'b2.t1.c1'],
  'new-entered': ['after_gate', 'b2.t1.c1'],
  'new-done': ['after_result', 'b2.t1.c1'],
  /** Amended by the client, ledger first, while no worker runs. */
  'while-away': ['after_result', 't1.c1'],
};
const runIds = Object.keys(stands);

async function amendments(runId: string): Promise<number> {
  const changes = await stage.bodies(runId, 'authority_changed');
  return changes.filter(({ change }) => change === 'amend').length;
}

/** The run has decided on everything that it has heard of, and has only this scheduled. */
function idleBut(runId: string, activity: string): Promise<true> {
  return until(`${runId} with nothing but ${activity}`, WITHIN_MS, async () => {
    const { raw } = await stage.temporal.workflow.getHandle(runId).describe();
    const types = (await stage.operator.pending(runId)).map(({ type }) => type);
    return raw.pendingWorkflowTask == null && types.length === 1 && types[0] === activity;
  });
}

test('R-098 amended, and killed at each step of it: old facts stay, new steps once', async () => {
  for (const [runId, [point, position]] of Object.entries(stands)) {
    const about = position === null ? runId : `${runId}.${position}`;
    stage.arm({ point, about });
    await stage.receiver.arm({ fault: 'hold', keyIncludes: `/${runId}.t1.c1` });
    await stage.begin(runId, planOf(runId, OLD));
  }
  for (const runId of runIds) await untilHeld(stage.receiver, runId);
  const command = (runId: string) => ({ id: `amend-${runId}`, ...ann, goal: planOf(runId, NEW) });
  const amended = runIds.filter((runId) => runId !== 'while-away');
  for (const runId of amended)
    await stage.temporal.workflow.getHandle(runId).signal('amend', command(runId));
  for (const runId of amended.filter((each) => each !== 'recording'))
    await until(`${runId} amended`, WITHIN_MS, async () => (await amendments(runId)) === 1);
  await stage.receiver.release();
  for (const [runId, [point, position]] of Object.entries(stands)) {
    const about = position === null ? runId : `${runId}.${position}`;
    await worker.line(`REACHED ${point} ${about}`, WITHIN_MS);
  }
  await idleBut('recording', 'recordFacts');
  const facts = new Map<string, string>();
  await worker.kill();
  for (const runId of runIds) facts.set(runId, JSON.stringify(await stage.facts(runId)));
  await stage.client.amend('while-away', command('while-away'));
  worker = await stage.worker(ALL);

  for (const runId of runIds) {
    const result = await stage.client.result(runId);
    expect([runId, result.end]).toEqual([runId, { kind: 'completed' }]);
    expect(result.effects.map(({ actionId }) => actionId)).toEqual(
      ['t1.c1', 'b2.t1.c1', 'b2.t2.c1'].map((position) => `${runId}.${position}`),
    );
    // Each with the hash of the one before it.
    const before = JSON.parse(facts.get(runId) ?? '') as readonly object[];
    expect((await stage.facts(runId)).slice(0, before.length)).toEqual(before);
    expect([runId, await amendments(runId)]).toEqual([runId, 1]);
    expect(await stage.arrived(`${runId}.t2.c1`)).toEqual([]);
  }
  // Of the receiver's own counters, each new one stands at 1, and none of the second old steps.
  const counters = (await stage.receiver.objects('add')) as object;
  const of = (goal: string, n: number) =>
    runIds.map((runId) => expect.objectContaining({ name: `${runId}-${goal}-${n}`, value: 1 }));
  expect(Object.values(counters).flat()).toEqual(
    expect.arrayContaining([...of(OLD, 1), ...of(NEW, 1), ...of(NEW, 2)]),
  );
  expect(JSON.stringify(counters)).not.toContain(`-${OLD}-2`);
});
