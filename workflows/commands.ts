// A run's commands. Handlers are installed before anything else, so that what came first is handled
// before anything is scheduled.

import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { CancellationScope, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RecordCall } from '../core/activity-calls.ts';
import type { GivenCommand } from '../core/authority.ts';
import { type AuthorityCommand, type AuthorityVerb, authorityCommands } from '../core/commands.ts';
import { goalProblem } from '../core/goal.ts';
import { unfilledProblem } from '../core/paste.ts';
import { MODEL_TOOL } from '../core/tool-policy.ts';
import { problemOf } from './command-problem.ts';
import {
  carry,
  type Desk,
  installDesk,
  isRepeated,
  malformed,
  reject,
  rejectOtherSignals,
  unsee,
} from './desk.ts';
import {
  amendSignal,
  amendUpdate,
  approveSignal,
  approveUpdate,
  type CommandAnswer,
  cancelSignal,
  cancelUpdate,
  denySignal,
  denyUpdate,
  type RunStateAnswer,
  revokeSignal,
  revokeUpdate,
  stateQuery,
  topUpSignal,
  topUpUpdate,
} from './messages.ts';
import { ask, hint, type Session, stopScheduling, supersede } from './session.ts';

interface Verb<V extends AuthorityVerb> {
  readonly signal: SignalDefinition<[unknown]>;
  readonly update: UpdateDefinition<CommandAnswer, [unknown]>;
  readonly description: string;
  /** First of all, before the first await: what the run does from here on. */
  readonly begin?: (session: Session) => void;
  /** Once the ledger has answered. */
  readonly finish?: (session: Session, command: AuthorityCommand<V>) => void;
  /** What is wrong with it here, besides its form. */
  readonly problem?: (session: Session, command: AuthorityCommand<V>) => string | null;
  /** Whether another execution may handle it: it takes effect there all the same. */
  readonly carried?: true;
}

/** Each as a signal and, for callers who want the answer, as an update. */
const verbs: { readonly [V in AuthorityVerb]: Verb<V> } = {
  revoke: {
    signal: revokeSignal,
    update: revokeUpdate,
    description:
      'Stop scheduling: {id, actor, reason}. What is in flight is awaited. ' +
      'Receivers are asked no more, unless you add "keep": ["query"].',
    begin: (session) => stopScheduling(session, 'revoked'),
  },
  cancel: {
    signal: cancelSignal,
    update: cancelUpdate,
    description: 'As revoke, and tools at work are told to stop: {id, actor, reason}.',
    begin: (session) => stopScheduling(session, 'canceled'),
  },
  amend: {
    signal: amendSignal,
    update: amendUpdate,
    description:
      'Change the goal, the grants or both: {id, actor, reason, goal, grants}. A goal is written ' +
      'as at the start; grants are all that is granted from now on.',
    begin: (session) => {
      session.amending++;
      supersede(session);
    },
    finish: (session) => {
      session.amending--;
    },
    problem: amendProblemHere,
  },
  approve: {
    signal: approveSignal,
    update: approveUpdate,
    description:
      'Allow one action: {id, actor, reason, actionId, bound}, both as the run shows them.',
    finish: (session, { actionId }) => hint(session, actionId),
    carried: true,
  },
  deny: {
    signal: denySignal,
    update: denyUpdate,
    description: 'Refuse one action: {id, actor, reason, actionId, bound}, as the run shows them.',
    finish: (session, { actionId }) => hint(session, actionId),
    carried: true,
  },
  topUp: {
    signal: topUpSignal,
    update: topUpUpdate,
    description:
      'Add to the budget: {id, actor, reason} and one or more of requests, tokens, ' +
      'micros (millionths of its currency), wallTimeMs.',
    carried: true,
  },
};

export const authorityVerbs = Object.keys(verbs) as readonly AuthorityVerb[];

/** Also takes over Temporal's own cancel of the workflow: it stops the run, in order. */
export function installHandlers(session: Session): void {
  const desk = installDesk(session, null);
  desk.take = (given) => record(desk, given);
  setHandler(stateQuery, () => stateOf(session), {
    description: 'What the run does, waits for and has open.',
  });
  for (const verb of authorityVerbs) install(desk, verb);
  rejectOtherSignals(desk, [...authorityVerbs, 'resolve', 'lateFact']);
  onWorkflowCancel(() => canceled(desk));
}

