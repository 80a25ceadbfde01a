// The context of a model turn as it is stored: digests of what was said and what came of it, so
// that it stays small however long the run gets. Built from the ledger's facts alone; pure.

import * as z from 'zod';
import { outcomeOf } from '../../core/action-status.ts';
import { digestSchema } from '../../core/digest.ts';
import { actionIdOf, callPosition, modelPosition } from '../../core/ids.ts';
import type { ActionState, RunState } from '../../core/run-state.ts';
import type { Binding } from '../../core/tool-policy.ts';
import { bindingSchema } from '../../core/tool-policy.ts';

const toldSchema = z.discriminatedUnion('kind', [
  /** The stored result of the call. */
  z.strictObject({ kind: z.literal('result'), digest: digestSchema }),
  z.strictObject({ kind: z.literal('words'), text: z.string() }),
]);
export type Told = z.infer<typeof toldSchema>;

export const modelContextSchema = z.strictObject({
  kind: z.literal('model_context'),
  goal: digestSchema,
  turn: z.number().int().positive(),
  tools: z.array(bindingSchema),
  turns: z.array(
    z.strictObject({
      turn: z.number().int().positive(),
      /** The stored reply; null: it is missing, and nothing is guessed in its place. */
      reply: digestSchema.nullable(),
      /** In the order of the reply's calls. */
      calls: z.array(z.strictObject({ position: z.string(), told: toldSchema })),
    }),
  ),
  /** Requests of this turn whose replies are missing. */
  repliesMissing: z.number().int().nonnegative(),
});
export type ModelContext = z.infer<typeof modelContextSchema>;

export interface ContextAsk {
  readonly run: RunState;
  readonly turn: number;
  /** What the model may call. */
  readonly tools: readonly Binding[];
}

/** Throws when the run is not open: then nothing asks for a context. */
export function modelContextOf({ run, turn, tools }: ContextAsk): ModelContext {
  if (run.opened === null)
    throw new Error(`run "${run.runId}" is not open in the ledger; open it before asking a model`);
  const turns: ModelContext['turns'] = [];
  for (let earlier = 1; earlier < turn; earlier++) turns.push(turnOf(run, earlier));
  const own = run.actions.get(actionIdOf(run.runId, modelPosition(turn)));
  return {
    kind: 'model_context',
    goal: run.opened.goal.digest,
    turn,
    tools: [...tools],
    turns,
    repliesMissing: own?.attempts.filter(mayHaveBeenAnswered).length ?? 0,
  };
}

function mayHaveBeenAnswered({ settled }: ActionState['attempts'][number]): boolean {
  return settled === null || settled.outcome === 'executed';
}

function turnOf(run: RunState, turn: number): ModelContext['turns'][number] {
  const action = run.actions.get(actionIdOf(run.runId, modelPosition(turn)));
  const outcome = action === undefined ? null : outcomeOf(action);
  if (outcome?.kind !== 'executed') return { turn, reply: null, calls: [] };
  const calls = outcome.calls.map((_, index) => {
    const position = callPosition(turn, index + 1);
    return { position, told: toldOf(run.actions.get(actionIdOf(run.runId, position))) };
  });
  return { turn, reply: outcome.result.digest, calls };
}

/** What the model hears of a call. Unknown stays unknown: it is never told as a failure. */
export function toldOf(action: ActionState | undefined): Told {
  if (action === undefined) return words('Not executed: it was never tried.');
  const outcome = outcomeOf(action);
  switch (outcome?.kind) {
    case 'executed':
      return { kind: 'result', digest: outcome.result.digest };
    case 'executed_result_missing':
      return words('Executed; its result is missing.');
    case 'not_executed':
      return words(`Not executed (${outcome.reason}): ${outcome.message}`);
    case 'partial': {
      const parts = outcome.parts.map(({ name, state }) => `${name}: ${state}`).join(', ');
      return words(`Executed in part: ${parts}.`);
    }
    case 'accepted':
      return words('Accepted by the receiver; not finished yet.');
    default:
      return words('Outcome unknown: it may have happened. Do not repeat it.');
  }
}

function words(text: string): Told {
  return { kind: 'words', text };
}
