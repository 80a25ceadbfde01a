// Would catch: a run that comes back from its records as another one than it was: a step left out,
// made twice, in another order, or decided otherwise.

import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { maskedRecord } from '../support/masked-record.ts';

const STEPS = 12;
const REACHED_MS = 90_000;
const principal = { user: 'ada', workspace: 'w1' };
const goal = {
  kind: 'plan' as const,
  steps: Array.from({ length: STEPS }, (_, n) => ({
    tool: 'create_record',
    input: { name: `step ${n + 1}` },
  })),
};

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

async function recordOf(runId: string) {
  const facts = await stage.ledger.facts(runId, { after: 0, limit: 1_000 });
  return maskedRecord(runId, facts);
}

/** Positions in the order in which their effects came. */
async function effectsOf(runId: string): Promise<readonly string[]> {
  const effects = await stage.receiver.effects();
  const own = effects.filter(({ key }) => key.includes(`/${runId}.`));
  return own.map(({ key }) => key.slice(key.indexOf(`/${runId}.`) + runId.length + 2));
}

test('R-076 R-077 SIGKILL at any of 12 steps: the record is that of a straight run', async () => {
  const worker = await stage.worker();
  const straight = await stage.client.start('straight', { goal, principal });
  expect((await straight.result()).end).toEqual({ kind: 'completed' });

  const broken = Array.from({ length: STEPS }, (_, index) => index + 1);
  const runs = [];
  for (const n of broken) {
    stage.arm({ point: 'after_result', actionId: `broken-${n}.t${n}.c1` });
    runs.push(await stage.client.start(`broken-${n}`, { goal, principal }));
  }
  // Each stands still at a step of its own; one SIGKILL then ends them all.
  for (const n of broken) await worker.line(`REACHED after_result broken-${n}.`, REACHED_MS);
  await worker.kill();
  for (const n of broken) {
    const { actions, ended } = await stage.ledger.read(`broken-${n}`);
    expect([n, actions.size, ended]).toEqual([n, n, null]);
  }
  await stage.worker();
  const record = await recordOf('straight');
  const order = await effectsOf('straight');
  expect(order).toHaveLength(STEPS);
  for (const [index, run] of runs.entries()) {
    expect((await run.result()).end).toEqual({ kind: 'completed' });
    expect(await recordOf(run.runId), `killed at step ${index + 1}`).toEqual(record);
    expect(await effectsOf(run.runId)).toEqual(order);
  }
}, 240_000);
