// Rounds of runs, one side after the other in an order drawn from the seed, so that what else the
// machine does meanwhile meets both.

import type { Client, WorkflowHandle } from '@temporalio/client';
import { runResultSchema } from '../core/outcome.ts';
import {
  type HistoryEvent,
  type MeasuredRun,
  type SideFigures,
  sideFigures,
  stepLatenciesMs,
} from './figures.ts';
import type { Addition } from './raw-step.ts';
import { type BenchStage, queues } from './stage.ts';

export interface BenchConfig {
  /** Per run; at least 2. */
  readonly steps: number;
  readonly rounds: number;
  /** Runs of a side at the same time. */
  readonly lanes: number;
  readonly seed: number;
}

export type Side = 'protected' | 'raw';

interface Request {
  readonly side: Side;
  readonly runId: string;
  readonly steps: number;
}

const activityTypes = { protected: 'performAction', raw: 'rawStep' } as const;

/** Throws when a run does not complete or the receiver has another number of effects. */
export async function runRounds(
  stage: BenchStage,
  config: BenchConfig,
): Promise<Record<Side, SideFigures>> {
  const { steps, rounds, lanes, seed } = config;
  const warmUps = {
    protected: await finished(stage.client, { side: 'protected', runId: 'warm-p', steps: 1 }),
    raw: await finished(stage.client, { side: 'raw', runId: 'warm-r', steps: 1 }),
  };
  const runs: Record<Side, MeasuredRun[]> = { protected: [], raw: [] };
  const busyMs: Record<Side, number> = { protected: 0, raw: 0 };
  const random = randomFrom(seed);
  for (let round = 1; round <= rounds; round++) {
    const order: Side[] = random() < 0.5 ? ['protected', 'raw'] : ['raw', 'protected'];
    for (const side of order) {
      const ids = Array.from({ length: lanes }, (_, lane) => `${side}-${round}-${lane + 1}`);
      const began = performance.now();
      const done = ids.map((runId) => ended(stage.client, { side, runId, steps }));
      const handles = await Promise.all(done);
      busyMs[side] += performance.now() - began;
      for (const handle of handles) runs[side].push(await measured(handle, side, steps));
    }
  }
  const effects = await stage.effects();
  const figures = (side: Side) => {
    const counted = effects.get(side) ?? 0;
    const wanted = rounds * lanes * steps + 1;
    if (counted !== wanted) throw new Error(`${side}: ${counted} effects for ${wanted} steps`);
    const measurements = { warmUp: warmUps[side], runs: runs[side], busyMs: busyMs[side] };
    return sideFigures({ ...measurements, effects: counted });
  };
  return { protected: figures('protected'), raw: figures('raw') };
}

async function finished(client: Client, request: Request): Promise<MeasuredRun> {
  return measured(await ended(client, request), request.side, request.steps);
}

async function ended(client: Client, { side, runId, steps }: Request): Promise<WorkflowHandle> {
  const additions: Addition[] = Array.from({ length: steps }, () => ({ counter: side, delta: 1 }));
  if (side === 'raw') {
    const options = { workflowId: runId, taskQueue: queues.raw, args: [additions] };
    const handle = await client.workflow.start('rawRun', options);
    await handle.result();
    return handle;
  }
  const goal = { kind: 'plan', steps: additions.map((input) => ({ tool: 'add', input })) };
  const principal = { user: 'bench', workspace: 'bench' };
  const handle = await client.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue: queues.guarded,
    args: [{ goal, principal, tools: null, ticket: null }],
  });
  const { end } = runResultSchema.parse(await handle.result());
  if (end.kind !== 'completed') throw new Error(`${runId} ended as ${JSON.stringify(end)}`);
  return handle;
}

async function measured(handle: WorkflowHandle, side: Side, steps: number): Promise<MeasuredRun> {
  const { historySize, historyLength } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const latenciesMs = stepLatenciesMs((events ?? []) as HistoryEvent[], activityTypes[side]);
  if (latenciesMs.length !== steps)
    throw new Error(`${handle.workflowId}: ${latenciesMs.length} of ${steps} steps in its history`);
  return { steps, latenciesMs, historyBytes: historySize ?? 0, historyEvents: historyLength };
}

/** mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
