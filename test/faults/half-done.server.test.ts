// Would catch: what a receiver has half done, begun again from the beginning, by a run that goes on
// or by one whose worker was killed on the way. Counts are the receiver's own.

import { expect, test } from 'vitest';
import { caseStage } from '../support/case-stage.ts';
import { until } from '../support/fault-stage.ts';

const WITHIN_MS = 60_000;
const cases = caseStage(() => []);
const publish = (name: string) => ({ tool: 'publish_on', input: { name } });
const lines = async (name: string) => {
  const { sent } = cases();
  return [await sent(`file ${name}"`), await sent(`registry ${name}"`)];
};

async function settled(runId: string): Promise<readonly (string | undefined)[]> {
  const { actions } = await cases().stage.ledger.read(runId);
  return actions.get(`${runId}.t1.c1`)?.attempts.map((each) => each.settled?.outcome) ?? [];
}

test('R-013 D14 half done, it goes on under the same key: the file is written once', async () => {
  const { stage, plan } = cases();
  await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: 'registry on-1' });
  const run = await plan('on-1', [publish('on-1')]);
  expect(await run.result()).toMatchObject({
    end: { kind: 'completed' },
    effects: [{ actionId: 'on-1.t1.c1', outcome: 'executed', externalId: 'on-1' }],
  });
  expect(await lines('on-1')).toEqual([1, 1]);
  expect(await settled('on-1')).toEqual(['partial', 'executed']);
  const log = JSON.stringify(await stage.gateway.log());
  const keys = new Set(log.match(/faults\/[^"]*on-1\.t1\.c1/g));
  expect(keys.size).toBe(1);
});

test('R-013 killed while it goes on, it goes on again, and never begins anew', async () => {
  const { stage, plan } = cases();
  await stage.gateway.arm({ fault: 'drop_before_commit', bodyIncludes: 'registry on-2' });
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: 'registry on-2' });
  const worker = await stage.worker();
  const run = await plan('on-2', [publish('on-2')]);
  await until('the second half at its receiver', WITHIN_MS, async () => {
    return (await stage.gateway.faults()).held.length === 1;
  });
  await worker.kill();
  expect((await stage.client.state('on-2')).recorded?.actions).toMatchObject([{ word: 'partial' }]);
  await stage.worker();
  expect((await run.result()).end).toEqual({ kind: 'completed' });
  expect(await lines('on-2')).toEqual([1, 1]);
  expect(await settled('on-2')).toEqual(['partial', 'partial', 'executed']);
});
