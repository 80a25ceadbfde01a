// The question about an unknown action: from the ledger where it can be read, else from the single
// input of the open child `unknown.<action id>`. Neither needs a worker.

import * as z from 'zod';
import { openAttempts } from '../core/action-status.ts';
import { unknownIdOf } from '../core/ids.ts';
import { type Promised, promisedBy } from '../core/promised.ts';
import { type Question, questionOf } from '../core/question.ts';
import { questionIn as parsed, questionProblem } from '../core/question-shape.ts';
import type { ActionState, RunState } from '../core/run-state.ts';
import { toolPolicySchema } from '../core/tool-policy.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Room } from './room.ts';
import { startArguments } from './temporal.ts';

/** Null when nothing of the action is open, or nobody has a question about it. */
export async function currentQuestion(
  room: Room,
  runId: string,
  actionId: string,
): Promise<Question | null> {
  if (room.ledger === null) return questionOfChild(room, actionId);
  const run = await room.ledger.read(runId);
  const action = run.actions.get(actionId);
  if (action === undefined) return null;
  return questionIn(room.ledger, run, action);
}

/** Null where nothing of it is undecided or disputed. */
export async function questionIn(
  ledger: Ledger,
  run: RunState,
  action: ActionState,
): Promise<Question | null> {
  if (action.final !== null && !action.disputed) return null;
  return questionOf(run, action, await promisedIn(ledger, run, action));
}

/** As the child was started with; what happened since is not in it. */
export async function questionOfChild(room: Room, actionId: string): Promise<Question | null> {
  const args = await startArguments(room.temporal, unknownIdOf(actionId));
  const input = args?.[0];
  return questionProblem(input) === null ? parsed(input) : null;
}

/** Actions that wait for an answer, by the ledger. */
export function waitingActions(run: RunState): readonly ActionState[] {
  return [...run.actions.values()].filter(
    (action) =>
      action.final === null &&
      !action.abandoned &&
      !action.disputed &&
      openAttempts(action).some((attempt) => attempt.doubted),
  );
}

const catalogSchema = z.looseObject({ tools: z.array(z.unknown()) });

/** "None unless stated", where the pinned catalog does not say more. */
async function promisedIn(ledger: Ledger, run: RunState, action: ActionState): Promise<Promised> {
  const binding = action.attempts.at(-1)?.entry.binding.digest;
  const bytes = run.opened === null ? null : await ledger.payload(run.opened.catalog.digest);
  if (bytes === null) return promisedBy(undefined);
  const catalog = catalogSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  for (const entry of catalog?.tools ?? []) {
    const policy = toolPolicySchema.safeParse(entry).data;
    if (policy?.binding.digest === binding && policy !== undefined) return promisedBy(policy);
  }
  return promisedBy(undefined);
}
