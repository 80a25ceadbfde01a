// Would catch: an effect that is doubled, lost or forgotten when the worker dies or a reply is
// lost. Effects are counted in the receivers' own logs; processes and SIGKILL are real.

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type FaultStage, openFaultStage } from '../support/fault-stage.ts';
import { play, problemsOf } from './harness.ts';
import { type Scenario, scenarios } from './scenarios.ts';

let stage: FaultStage;
beforeAll(async () => {
  const { address, namespace } = inject('temporal');
  stage = await openFaultStage({ address, namespace, bundlePath: inject('bundlePath') });
});
afterAll(() => stage.close());

const rows = scenarios.map((scenario, index): [string, Scenario, number] => [
  scenario.title,
  scenario,
  index,
]);

describe('R-033 R-045 R-051 R-052 R-053 R-055 each fault once', () => {
  test.each(rows)('%s', async (_, scenario, index) => {
    const observed = await play(stage, scenario, { runId: `fault-${index}`, victim: 1 });
    expect(problemsOf(scenario, observed)).toEqual([]);
  });
});
