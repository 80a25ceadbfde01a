// Changes what a run may do. In the ledger first: from then on no gate opens under what it
// replaced, and no Reset takes it back. Then the run is told.
//
// INV-1 What the ledger refuses is not sent. Where no ledger can be written the command is sent all
//       the same, and the reply says so.
// INV-2 `recordedFirst` is true only when the ledger has the fact.
// INV-3 A run id that nobody knows begins no chain.

import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type * as z from 'zod';
import { decideAuthority, type GivenCommand } from '../core/authority.ts';
import { type AuthorityCommand, type AuthorityVerb, authorityCommands } from '../core/commands.ts';
import { goalSchema } from '../core/goal.ts';
import { isActionOf } from '../core/ids.ts';
import { LedgerError } from '../ledger/port.ts';
import {
  AGENT_RUN,
  amendSignal,
  amendUpdate,
  approveSignal,
  approveUpdate,
  type CommandAnswer,
  cancelSignal,
  cancelUpdate,
  denySignal,
  denyUpdate,
  revokeSignal,
  revokeUpdate,
  topUpSignal,
  topUpUpdate,
} from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { checked } from './goal.ts';
import type { Room } from './room.ts';
import { notFound } from './run-end.ts';
import { storedJson } from './stored.ts';
import { executionOf, signaled } from './temporal.ts';
import { updated } from './updates.ts';

interface Verb {
  readonly signal: SignalDefinition<[unknown]>;
  readonly update: UpdateDefinition<CommandAnswer, [unknown]>;
  readonly noun: string;
}

const verbs: { readonly [V in AuthorityVerb]: Verb } = {
  revoke: { signal: revokeSignal, update: revokeUpdate, noun: 'revocation' },
  cancel: { signal: cancelSignal, update: cancelUpdate, noun: 'cancellation' },
  amend: { signal: amendSignal, update: amendUpdate, noun: 'amendment' },
  approve: { signal: approveSignal, update: approveUpdate, noun: 'approval' },
  deny: { signal: denySignal, update: denyUpdate, noun: 'denial' },
  topUp: { signal: topUpSignal, update: topUpUpdate, noun: 'top-up' },
};

export interface AuthorityOptions {
  /** `signal` (default): the server keeps it for a worker. `update`: wait for the run's answer. */
  readonly by?: 'signal' | 'update';
}

export interface AuthorityReply {
  readonly runId: string;
  /** The ledger has it, written before the run was told. */
  readonly recordedFirst: boolean;
  /** What the ledger made of the command; null where it was not written. */
  readonly recorded: 'applied' | 'duplicate' | null;
  /** Why the ledger was not written although there is one. */
  readonly ledgerProblem: string | null;
  /** An open workflow got it, as a signal or as an update. */
  readonly signaled: boolean;
  /** The run's own; `duplicate` where the ledger had it first. Null for a signal. */
  readonly answer: CommandAnswer | null;
}

/** Throws ClientError: `bad_input`, `run_not_found`, `refused_by_ledger`, `goal_fixed` …. */
export async function changeAuthority(
  room: Room,
  runId: string,
  { verb, command: raw }: GivenCommand,
  { by = 'signal' }: AuthorityOptions = {},
): Promise<AuthorityReply> {
  const what = `the ${verbs[verb].noun} of run ${runId}`;
  const schema: z.ZodType<AuthorityCommand> = authorityCommands[verb];
  const command = checked(schema, raw, { code: 'bad_input', what });
  const given = { verb, command } as GivenCommand;
  refuseOtherRun(runId, command);
  await refuseFixedGoal(room, runId, given);
  const record = await recordFirst(room, runId, given);
  const recordedFirst = record.recorded !== null;
  const told = await tell(room, runId, { given, by, recordedFirst });
  if (!told.signaled && !recordedFirst && record.ledgerProblem === null)
    throw await unsent(room, runId, verb);
  return { runId, recordedFirst, ...record, ...told };
}

function refuseOtherRun(runId: string, command: AuthorityCommand): void {
  if (!('actionId' in command) || isActionOf(runId, command.actionId)) return;
  const { actionId } = command;
  const message = `action ${actionId} is no action of run ${runId}; check both ids`;
  throw new ClientError('bad_input', message);
}

async function refuseFixedGoal(room: Room, runId: string, given: GivenCommand): Promise<void> {
  if (given.verb !== 'amend' || given.command.goal === undefined) return;
  const fixed = await goalIsCode(room, runId);
  if (!fixed) return;
  throw new ClientError(
    'goal_fixed',
    `the goal of run ${runId} is the code and input of its own workflow and cannot be amended; ` +
      'start another run, or amend its grants only',
  );
}

/** By the workflow's type; where Temporal has forgotten it, by the goal on record. */
async function goalIsCode(room: Room, runId: string): Promise<boolean> {
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind !== 'none') return execution.description.type !== AGENT_RUN;
  const opened = (await room.ledger?.read(runId))?.opened ?? null;
  const goal = await storedJson(room, opened?.goal.digest ?? null);
  return goal !== null && !goalSchema.safeParse(goal).success;
}

type Record = Pick<AuthorityReply, 'recorded' | 'ledgerProblem'>;

async function recordFirst(room: Room, runId: string, given: GivenCommand): Promise<Record> {
  const { ledger, temporal } = room;
  if (ledger === null) return { recorded: null, ledgerProblem: null };
  try {
    const known = (await ledger.read(runId)).head.count > 0;
    // INV-3: what stops may precede the opening.
    if (!known && (await executionOf(temporal, runId)).kind === 'none') throw notFound(room, runId);
    const { reply } = await ledger.transact({ runId }, decideAuthority(given));
    if (reply.what !== 'applied' && reply.what !== 'duplicate')
      throw new ClientError(
        'refused_by_ledger',
        `the ${verbs[given.verb].noun} ${given.command.id} of run ${runId} was refused: ` +
          `${reply.why}`,
      );
    return { recorded: reply.what, ledgerProblem: null };
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    return { recorded: null, ledgerProblem: error.message };
  }
}

interface Telling {
  readonly given: GivenCommand;
  readonly by: 'signal' | 'update';
  readonly recordedFirst: boolean;
}

async function tell(
  { temporal }: Room,
  runId: string,
  { given: { verb, command }, by, recordedFirst }: Telling,
): Promise<Pick<AuthorityReply, 'signaled' | 'answer'>> {
  const { signal, update } = verbs[verb];
  if (by === 'signal') {
    const sent = { name: signal.name, argument: command };
    return { signaled: await signaled(temporal, runId, sent), answer: null };
  }
  const answer = await updated(temporal, {
    workflowId: runId,
    update,
    command,
    who: `run ${runId}`,
    advice: recordedFirst
      ? `the ledger has the ${verbs[verb].noun} ${command.id}; the run finds it there`
      : 'whether it took the command is not known. Send the same again, as a signal: it waits ' +
        'for a worker, and the same id counts once',
  });
  return { signaled: answer !== null, answer };
}

async function unsent(room: Room, runId: string, verb: AuthorityVerb): Promise<ClientError> {
  const execution = await executionOf(room.temporal, runId);
  if (execution.kind === 'none') return notFound(room, runId);
  return new ClientError(
    'ledger_needed',
    `run ${runId} is closed, so no command reaches it; set HOLDFAST_LEDGER_URL and send the ` +
      `${verbs[verb].noun} again, so that it is in the ledger before anyone resumes the run`,
  );
}
