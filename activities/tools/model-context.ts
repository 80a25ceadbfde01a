// The context of a model turn as it is stored: digests of what was said and what came of it, so
// that it stays small however long the run gets. Built from the ledger's facts alone; pure.

import * as z from 'zod';
import { outcomeOf } from '../../core/action-status.ts';
import { type Digest, digestSchema } from '../../core/digest.ts';
import {
  actionIdOf,
  branchOf,
  branchPosition,
  callPosition,
  modelPosition,
} from '../../core/ids.ts';
import type { ActionState, RunState } from '../../core/run-state.ts';
import { type Binding, bindingSchema } from '../../core/tool-policy.ts';
import { type Told, toldAsLate, toldOf, toldSchema } from './model-told.ts';

const turnSchema = z.strictObject({
  turn: z.number().int().positive(),
  /** The stored reply; null: it is missing, and nothing is guessed in its place. */
  reply: digestSchema.nullable(),
  /** In the order of the reply's calls. */
  calls: z.array(z.strictObject({ position: z.string(), told: toldSchema })),
});
type Turn = z.infer<typeof turnSchema>;

/** What was done for a goal that does not hold any more. */
const earlierSchema = z.strictObject({
  goal: digestSchema,
  /** Of a goal for a model. */
  turns: z.array(turnSchema),
  /** Steps of a plan that came as far as the gate; the others were never asked for. */
  steps: z.array(
    z.strictObject({
      position: z.string(),
      tool: z.string(),
      input: digestSchema.nullable(),
      told: toldSchema,
    }),
  ),
});
export type EarlierGoal = z.infer<typeof earlierSchema>;

export const modelContextSchema = z.strictObject({
  kind: z.literal('model_context'),
  goal: digestSchema,
  turn: z.number().int().positive(),
  tools: z.array(bindingSchema),
  turns: z.array(turnSchema),
  /** Requests of this turn whose replies are missing. */
  repliesMissing: z.number().int().nonnegative(),
  /** Oldest first; left out: the goal was never changed. */
  earlier: z.array(earlierSchema).optional(),
});
export type ModelContext = z.infer<typeof modelContextSchema>;

export interface ContextAsk {
  readonly run: RunState;
  /** Revision of the goal that the turn belongs to. */
  readonly branch: number;
  readonly turn: number;
  /** What the model may call. */
  readonly tools: readonly Binding[];
}

/** Digest of the goal with that revision; null where the ledger has none. */
export function goalOfBranch(run: RunState, branch: number): Digest | null {
  if (run.opened === null) return null;
  const ref = branch === 1 ? run.opened.goal : run.amendedGoals[branch - 2];
  return ref?.digest ?? null;
}

/** Throws when the goal is not in the ledger: then nothing asks for a context. */
export function modelContextOf({ run, branch, turn, tools }: ContextAsk): ModelContext {
  const goal = goalOfBranch(run, branch);
  if (goal === null)
    throw new Error(`run "${run.runId}" has no goal ${branch} in the ledger; open it before`);
  const own = actionAt(run, branch, modelPosition(turn));
  return {
    kind: 'model_context',
    goal,
    turn,
    tools: [...tools],
    turns: turnsOf(run, branch, turn - 1),
    repliesMissing: own?.attempts.filter(mayHaveBeenAnswered).length ?? 0,
    ...(branch === 1 ? {} : { earlier: earlierOf(run, branch) }),
  };
}

function mayHaveBeenAnswered({ settled }: ActionState['attempts'][number]): boolean {
  return settled === null || settled.outcome === 'executed';
}

function earlierOf(run: RunState, branch: number): EarlierGoal[] {
  const earlier: EarlierGoal[] = [];
  for (let each = 1; each < branch; each++) {
    const goal = goalOfBranch(run, each);
    if (goal === null) throw new Error(`run "${run.runId}" has no goal ${each} in the ledger`);
    const turns = turnsOf(run, each, lastTurnOf(run, each));
    const asked = turns.filter(({ reply, turn }) => reply !== null || wentOut(run, each, turn));
    earlier.push({ goal, turns: asked, steps: turns.length > 0 ? [] : stepsOf(run, each) });
  }
  return earlier;
}

function wentOut(run: RunState, branch: number, turn: number): boolean {
  const action = actionAt(run, branch, modelPosition(turn));
  return action?.attempts.some(mayHaveBeenAnswered) === true;
}

/** 0 for a plan: it has no model calls. */
function lastTurnOf(run: RunState, branch: number): number {
  let turn = 0;
  while (actionAt(run, branch, modelPosition(turn + 1)) !== undefined) turn++;
  return turn;
}

function stepsOf(run: RunState, branch: number): EarlierGoal['steps'] {
  return [...run.actions.values()].flatMap((action) => {
    const position = positionOf(run, action);
    if (branchOf(position) !== branch) return [];
    const entry = action.attempts[0]?.entry;
    const refusal = action.refusals.at(-1);
    const tool = entry?.binding.tool ?? refusal?.tool ?? 'an unknown tool';
    const input = (entry?.payload ?? refusal?.payload)?.digest ?? null;
    return [{ position, tool, input, told: toldIn(run, action) }];
  });
}

function positionOf({ runId }: RunState, { actionId }: ActionState): string {
  return actionId.slice(runId.length + 1);
}

function turnsOf(run: RunState, branch: number, last: number): Turn[] {
  return Array.from({ length: last }, (_, index) => turnOf(run, branch, index + 1));
}

function turnOf(run: RunState, branch: number, turn: number): Turn {
  const action = actionAt(run, branch, modelPosition(turn));
  const outcome = action === undefined ? null : outcomeOf(action);
  if (action === undefined || outcome?.kind !== 'executed' || !mayBuildOn(run, action))
    return { turn, reply: null, calls: [] };
  const calls = outcome.calls.map((_, index) => {
    const position = branchPosition(branch, callPosition(turn, index + 1));
    return { position, told: toldIn(run, run.actions.get(actionIdOf(run.runId, position))) };
  });
  return { turn, reply: outcome.result.digest, calls };
}

function actionAt(run: RunState, branch: number, position: string): ActionState | undefined {
  return run.actions.get(actionIdOf(run.runId, branchPosition(branch, position)));
}

function toldIn(run: RunState, action: ActionState | undefined): Told {
  return action === undefined || mayBuildOn(run, action) ? toldOf(action) : toldAsLate;
}

/** What came late is built on by an own grant alone. */
function mayBuildOn({ grants }: RunState, { final }: ActionState): boolean {
  return final?.late !== true || grants?.includes('accept') === true;
}
