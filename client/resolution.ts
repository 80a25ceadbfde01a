// A person's answer to an unknown action. The child that asks records it, as a fact first; where no
// child is open and the ledger can be written, the answer is recorded here.
//
// INV-1 An answer starts nothing: who may act on it is decided by the gate, later.
// INV-2 The command id makes it idempotent on every way.

import { type ResolveCommand, resolveSchema } from '../core/commands.ts';
import { isPosition, runIdProblem, unknownIdOf } from '../core/ids.ts';
import { decideResolve } from '../core/resolve.ts';
import {
  type CommandAnswer,
  lateFactSignal,
  resolveSignal,
  resolveUpdate,
} from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { checked } from './goal.ts';
import type { Room } from './room.ts';
import { signaled } from './temporal.ts';
import { updated } from './updates.ts';

export interface ResolveOptions {
  /** `signal` (default): the server keeps it for a worker. `update`: wait for the answer. */
  readonly by?: 'signal' | 'update';
}

export interface ResolveReply {
  readonly actionId: string;
  readonly by: 'signal' | 'update' | 'ledger';
  /** Null for a signal: it was accepted by the server, not yet by the record. */
  readonly answer: CommandAnswer | null;
}

/** Throws ClientError `bad_input`, `question_not_found`, `not_answered`. */
export async function resolveAction(
  room: Room,
  runId: string,
  given: ResolveCommand,
  { by = 'signal' }: ResolveOptions = {},
): Promise<ResolveReply> {
  const command = checked(resolveSchema, given, { code: 'bad_input', what: 'the answer' });
  const { actionId } = command;
  if (runOfAction(actionId) !== runId)
    throw new ClientError(
      'bad_input',
      `action ${actionId} is no action of run ${runId}; check both ids`,
    );
  const to = addressee(runId, command);
  if (by === 'update') {
    const answer = await asked(room, to, command);
    if (answer !== null) return { actionId, by, answer };
  } else {
    const signal = { name: resolveSignal.name, argument: command };
    if (await signaled(room.temporal, to.workflowId, signal)) return { actionId, by, answer: null };
  }
  return { actionId, by: 'ledger', answer: await recorded(room, runId, command) };
}

/** The run of an action. Throws ClientError `bad_input`. */
export function runOf(actionId: string): string {
  const runId = runOfAction(actionId);
  if (runId !== null) return runId;
  throw new ClientError(
    'bad_input',
    `"${actionId}" is no action id; it is <run id>.<position>, e.g. invoice-42.t3.c1`,
  );
}

/** The run id of an action id, or null. There is at most one way to take it apart. */
export function runOfAction(actionId: string): string | null {
  for (let dot = actionId.indexOf('.'); dot !== -1; dot = actionId.indexOf('.', dot + 1)) {
    const runId = actionId.slice(0, dot);
    if (isPosition(actionId.slice(dot + 1)) && runIdProblem(runId) === null) return runId;
  }
  return null;
}

interface Addressee {
  readonly workflowId: string;
  readonly who: string;
}

/** What waits because of a twin has no question of its own: its run waits, and takes the answer. */
function addressee(runId: string, { verb, actionId }: ResolveCommand): Addressee {
  return verb === 'confirm_distinct'
    ? { workflowId: runId, who: `run ${runId}` }
    : { workflowId: unknownIdOf(actionId), who: `the question about ${actionId}` };
}

function asked(
  room: Room,
  { workflowId, who }: Addressee,
  command: ResolveCommand,
): Promise<CommandAnswer | null> {
  return updated(room.temporal, {
    ...{ workflowId, who, command },
    update: resolveUpdate,
    advice:
      'whether it took the answer is not known. Send the same answer again, as a signal: ' +
      'it waits for a worker, and the same id counts once',
  });
}

async function recorded(
  { ledger, temporal }: Room,
  runId: string,
  command: ResolveCommand,
): Promise<CommandAnswer> {
  const { actionId } = command;
  const known = ledger === null ? undefined : (await ledger.read(runId)).actions.get(actionId);
  if (ledger === null || known === undefined)
    throw new ClientError(
      'question_not_found',
      `no open question about ${actionId} was found; check the action id` +
        (ledger === null ? ', or set HOLDFAST_LEDGER_URL to record the answer directly' : ''),
    );
  const { reply } = await ledger.transact({ runId, actionId }, decideResolve(command));
  const hint = { actionId, attemptId: null, outcomeDigest: null };
  // A hint: whoever gets it reads the ledger again. A closed run needs none.
  await signaled(temporal, runId, { name: lateFactSignal.name, argument: hint });
  return reply;
}
