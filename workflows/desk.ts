// Signals and updates that runs and questions both take. Handlers never throw: what cannot be read
// is recorded as rejected, and shown to whoever sent it.
//
// Owns: which commands were handled here, how many were rejected.
// Does not own: whether a command applies; the ledger decides.
// INV-1 A command id is handed to the ledger once, and again only after the ledger refused it or
//       for a revoke or cancel; any other repetition is a duplicate.
// INV-2 Beyond the cap rejections are counted and shown, and no longer recorded.

import { setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { GivenCommand } from '../core/authority.ts';
import { lateFactSchema, type ResolveCommand, resolveSchema } from '../core/commands.ts';
import { limits } from '../core/limits.ts';
import { unfilledProblem } from '../core/paste.ts';
import { unreadyProblem } from '../core/resolve.ts';
import { boundedWords } from '../core/words.ts';
import { problemOf } from './command-problem.ts';
import { type CommandAnswer, lateFactSignal, resolveSignal, resolveUpdate } from './messages.ts';
import { ask, type Carried, hint, type Rejection, type Session } from './session.ts';

/** The action that a question is about, and the version of its record when last looked at. */
export interface Asked {
  readonly actionId: string;
  readonly recordVersion: () => number;
}

export interface Desk {
  readonly session: Session;
  /** A question takes answers about its own action only; null: about any of the run. */
  readonly asked: Asked | null;
  readonly seen: Set<string>;
  /** What a run does with a command on its authority; a question takes none. */
  take: ((given: GivenCommand) => Promise<unknown>) | null;
  rejected: number;
}

export function installDesk(session: Session, asked: Asked | null): Desk {
  const desk: Desk = { session, asked, seen: new Set(), take: null, rejected: 0 };
  setHandler(lateFactSignal, (raw) => lateFact(desk, raw), {
    description: 'Sent by activities: the ledger knows more about an action.',
  });
  session.workOff = (carried) => void workOff(desk, carried);
  setHandler(resolveSignal, (raw) => resolveByAnyone(desk, raw), {
    description: 'Answer about an action; paste it from the page that asks, complete.',
  });
  setHandler(resolveUpdate, (raw) => resolve(desk, raw), {
    description: 'As the signal, and says what is wrong with it.',
    // The screen shows a throw of the validator, and calls whatever a handler returns a success.
    validator: (raw) => {
      const problem = problemOf(resolveSchema, raw) ?? unfitProblem(desk, raw);
      if (problem !== null) throw new TypeError(problem);
    },
  });
  return desk;
}

/** Of a well-formed answer; the ledger may still know more against it. */
function unfitProblem({ asked }: Desk, raw: unknown): string | null {
  const { data: command } = resolveSchema.safeParse(raw);
  if (command === undefined) return null;
  if (asked === null) return unfilledProblem(command);
  return otherAction(asked, command) ?? unreadyProblem(command, asked.recordVersion());
}

function otherAction({ actionId }: Asked, command: ResolveCommand): string | null {
  if (command.actionId === actionId) return null;
  return `it answers ${command.actionId}; this question is about ${actionId}`;
}

/** Last of all: signals that came before the handlers go to whichever handler fits first. */
export function rejectOtherSignals(desk: Desk, known: readonly string[]): void {
  setDefaultSignalHandler((name) =>
    reject(desk, { name, commandId: null, why: unknownName(name, known) }),
  );
}

function unknownName(name: string, known: readonly string[]): string {
  const said = boundedWords(name, limits.labelCharsMax);
  return `there is no signal "${said}"; there are ${known.join(', ')}`;
}

function lateFact(desk: Desk, raw: unknown): Promise<void> | undefined {
  const parsed = lateFactSchema.safeParse(raw);
  if (!parsed.success)
    return reject(desk, malformed('lateFact', raw, problemOf(lateFactSchema, raw)));
  hint(desk.session, parsed.data.actionId);
  return undefined;
}

/** Nobody waits for the answer to a signal: where it has to wait itself, it is carried on. */
async function resolveByAnyone(desk: Desk, raw: unknown): Promise<void> {
  const { data: command } = resolveSchema.safeParse(raw);
  if (command !== undefined && carry(desk, { kind: 'resolve', command })) return;
  await resolve(desk, raw);
}

export function carry({ session }: Desk, one: Carried): boolean {
  if (!session.departing || session.carried.length >= limits.carriedMax) return false;
  if (JSON.stringify([...session.carried, one]).length > limits.carriedCharsMax) return false;
  session.carried.push(one);
  return true;
}

/** In their order, one after the other. */
async function workOff(desk: Desk, carried: readonly Carried[]): Promise<void> {
  desk.session.backlog += carried.length;
  for (const one of carried) {
    if (one.kind === 'resolve') await resolve(desk, one.command);
    else if (one.kind === 'authority') await desk.take?.(one.given);
    else await reject(desk, one.rejection);
    desk.session.backlog--;
  }
}

async function resolve(desk: Desk, raw: unknown): Promise<CommandAnswer> {
  const parsed = resolveSchema.safeParse(raw);
  if (!parsed.success) {
    const rejection = malformed('resolve', raw, problemOf(resolveSchema, raw));
    await reject(desk, rejection);
    return { what: 'rejected', why: rejection.why };
  }
  const command = parsed.data;
  const why = desk.asked === null ? null : otherAction(desk.asked, command);
  if (why !== null) {
    await reject(desk, { name: 'resolve', commandId: command.id, why });
    return { what: 'rejected', why };
  }
  if (await isRepeated(desk, 'resolve', command.id))
    return { what: 'duplicate', why: `command ${command.id} was handled before` };
  return resolveAsFact(desk, command);
}

async function resolveAsFact(desk: Desk, command: ResolveCommand): Promise<CommandAnswer> {
  const { session } = desk;
  const { runId, pin } = session;
  const call = { kind: 'resolve', runId, pin, command } as const;
  const reply = await ask(session, 'recordFacts', call, `record the answer ${command.id}`);
  hint(session, command.actionId);
  if (reply.kind !== 'applied') return { what: 'rejected', why: 'the ledger did not take it' };
  if (reply.what === 'rejected') {
    unsee(desk, 'resolve', command.id);
    countRejection(desk, 'resolve', reply.why ?? 'the ledger did not take it');
  } else session.show();
  return { what: reply.what, why: reply.why };
}

/** What stops is only repeated by itself: under an id that is taken it has to reach the ledger. */
function seenAs(name: string, commandId: string): string {
  const kind = name === 'revoke' || name === 'cancel' ? name : 'other';
  return `${kind}/${commandId}`;
}

/** Corrected and sent again, it may carry the same id. */
export function unsee({ seen }: Desk, name: string, commandId: string): void {
  seen.delete(seenAs(name, commandId));
}

/** The same id again is recorded as rejected, and harmless. */
export async function isRepeated(desk: Desk, name: string, commandId: string): Promise<boolean> {
  const key = seenAs(name, commandId);
  if (!desk.seen.has(key)) {
    desk.seen.add(key);
    return false;
  }
  await reject(desk, { name, commandId, why: `command ${commandId} was sent before` });
  return true;
}

export function malformed(name: string, raw: unknown, problem: string | null): Rejection {
  return { name, commandId: idOf(raw), why: problem ?? 'malformed' };
}

function idOf(raw: unknown): string | null {
  if (typeof raw !== 'object' || raw === null || !('id' in raw)) return null;
  const { id } = raw;
  return typeof id === 'string' && id !== '' ? boundedWords(id, limits.commandIdCharsMax) : null;
}

/** Shown, whoever refused it: beyond the cap of the run this is all that is left of it. */
export function countRejection(desk: Desk, name: string, why: string): void {
  const { session } = desk;
  desk.rejected++;
  const said = boundedWords(`${name}: ${why}`, limits.noteCharsMax);
  session.lastRejection = `${said} (${desk.rejected} rejected so far)`;
  session.show();
}

/** Beyond the cap they are only counted: a flood must not fill history and ledger. */
export async function reject(desk: Desk, rejection: Rejection): Promise<void> {
  const { session } = desk;
  countRejection(desk, rejection.name, rejection.why);
  if (desk.rejected > limits.rejectedCommandsMax) return;
  if (carry(desk, { kind: 'rejected', rejection })) return;
  const why = boundedWords(rejection.why, limits.noteCharsMax);
  const name = boundedWords(rejection.name, limits.labelCharsMax) || 'no name';
  const { runId, pin } = session;
  const call = { kind: 'rejected', runId, pin, ...rejection, name, why } as const;
  await ask(session, 'recordFacts', call, `record a rejected ${boundedWords(name, 40)}`);
}
