// Would catch: a retry that a person allowed while nobody knew what had become of the first
// request, and that is sent although its success has come to light meanwhile.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../examples/support-desk/child.ts';
import { asked, until } from '../support/fault-stage.ts';
import { operatorOf } from '../support/operator.ts';
import {
  noticeOf,
  openZombieStage,
  untilHeld,
  WITHIN_MS,
  type ZombieStage,
} from '../support/zombie-stage.ts';

let stage: ZombieStage;
let worker: Child;
beforeAll(async () => {
  stage = await openZombieStage();
  worker = await stage.worker(['runs', 'actions', 'inquiries', 'tools']);
});
afterAll(() => stage.close());

test('R-110 a late success closes the gate to the retry that was allowed', async () => {
  const runId = 'allowed-too-late';
  const actionId = `${runId}.t1.c1`;
  const operator = operatorOf(stage.temporal);
  await stage.gateway.arm({ fault: 'hold', bodyIncludes: ` ${runId} ` });
  await stage.start(runId, [noticeOf(runId, 'steady_notice')]);
  await untilHeld(stage.gateway, runId);
  const [first] = await operator.pending(runId);
  await operator.fail({ runId, attemptId: first?.attemptId ?? '' }, 'pressed by mistake');
  const { if_yes } = await asked(stage.client, actionId);

  const goOn = stage.arm({ point: 'before_gate', about: actionId, clock: 'stood' });
  await stage.client.resolve(runId, {
    ...{ id: 'again-1', actor: 'ann@example.com', reason: 'it has to go out', actionId },
    ...{ recordVersion: if_yes.recordVersion, verb: 'authorize_retry' },
    acceptsPossibleDuplicate: true,
  });
  await worker.line(`REACHED before_gate ${actionId}`, WITHIN_MS);
  await stage.gateway.release();
  await until('the late success', WITHIN_MS, async () => {
    return (await stage.bodies(runId, 'attempt_settled')).length === 1;
  });
  goOn();
  await worker.line(`PASSED before_gate ${actionId}`, WITHIN_MS);

  const result = await stage.client.result(runId);
  expect(result).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1, unknownsCount: 0 });
  const refused = await stage.bodies(runId, 'attempt_refused');
  expect(refused).toMatchObject([{ verdict: 'already_final' }]);
  expect(await stage.sent(runId)).toBe(1);
});
