// A revocation that reaches the run before anything else knows of it. Would catch: an attempt that
// the run had scheduled before, and that enters afterwards because the ledger shows no revoke yet.

import { expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import {
  eventually,
  factsOf,
  newRunId,
  startRun,
  workflowStage,
} from '../support/workflow-stage.ts';

const stage = workflowStage();
const revoke = { id: 'revoke-1', actor: 'ada', reason: 'wrong customer' };

function gateOf(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

test('R-109 a revoke only the run has heard of closes the gate of what is scheduled', async () => {
  const [attempt, ledger] = [gateOf(), gateOf()];
  stage.around.performAction = async (call, next) => {
    await attempt.opened;
    return next(call);
  };
  stage.around.recordFacts = async (call, next) => {
    if (call.kind === 'revoke') await ledger.opened;
    return next(call);
  };
  const runId = newRunId('revoked');
  const steps = [{ tool: 'charge_card', input: {} }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  await eventually('the attempt is delivered', async () =>
    stage.delivered.includes('performAction'),
  );
  await handle.signal('revoke', revoke);
  attempt.open();
  const refused = await eventually('its answer', async () => {
    const facts = await factsOf(stage, runId);
    return facts.find(({ body }) => /^attempt_(entered|refused)$/.test(body.kind))?.body;
  });
  expect(refused).toMatchObject({ kind: 'attempt_refused', verdict: 'attempt_not_current' });
  expect((await stage.ledger.read(runId)).revoked).toBe(false);
  ledger.open();
  expect(((await handle.result()) as RunResult).end).toEqual({
    kind: 'stopped',
    reason: 'revoked',
  });
  expect(stage.effects).toEqual([]);
});
