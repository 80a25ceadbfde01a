// A person settles an unknown. The verdict is a fact; it starts nothing by itself.

import { undecidedAttempts } from './action-status.ts';
import type { ResolveCommand } from './commands.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import { canonicalBytes, digestOfBytes } from './digest.ts';
import type { BodyOf, NewFact } from './facts.ts';
import { contradictsRecord, hasEffectBy } from './finality.ts';
import { limits } from './limits.ts';
import { unfilledProblem } from './paste.ts';
import type { ActionState } from './run-state.ts';
import { boundedWords } from './words.ts';

export interface CommandReply {
  readonly what: 'applied' | 'duplicate' | 'rejected' | 'disputed';
  readonly why: string | null;
}

export function decideResolve(
  command: ResolveCommand,
): (view: LedgerView) => Decision<CommandReply> {
  return (view) => {
    if (view.run.commandIds.has(command.id))
      return { reply: { what: 'duplicate', why: null }, facts: [] };
    const action = view.run.actions.get(command.actionId);
    const why =
      action === undefined || (action.attempts.length === 0 && command.verb !== 'confirm_distinct')
        ? `no attempt of it entered in run ${view.run.runId}; check the action id`
        : problemOf(command, action, view);
    if (action === undefined || why !== null)
      return rejection(view, {
        commandId: command.id,
        name: 'resolve',
        why: `${command.actionId}: ${why}`,
      });
    const payload = resultPayload(command);
    const body = bodyOf(command, payload);
    const facts: NewFact[] = [{ source: 'human', body }];
    const contradicts = contradictsRecord(action, command.verb);
    const reply = { what: contradicts ? 'disputed' : 'applied', why: null } as const;
    return { reply, facts, payloads: payload === null ? [] : [payload] };
  };
}

/** A rejection is kept as a fact up to a cap per run; beyond it only counted by its sender. */
export function rejection(
  view: LedgerView,
  ask: { commandId: string | null; name: string; why: string },
): Decision<CommandReply> {
  const reply = { what: 'rejected', why: ask.why } as const;
  if (view.run.rejectedCount >= limits.rejectedCommandsMax) return { reply, facts: [] };
  const { commandId, name, why } = ask;
  const body = {
    kind: 'command_rejected',
    commandId: commandId && boundedWords(commandId, limits.commandIdCharsMax),
    name: boundedWords(name, limits.labelCharsMax),
    why: boundedWords(why, limits.noteCharsMax),
  } as const;
  return { reply, facts: [{ source: 'human', body }] };
}

export function decideRejection(ask: {
  commandId: string | null;
  name: string;
  why: string;
}): (view: LedgerView) => Decision<CommandReply> {
  return (view) => rejection(view, ask);
}

/** What can be told without the ledger, by who knows the version of the action's record. */
export function unreadyProblem(command: ResolveCommand, current: number): string | null {
  const { recordVersion: answered } = command;
  if (answered < current)
    return `the answer is to record ${answered}, the record is now ${current}; look again`;
  return unfilledProblem(command);
}

function problemOf(
  command: ResolveCommand,
  action: ActionState,
  { run, now }: LedgerView,
): string | null {
  const unready = unreadyProblem(command, action.recordVersion);
  if (unready !== null) return unready;
  const { recordVersion: answered } = command;
  if (answered > run.head.count) return `record ${answered} does not exist`;
  if (command.verb === 'authorize_retry') return retryProblem(command, action, now);
  if (command.verb === 'confirm_distinct') return distinctProblem(command, action);
  if (command.verb === 'settle_dispute')
    return action.disputed ? null : 'no two outcomes contradict each other; there is no dispute';
  if (command.verb === 'abandon' && action.final !== null)
    return 'its outcome is final; there is nothing to abandon';
  if (nothingOpen(action) && agrees(command, action))
    return 'settled already as you say; nothing changes';
  return null;
}

function nothingOpen(action: ActionState): boolean {
  return action.final !== null || undecidedAttempts(action).length === 0;
}

function agrees(command: ResolveCommand, action: ActionState): boolean {
  if (command.verb === 'confirm_executed')
    return action.final?.kind.startsWith('executed') === true;
  return !hasEffectBy(action.final);
}

function retryProblem(
  command: Extract<ResolveCommand, { verb: 'authorize_retry' }>,
  action: ActionState,
  now: number,
): string | null {
  if (action.final !== null) return 'its outcome is final; a retry would repeat it';
  if (action.abandoned)
    return 'it was abandoned and is never resent; confirm what you know instead';
  const first = action.attempts[0]?.entry;
  const inRetention =
    first?.replay === 'keyed' && first.resendUntil !== null && now < first.resendUntil;
  if (inRetention || command.acceptsPossibleDuplicate) return null;
  return 'the receiver does not de-duplicate it (any more); acceptsPossibleDuplicate must be true';
}

/** Two wishes that look the same: the one that waits is said to be another one. */
function distinctProblem(
  { distinctFrom }: Extract<ResolveCommand, { verb: 'confirm_distinct' }>,
  { refusals, resolutions }: ActionState,
): string | null {
  if (resolutions.some((each) => each.distinctFrom === distinctFrom))
    return `settled already: it is another one than ${distinctFrom}; nothing changes`;
  if (refusals.some(({ twin }) => twin === distinctFrom)) return null;
  const twins = [...new Set(refusals.flatMap(({ twin }) => twin ?? []))];
  return twins.length === 0
    ? `it does not wait for ${distinctFrom}, nor for any other that looks the same`
    : `it does not wait for ${distinctFrom}; it waits for ${twins.join(', ')}`;
}

function resultPayload(command: ResolveCommand): NewPayload | null {
  if (!statesResult(command) || command.result === undefined) return null;
  const bytes = canonicalBytes(command.result);
  return { digest: digestOfBytes(bytes), bytes };
}

type Stating = Extract<ResolveCommand, { verb: 'confirm_executed' | 'settle_dispute' }>;

function statesResult(command: ResolveCommand): command is Stating {
  return command.verb === 'confirm_executed' || command.verb === 'settle_dispute';
}

function bodyOf(command: ResolveCommand, payload: NewPayload | null): BodyOf<'resolution'> {
  const confirmsNot = command.verb === 'confirm_not_executed';
  const states = statesResult(command);
  return {
    kind: 'resolution',
    actionId: command.actionId,
    commandId: command.id,
    verb: command.verb,
    actor: command.actor,
    reason: command.reason,
    evidence: states || confirmsNot ? command.evidence : null,
    coverage: confirmsNot ? command.coverage : null,
    recordVersion: command.recordVersion,
    externalId: states ? (command.externalId ?? null) : null,
    result: payload === null ? null : { digest: payload.digest, bytes: payload.bytes.length },
    oldRequestCannotArrive: confirmsNot && command.oldRequestCannotArrive,
    acceptsPossibleDuplicate:
      command.verb === 'authorize_retry' && command.acceptsPossibleDuplicate,
    permit: command.verb === 'authorize_retry' ? `permit/${command.id}` : null,
    ...(command.verb === 'confirm_distinct' ? { distinctFrom: command.distinctFrom } : {}),
    ...(command.verb === 'settle_dispute' ? { states: command.states } : {}),
  };
}
