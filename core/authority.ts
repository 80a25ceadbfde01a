// Changes of what a run may do. `revoke` and `cancel` stop; `amend` gives another goal or other
// grants; `approve` and `deny` decide on one pending action; `topUp` adds to the budget; a takeover
// ticket lets `openRun` raise the epoch once. What only stops may come before the run has opened.

import type { AuthorityHead } from './activity-calls.ts';
import { amendProblem } from './amend.ts';
import { pendingAsk } from './approval.ts';
import { topUpProblem } from './budget.ts';
import type { Added } from './budget-limits.ts';
import type { AuthorityCommand, AuthorityVerb, StopCommand } from './commands.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import { canonicalBytes, digestOfBytes } from './digest.ts';
import { momentAfter } from './exact-sum.ts';
import type { BodyOf } from './facts.ts';
import { unfilledProblem } from './paste.ts';
import { type CommandReply, rejection } from './resolve.ts';
import type { RunState } from './run-state.ts';

export function authorityOf(run: RunState): AuthorityHead {
  const { revisions, revoked, canceled, topUps } = run;
  return { epoch: run.opened?.epoch ?? 0, revisions, revoked, canceled, topUps };
}

/** Names its run, so that a ledger that lacks both tells that it is the wrong one. */
export function ticketOf(runId: string, commandId: string): string {
  return `ticket/${runId}/${commandId}`;
}

/** a ticket is single-use, and takes over from the epoch it was written under, no later. */
export function ticketHolds(run: RunState, ticket: string | null): ticket is string {
  return ticket !== null && run.tickets.get(ticket) === (run.opened?.epoch ?? 0);
}

/** A command that was parsed, by its verb. */
export type GivenCommand = {
  readonly [V in AuthorityVerb]: { readonly verb: V; readonly command: AuthorityCommand<V> };
}[AuthorityVerb];

type Change = BodyOf<'authority_changed'>;

/** What a command changes besides naming itself, or why it does not apply. */
type Effect =
  | (Partial<Change> & Pick<Change, 'change'> & { readonly payload?: NewPayload })
  | { readonly problem: string };

type Row<V extends AuthorityVerb> = (command: AuthorityCommand<V>, view: LedgerView) => Effect;

const rows: { readonly [V in AuthorityVerb]: Row<V> } = {
  revoke: ({ keep = [] }, { run: { grants, revisions } }) => ({
    change: 'revoke',
    revisions: { goal: revisions.goal, auth: revisions.auth + 1 },
    grants: keep.filter((kept) => grants === null || grants.includes(kept)),
  }),
  cancel: () => ({ change: 'cancel' }),
  amend: ({ goal, grants }, { run }) => {
    const problem = overProblem(run) ?? amendProblem(run, goal);
    if (problem !== null) return { problem };
    const { revisions } = run;
    const payload = goal === undefined ? null : payloadOf(goal);
    return {
      change: 'amend',
      revisions: {
        goal: revisions.goal + (payload === null ? 0 : 1),
        auth: revisions.auth + (grants === undefined ? 0 : 1),
      },
      ...(grants === undefined ? {} : { grants: [...new Set(grants)] }),
      ...(payload === null
        ? {}
        : { goal: { digest: payload.digest, bytes: payload.bytes.length }, payload }),
    };
  },
  approve: (command, view) => decisionEffect('approve', command, view),
  deny: (command, view) => decisionEffect('deny', command, view),
  topUp: ({ id: _id, actor: _actor, reason: _reason, ...added }, { run }) => {
    const problem = overProblem(run) ?? topUpProblem(run.budget, added as Added);
    return problem === null ? { change: 'top_up', added: added as Added } : { problem };
  },
};

/** `position`: where in the walk it takes effect, where that is known. */
export function decideAuthority(
  { verb, command }: GivenCommand,
  position: string | null = null,
): (view: LedgerView) => Decision<CommandReply> {
  return (view) => {
    if (isRepeated(verb, command, view.run)) return duplicate;
    const row = rows[verb] as Row<AuthorityVerb>;
    const unfilled = unfilledProblem(command);
    const effect = unfilled === null ? row(command, view) : { problem: unfilled };
    if ('problem' in effect)
      return rejection(view, { commandId: command.id, name: verb, why: effect.problem });
    const { payload, ...changed } = effect;
    const body = { ...namedBy(command, view.run), position, ...changed };
    return { ...applied(body), payloads: payload === undefined ? [] : [payload] };
  };
}

/** What stops is never lost to an id that another command came with before. */
function isRepeated(verb: AuthorityVerb, { id }: StopCommand, run: RunState): boolean {
  if (!run.commandIds.has(id)) return false;
  if (verb === 'revoke') return run.revoked;
  return verb !== 'cancel' || run.canceled;
}

/** The takeover ticket of `resume`. */
export function decideTicket(
  command: StopCommand,
  ticket: string,
): (view: LedgerView) => Decision<CommandReply> {
  return ({ run }) =>
    run.commandIds.has(command.id)
      ? duplicate
      : applied({ ...namedBy(command, run), change: 'permit', ticket });
}

const duplicate: Decision<CommandReply> = { reply: { what: 'duplicate', why: null }, facts: [] };

function applied(body: Change): Decision<CommandReply> {
  return { reply: { what: 'applied', why: null }, facts: [{ source: 'human', body }] };
}

function namedBy({ id, actor, reason }: StopCommand, run: RunState): Omit<Change, 'change'> {
  return {
    kind: 'authority_changed',
    commandId: freeId(id, run),
    actor,
    reason,
    position: null,
    revisions: run.revisions,
    ticket: null,
  };
}

function freeId(id: string, { commandIds }: RunState): string {
  let free = id;
  for (let n = 2; commandIds.has(free); n++) free = `${id}#${n}`;
  return free;
}

/** Nothing widens what is over. */
function overProblem({ ended, revoked, canceled }: RunState): string | null {
  if (ended !== null) return 'the run has ended; start a new one';
  if (!revoked && !canceled) return null;
  const how = revoked ? 'revoked' : 'canceled';
  return `the run is ${how}, which nothing takes back; start a new one`;
}

function decisionEffect(
  change: 'approve' | 'deny',
  { actionId, bound }: AuthorityCommand<'approve'>,
  { run, now }: LedgerView,
): Effect {
  const over = overProblem(run);
  if (over !== null) return { problem: `${actionId}: ${over}` };
  const action = run.actions.get(actionId);
  const asks = pendingAsk(run, action, now);
  if (asks === null) return { problem: `${actionId}: ${whyNotPending(action)}` };
  if (asks.bound !== bound)
    return { problem: `${actionId}: it asks to do ${asks.bound} now, not ${bound}; look again` };
  const { validForMs } = asks;
  const validUntil =
    change === 'deny' || validForMs === null ? {} : { validUntil: momentAfter(now, validForMs) };
  return { change, actionId, bound, ...validUntil };
}

function whyNotPending(action: ReturnType<RunState['actions']['get']>): string {
  const decided = action?.approvals.at(-1);
  return decided === undefined
    ? 'nothing of it waits for an approval; check the action id'
    : `${decided.actor} decided before: ${decided.decision}`;
}

function payloadOf(value: unknown): NewPayload {
  const bytes = canonicalBytes(value);
  return { digest: digestOfBytes(bytes), bytes };
}