function install(desk: Desk, verb: AuthorityVerb): void {
  const { signal, update, description } = verbs[verb];
  setHandler(signal, (raw) => byAnyone(desk, verb, raw), { description });
  setHandler(update, (raw) => command(desk, verb, raw), {
    description,
    validator: (raw) => {
      const problem = unfit(desk, verb, raw);
      if (problem !== null) throw new TypeError(problem);
    },
  });
}

/** Nobody waits for the answer to a signal: where it has to wait itself, it may be carried on. */
async function byAnyone(desk: Desk, verb: AuthorityVerb, raw: unknown): Promise<void> {
  const { data } = authorityCommands[verb].safeParse(raw);
  const given = { verb, command: data } as GivenCommand;
  if (data !== undefined && verbs[verb].carried && carry(desk, { kind: 'authority', given }))
    return;
  await command(desk, verb, raw);
}

function unfit({ session }: Desk, verb: AuthorityVerb, raw: unknown): string | null {
  const schema = authorityCommands[verb];
  const { data } = schema.safeParse(raw);
  if (data === undefined) return problemOf(schema, raw) ?? 'malformed';
  const { problem } = verbs[verb] as Verb<AuthorityVerb>;
  return unfilledProblem(data) ?? problem?.(session, data) ?? null;
}

async function command(desk: Desk, verb: AuthorityVerb, raw: unknown): Promise<CommandAnswer> {
  const why = unfit(desk, verb, raw);
  if (why !== null) {
    await reject(desk, malformed(verb, raw, why));
    return { what: 'rejected', why };
  }
  return record(desk, { verb, command: authorityCommands[verb].parse(raw) } as GivenCommand);
}

async function record(desk: Desk, given: GivenCommand): Promise<CommandAnswer> {
  const { session } = desk;
  const { verb, command: said } = given;
  const { begin, finish } = verbs[verb] as Verb<AuthorityVerb>;
  begin?.(session);
  try {
    if (await isRepeated(desk, verb, said.id))
      return { what: 'duplicate', why: `command ${said.id} was handled before` };
    return await recordFact(desk, given);
  } finally {
    finish?.(session, said);
  }
}

async function recordFact(desk: Desk, given: GivenCommand): Promise<CommandAnswer> {
  const { session } = desk;
  const { runId, pin } = session;
  const { verb, command: said } = given;
  const call = { kind: verb, runId, pin, command: said, position: null } as RecordCall;
  const reply = await ask(session, 'recordFacts', call, `record the ${verb}`);
  if (reply.kind !== 'applied') return { what: 'rejected', why: 'the ledger did not take it' };
  if (reply.what === 'rejected') {
    unsee(desk, verb, said.id);
    session.lastRejection = `${verb}: ${reply.why}`;
  }
  session.show();
  return { what: reply.what, why: reply.why };
}

function amendProblemHere(
  { amendable, opened }: Session,
  { goal }: AuthorityCommand<'amend'>,
): string | null {
  if (goal === undefined) return null;
  if (!amendable)
    return 'the goal of this workflow is its own code and input; start another one instead';
  if (opened === null) return null;
  const tools = [...opened.catalog.keys()];
  return goalProblem(goal, opened.model === null ? tools : [...tools, MODEL_TOOL]);
}

async function canceled(desk: Desk): Promise<void> {
  stopScheduling(desk.session, 'canceled');
  const { workflowType, runId } = workflowInfo();
  const said = { id: `cancel/${runId}`, actor: 'temporal', reason: `${workflowType} canceled` };
  await recordFact(desk, { verb: 'cancel', command: said });
}

function stateOf(session: Session): RunStateAnswer {
  const { runId, phase, stop, opened, scheduled, unknowns, waitingFor, lastRejection } = session;
  const { approvals, exhausted, twins } = session;
  return {
    runId,
    phase,
    authRevision: opened?.authority.revisions.auth ?? 0,
    revoked: stop === 'revoked' || opened?.authority.revoked === true,
    scheduled: [...scheduled.keys()],
    unknowns: [...unknowns].map(([actionId, child]) => ({ actionId, child })),
    waitingFor,
    approvals: [...approvals].map(([actionId, { tool, bound }]) => ({ actionId, tool, bound })),
    twins: [...twins].map(([actionId, twin]) => ({ actionId, ...twin })),
    exhausted,
    lastRejection,
    result: session.result,
  };
}

/** The root scope is canceled once at most; the main body runs non-cancellable beside it. */
function onWorkflowCancel(then: () => Promise<void>): void {
  void CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(then),
  );
}
