// holdfast revoke, cancel, amend, top-up: what a run may do from now on. And what becomes of any
// command of that kind, in words.

import { randomUUID } from 'node:crypto';
import type { AuthorityVerb } from '../../core/commands.ts';
import type { Grant } from '../../core/grants.ts';
import type { Goal } from '../../workflows/messages.ts';
import type { AuthorityReply } from '../authority.ts';
import { ClientError } from '../errors.ts';
import { planFrom } from '../goal.ts';
import { NO_GRANT } from '../option-values.ts';
import type { CommandContext, CommandOutput } from './command.ts';

export interface ChangeFlags {
  readonly actor: string;
  readonly reason: string;
  readonly id?: string;
  readonly update?: boolean;
}

export interface RevokeFlags extends ChangeFlags {
  readonly keep?: 'query';
}

export interface AmendFlags extends ChangeFlags {
  readonly plan?: string;
  readonly goal?: string;
  readonly grant?: readonly (Grant | typeof NO_GRANT)[];
}

export interface TopUpFlags extends ChangeFlags {
  readonly requests?: number;
  readonly tokens?: number;
  /** In micros. */
  readonly money?: number;
  readonly wallTime?: number;
}

interface Words {
  readonly done: (subject: string) => string;
  /** What follows where the run is open, and where it is not. */
  readonly open: string;
  readonly closed: string;
}

const stopped = (done: string): string =>
  `nothing new begins; an attempt may still be at work; if the run is ever resumed, it is ${done}`;
const foundLater = 'if the run is ever resumed, it finds this in the ledger';

const words: { readonly [V in AuthorityVerb]: Words } = {
  revoke: {
    done: (run) => `run ${run} is revoked`,
    open: 'what is in flight is awaited, nothing new begins',
    closed: stopped('revoked'),
  },
  cancel: {
    done: (run) => `run ${run} is canceled`,
    open: 'what is at work is told to stop, nothing new begins',
    closed: stopped('canceled'),
  },
  amend: {
    done: (run) => `run ${run} is amended`,
    open: 'from here it decides under the new revision',
    closed: foundLater,
  },
  approve: {
    done: (action) => `${action} is approved`,
    open: 'it is tried again, and looked at again at the gate',
    closed: foundLater,
  },
  deny: { done: (action) => `${action} is denied`, open: 'it is not done', closed: foundLater },
  topUp: {
    done: (run) => `the budget of run ${run} is topped up`,
    open: 'it goes on as far as that reaches',
    closed: foundLater,
  },
};

export async function revoke(
  { client }: CommandContext,
  runId: string,
  { keep, ...flags }: RevokeFlags,
): Promise<CommandOutput> {
  const command = { ...saidBy('revoke', flags), ...(keep === undefined ? {} : { keep: [keep] }) };
  const reply = await client.revoke(runId, command, howOf(flags));
  return changed('revoke', { reply, commandId: command.id, subject: runId });
}

export async function cancel(
  { client }: CommandContext,
  runId: string,
  flags: ChangeFlags,
): Promise<CommandOutput> {
  const command = saidBy('cancel', flags);
  const reply = await client.cancel(runId, command, howOf(flags));
  return changed('cancel', { reply, commandId: command.id, subject: runId });
}

export async function amend(
  context: CommandContext,
  runId: string,
  flags: AmendFlags,
): Promise<CommandOutput> {
  const goal = await goalIn(context, flags);
  const grants = grantsIn(flags.grant);
  if (goal === undefined && grants === undefined)
    throw new ClientError('bad_input', 'say what changes: --plan, --goal, --grant');
  const command = {
    ...saidBy('amend', flags),
    ...(goal === undefined ? {} : { goal: goal as never }),
    ...(grants === undefined ? {} : { grants }),
  };
  const reply = await context.client.amend(runId, command, howOf(flags));
  return changed('amend', { reply, commandId: command.id, subject: runId });
}

export async function topUp(
  { client }: CommandContext,
  runId: string,
  flags: TopUpFlags,
): Promise<CommandOutput> {
  const { requests, tokens, money: micros, wallTime: wallTimeMs } = flags;
  const given = Object.entries({ requests, tokens, micros, wallTimeMs });
  const added = given.filter(([, value]) => value !== undefined);
  if (added.length === 0)
    throw new ClientError(
      'bad_input',
      'say what is added: --requests, --tokens, --money, --wall-time',
    );
  const command = { ...saidBy('top-up', flags), ...Object.fromEntries(added) };
  const reply = await client.topUp(runId, command, howOf(flags));
  return changed('topUp', { reply, commandId: command.id, subject: runId });
}

function saidBy(verb: string, { actor, reason, id }: ChangeFlags) {
  return { id: id ?? `${verb}/${randomUUID()}`, actor, reason };
}

export function howOf({ update }: { readonly update?: boolean }) {
  return { by: update === true ? ('update' as const) : ('signal' as const) };
}

async function goalIn(
  { read }: CommandContext,
  { plan, goal }: Pick<AmendFlags, 'plan' | 'goal'>,
): Promise<Goal | undefined> {
  if (plan !== undefined && goal !== undefined)
    throw new ClientError('bad_input', 'give either --plan <file> or --goal <text>, not both');
  if (plan !== undefined) return planFrom(await read(plan), plan);
  return goal === undefined ? undefined : { kind: 'model', instructions: goal };
}

/** Throws ClientError `bad_input` where "none" stands beside others. */
export function grantsIn(names: AmendFlags['grant']): Grant[] | undefined {
  const grants = names?.filter((name) => name !== NO_GRANT);
  if (names?.includes(NO_GRANT) && grants?.length !== 0)
    throw new ClientError('bad_input', `--grant ${NO_GRANT} stands alone: nothing is granted`);
  return grants;
}

export interface Changed {
  readonly reply: AuthorityReply;
  readonly commandId: string;
  /** The run or the action. */
  readonly subject: string;
}

export function changed(
  verb: AuthorityVerb,
  { reply, commandId, subject }: Changed,
): CommandOutput {
  const { done, open, closed } = words[verb];
  const { answer, ledgerProblem, recorded, recordedFirst, signaled } = reply;
  const record = recordedFirst
    ? `in the ledger (${recorded}) before the run was told`
    : 'told to the run only, not in the ledger first: ' +
      (ledgerProblem ?? 'this client has no access to it (HOLDFAST_LEDGER_URL)');
  const refused = answer?.what === 'rejected' || answer?.what === 'disputed';
  // A duplicate id may have come with another word: what it says is not what is in force.
  const isRepeated = (recorded ?? answer?.what) === 'duplicate';
  const isNews = !isRepeated && (recordedFirst || !refused);
  return {
    json: { ...reply, commandId },
    lines: [
      `${isNews ? done(subject) : `${verb} of ${subject}`}, ${record}`,
      ...(answer === null ? [] : [`the run answers: ${answer.what}${whyOf(answer.why)}`]),
      isRepeated
        ? `${commandId} was recorded before, so nothing changes; see: holdfast state ${reply.runId}`
        : signaled
          ? `the run has it; ${open}`
          : `its workflow is not open; ${closed}`,
    ].slice(0, refused ? 2 : 3),
    exit: refused ? 'refused' : ledgerProblem === null ? 'ok' : 'ledger',
  };
}

function whyOf(why: string | null): string {
  return why === null ? '' : `: ${why}`;
}
