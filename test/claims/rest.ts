// When a check may be read: every run has ended, and what is still open is held as unknown, under a
// question that somebody can answer.

import { outcomeOf } from '../../core/action-status.ts';
import { unknownIdOf } from '../../core/ids.ts';
import { until } from '../support/fault-stage.ts';
import { type Operation, type Play, toolRows } from './operations.ts';
import type { ClaimStage } from './stage.ts';

export interface Patience {
  readonly withinMs: number;
  /** What can be settled without a person is waited for, or only until it has been asked about. */
  readonly patience: 'settled' | 'asked';
}

/** What is still not as it should be once the time is up; empty when all of it is. */
export async function untilAtRest(
  stage: ClaimStage,
  { ops, runIds }: Play,
  { withinMs, patience }: Patience,
): Promise<readonly string[]> {
  const restless = new Set(runIds);
  let why = '';
  const oneAfterAnother = async () => {
    for (const runId of restless) {
      const own = ops.filter((op) => op.runId === runId);
      const found = await restlessness(stage, { runId, ops: own, patience });
      if (found === null) restless.delete(runId);
      else {
        why = found;
        return false;
      }
    }
    return true;
  };
  try {
    await until('every run at rest', withinMs, oneAfterAnother);
    return [];
  } catch (error) {
    return [`${String(error)}; ${[...restless].join(', ')}: ${why}`];
  }
}

interface Resting {
  readonly runId: string;
  readonly ops: readonly Operation[];
  readonly patience: Patience['patience'];
}

/** Null: it is at rest. Else what it still does. */
async function restlessness(
  { ledger, temporal }: ClaimStage,
  { runId, ops, patience }: Resting,
): Promise<string | null> {
  const run = await ledger.read(runId);
  if (run.ended === null) return `${run.actions.size} of ${ops.length} steps begun`;
  for (const { id, tool } of ops) {
    const action = run.actions.get(id);
    if (action === undefined || outcomeOf(action) !== null) continue;
    const { open } = toolRows[tool];
    if (open === 'settles' && patience === 'settled') return `${id} has no end yet`;
    const isAsked = action.observations.some(({ about }) => about === 'inquiry');
    if (open !== 'stays' && !isAsked) return `nobody was asked about ${id} yet`;
    const question = await temporal.workflow
      .getHandle(unknownIdOf(id))
      .describe()
      .then(
        ({ status }) => status.name,
        () => 'not there',
      );
    if (question !== 'RUNNING') return `the question about ${id} is ${question}`;
  }
  return null;
}
