// The question about an unknown action: from the ledger where it can be read, else from the single
// input of the open child `unknown.<action id>`. Neither needs a worker.

import * as z from 'zod';
import { openAttempts } from '../core/action-status.ts';
import type { Level } from '../core/contract.ts';
import { unknownIdOf } from '../core/ids.ts';
import { type Question, questionOf } from '../core/question.ts';
import { questionIn, questionProblem } from '../core/question-shape.ts';
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
  if (action === undefined || action.final !== null) return null;
  return questionOf(run, action, await levelIn(room.ledger, run, action));
}

/** As the child was started with; what happened since is not in it. */
export async function questionOfChild(room: Room, actionId: string): Promise<Question | null> {
  const args = await startArguments(room.temporal, unknownIdOf(actionId));
  const input = args?.[0];
  return questionProblem(input) === null ? questionIn(input) : null;
}

/** Actions that wait for an answer, by the ledger. */
export function waitingActions(run: RunState): readonly ActionState[] {
  return [...run.actions.values()].filter(
    (action) =>
      action.final === null &&
      !action.abandoned &&
      openAttempts(action).some((attempt) => attempt.doubted),
  );
}

const catalogSchema = z.looseObject({ tools: z.array(z.unknown()) });

/** L0, "none unless stated", where the pinned catalog does not say more. */
export async function levelIn(ledger: Ledger, run: RunState, action: ActionState): Promise<Level> {
  const binding = action.attempts.at(-1)?.entry.binding.digest;
  const bytes = run.opened === null ? null : await ledger.payload(run.opened.catalog.digest);
  if (bytes === null) return 'L0';
  const catalog = catalogSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  for (const entry of catalog?.tools ?? []) {
    const policy = toolPolicySchema.safeParse(entry).data;
    if (policy?.binding.digest === binding && policy !== undefined) return policy.level;
  }
  return 'L0';
}
