// Would catch: a batch that is continued as new halfway, results too large for history, effects as
// local activities.

import { expect, test } from 'vitest';
import type { RunResult } from '../../core/outcome.ts';
import { impatientServer } from '../support/impatient-server.ts';
import { newRunId, startRun, workflowStage } from '../support/workflow-stage.ts';

const stage = workflowStage({ server: () => impatientServer(20), maxCachedWorkflows: 0 });

async function isContinued(runId: string, first: string): Promise<boolean> {
  return (await stage.client.workflow.getHandle(runId).describe()).runId !== first;
}

test('R-018 R-118 a batch is never cut: the run continues between its turns', async () => {
  const runId = newRunId('batch');
  let waiting = 0;
  let letGo: () => void = () => undefined;
  const together = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  // The last sibling is under way until the others have made the history long enough to continue.
  stage.behave['charge_card'] = async (_input, { actionId }) => {
    if (actionId === `${runId}.t1.c6`) await together;
    else if (++waiting === 5) letGo();
    return { kind: 'executed', result: actionId };
  };
  stage.turns = (turn) => {
    const calls = Array.from({ length: 6 }, (_, n) => ({
      tool: 'charge_card',
      input: { n, turn },
    }));
    return turn === 1 ? { text: '', calls } : { text: 'done', calls: [] };
  };
  const handle = await startRun(stage, runId, { kind: 'model', instructions: 'do it' });
  const { runId: first } = await handle.describe();
  const result = (await handle.result()) as RunResult;
  expect(result.end).toEqual({ kind: 'completed' });
  expect(await isContinued(runId, first)).toBe(true);
  expect([...stage.effects].sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `${runId}.t1.c${n}`));
  const { events } = await stage.client.workflow.getHandle(runId, first).fetchHistory();
  const scheduled = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes);
  const closed = (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes);
  expect(closed.length).toBe(scheduled.length);
});

test('K-050 a result of 3 MB is recorded once, and the run goes on', async () => {
  stage.behave['charge_card'] = async () => ({ kind: 'executed', result: 'x'.repeat(3_000_000) });
  const runId = newRunId('large');
  const steps = [{ tool: 'charge_card', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  expect(await handle.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
  const { actions } = await stage.ledger.read(runId);
  const result = actions.get(`${runId}.t1.c1`)?.final?.resultRef;
  expect(result).toMatchObject({ bytes: 3_000_002 });
  expect((await stage.ledger.payload(result?.digest ?? 'sha256:'))?.length).toBe(3_000_002);
  const { events } = await stage.client.workflow.getHandle(runId).fetchHistory();
  expect(JSON.stringify(events).length).toBeLessThan(1_000_000);
});

test('K-050 a result too large for the ledger is cut to its digest, not repeated', async () => {
  stage.behave['charge_card'] = async () => ({ kind: 'executed', result: 'x'.repeat(9_000_000) });
  const runId = newRunId('huge');
  const steps = [{ tool: 'charge_card', input: { runId } }];
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  expect(await handle.result()).toMatchObject({ end: { kind: 'completed' }, effectsCount: 1 });
  expect(stage.effects).toEqual([`${runId}.t1.c1`]);
});

test('K-052 no activity of a run is a local one: nothing acts inside a workflow task', async () => {
  const runId = newRunId('markers');
  const steps = [1, 2].map((n) => ({ tool: 'charge_card', input: { n } }));
  const handle = await startRun(stage, runId, { kind: 'plan', steps });
  const { runId: first } = await handle.describe();
  await handle.result();
  const { events } = await stage.client.workflow.getHandle(runId, first).fetchHistory();
  const markers = (events ?? []).flatMap(({ markerRecordedEventAttributes: marker }) =>
    marker === null || marker === undefined ? [] : [marker.markerName],
  );
  // A local activity leaves nothing but a marker; `patched` leaves one too.
  expect(markers.filter((name) => name !== 'core_patch')).toEqual([]);
  expect(stage.effects.length).toBeGreaterThan(0);
});
