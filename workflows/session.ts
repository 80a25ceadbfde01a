// One run as its workflow knows it; shared by `agentRun` and `holdfast()`.
//
// Owns: the newest authority and ledger head heard of, whether the run may still schedule, what is
// scheduled, which questions are open, and hints that the ledger should be read again.
// Does not own: what happened. That is in the ledger; everything here is rebuilt by `openRun`.
// INV-1 `stop` is set once and never cleared; from then on nothing is scheduled that could act.
// INV-2 Setting it requests cancellation of every scheduled attempt, so that the barrier sees it.
// INV-3 Head and authority only ever move forward, whatever order replies come in, and never to
// another ledger than the first. The epoch comes from `openRun` alone: it is a claim, and what
// another execution has claimed is not this one's.

import type { CancellationScope } from '@temporalio/workflow';
import { allHandlersFinished, workflowInfo } from '@temporalio/workflow';
import type {
  AuthorityHead,
  HoldfastActivities,
  LedgerPin,
  WalkEntry,
} from '../core/activity-calls.ts';
import type { GivenCommand } from '../core/authority.ts';
import type { Budget } from '../core/budget-limits.ts';
import type { ResolveCommand } from '../core/commands.ts';
import { genesisBase } from '../core/consumes.ts';
import type { Json } from '../core/digest.ts';
import type { StopReason } from '../core/fact-fields.ts';
import { infraReplyOf } from '../core/infra-reply.ts';
import type { RunResult } from '../core/outcome.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import { infrastructure } from './activity-options.ts';
import { type Consumption, consumptionFrom } from './consumption.ts';
import { untilAnswered } from './infra.ts';
import type { RunStateAnswer } from './messages.ts';
import { type ActivityQueues, queuesBeside } from './queues.ts';
import { inTurn, newRecordings, type Recordings } from './recordings.ts';

export interface Opened {
  authority: AuthorityHead;
  /** The newest goal that was read, where it was amended. */
  amended: AmendedGoal | null;
  readonly catalog: ReadonlyMap<string, ToolPolicy>;
  readonly model: ToolPolicy | null;
  /** By position, in the order of their first facts. */
  readonly walk: ReadonlyMap<string, WalkEntry>;
  readonly consumption: Consumption;
}

export interface AmendedGoal {
  readonly revision: number;
  readonly goal: Json;
}

export interface Session {
  readonly runId: string;
  readonly queues: ActivityQueues;
  /** Continues as new; null: other people's workflows cannot be continued for them. */
  readonly continueAs: ((pin: LedgerPin, carried: readonly Carried[]) => Promise<never>) | null;
  /** It is due, and waits for what is being recorded: what comes meanwhile is carried on. */
  departing: boolean;
  carried: Carried[];
  /** Of an earlier execution, not handled yet. */
  backlog: number;
  workOff: (carried: readonly Carried[]) => void;
  /** Continuing as new has begun: what would be scheduled now would be lost. */
  leaving: boolean;
  /** This execution did more than walk again what is recorded. */
  progressed: boolean;
  opened: Opened | null;
  pin: LedgerPin | null;
  phase: RunStateAnswer['phase'];
  stop: StopReason | null;
  waitingFor: string | null;
  /** Actions that wait for a person's approval: what it has to name. */
  readonly approvals: Map<string, PendingApproval>;
  /** Actions that look like another one in doubt: by which they wait, and the record to name. */
  readonly twins: Map<string, WaitingTwin>;
  /** Why the budget lets nothing more in; null: it does. */
  exhausted: string | null;
  readonly onExhausted: Budget['onExhausted'];
  /** Whether another goal can take the place of its own: not where the goal is somebody's code. */
  readonly amendable: boolean;
  /** Amendments that are being recorded: what is decided now could be under the old revision. */
  amending: number;
  /** Counts up with each. */
  amendments: number;
  lastRejection: string | null;
  result: RunResult | null;
  readonly scheduled: Map<string, CancellationScope>;
  /** Open questions: action id to workflow id of the child. */
  readonly unknowns: Map<string, string>;
  /** Of these, since when: the entry that nobody has settled. */
  readonly unknownSince: Map<string, string>;
  /** Of these the child was started here and is open: its end will be heard of. */
  readonly asked: Set<string>;
  /** Counts up per action with each hint. */
  readonly hints: Map<string, number>;
  /** Commands being recorded, oldest first. */
  readonly recordings: Recordings;
  /** Called after each change that a person may want to see. */
  show: () => void;
}

/** What a person is asked to approve; the digest says exactly what. */
export interface PendingApproval {
  readonly tool: string;
  readonly bound: string;
  /** Decisions on just this that have expired: the next one is another. */
  readonly earlier: number;
}

export interface WaitingTwin {
  readonly tool: string;
  /** The action in doubt. */
  readonly twin: string;
  readonly recordVersion: number;
}

/** A command that another execution of the same workflow handles. */
export type Carried =
  | { readonly kind: 'authority'; readonly given: GivenCommand }
  | { readonly kind: 'resolve'; readonly command: ResolveCommand }
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

export interface Rejection {
  readonly name: string;
  readonly commandId: string | null;
  readonly why: string;
}

export interface SessionOptions {
  readonly continueAs: Session['continueAs'];
  readonly queuePrefix?: string;
  /** Of a question: the run it is about; else the workflow's own id. */
  readonly runId?: string;
  readonly pin: LedgerPin | null;
  readonly onExhausted?: Budget['onExhausted'] | undefined;
  readonly amendable?: boolean;
  /** From the execution before this one. */
  readonly carried?: readonly Carried[];
}

export function newSession(options: SessionOptions): Session {
  const { continueAs, queuePrefix, runId, pin } = options;
  const { workflowId, taskQueue } = workflowInfo();
  return {
    runId: runId ?? workflowId,
    queues: queuesBeside(taskQueue, queuePrefix),
    continueAs,
    departing: false,
    carried: [],
    backlog: 0,
    workOff: () => undefined,
    leaving: false,
    progressed: false,
    opened: null,
    pin,
    phase: 'opening',
    stop: null,
    waitingFor: null,
    approvals: new Map(),
    twins: new Map(),
    exhausted: null,
    onExhausted: options.onExhausted ?? 'ask',
    amendable: options.amendable ?? false,
    amending: 0,
    amendments: 0,
    lastRejection: null,
    result: null,
    scheduled: new Map(),
    unknowns: new Map(),
    unknownSince: new Map(),
    asked: new Set(),
    hints: new Map(),
    recordings: newRecordings(),
    show: () => undefined,
  };
}

export function newConsumption(session: Session): Consumption {
  return consumptionFrom(genesisBase(session.runId));
}

/** What `openRun` brought. Calling it before the run is open is a bug. */
export function openedOf(session: Session): Opened {
  if (session.opened === null) throw new Error(`${session.runId}: used before it was opened`);
  return session.opened;
}

export function pinOf(session: Session): LedgerPin {
  if (session.pin === null) throw new Error(`${session.runId}: no ledger is pinned yet`);
  return session.pin;
}

/** Every command that has come is on record, or carried on. */
export function allHandled({ backlog }: Session): boolean {
  return allHandlersFinished() && backlog === 0;
}

export function hint(session: Session, actionId: string): void {
  session.hints.set(actionId, (session.hints.get(actionId) ?? 0) + 1);
}

/** INV-1 and INV-2. */
export function stopScheduling(session: Session, reason: StopReason): void {
  if (session.stop !== null) return;
  session.stop = reason;
  for (const scope of session.scheduled.values()) scope.cancel();
  session.show();
}

/** Every attempt that has not entered is closed by its barrier; it is decided on anew. */
export function supersede(session: Session): void {
  session.amendments++;
  for (const scope of session.scheduled.values()) scope.cancel();
}

interface Heard {
  readonly authority: AuthorityHead;
  readonly pin: LedgerPin;
}

/**
 * INV-3. A revoke or cancel that the ledger knows stops the run, whether or not its signal came.
 */
export function note(session: Session, { authority, pin }: Heard): void {
  const known = session.pin;
  // What another ledger says of this run is about nothing that this history has seen.
  if (known !== null && (known.id !== pin.id || known.incarnation !== pin.incarnation)) return;
  if (known === null || pin.head.count >= known.head.count) session.pin = pin;
  if (session.opened !== null && isNewer(authority, session.opened.authority))
    session.opened.authority = { ...authority, epoch: session.opened.authority.epoch };
  if (authority.revoked) stopScheduling(session, 'revoked');
  if (authority.canceled) stopScheduling(session, 'canceled');
}

function isNewer(heard: AuthorityHead, known: AuthorityHead): boolean {
  const age = ({ revisions, topUps = 0 }: AuthorityHead) => [
    revisions.auth,
    revisions.goal,
    topUps,
  ];
  const [left, right] = [age(heard), age(known)];
  const index = left.findIndex((value, each) => value !== right[each]);
  return index === -1 || (left[index] ?? 0) > (right[index] ?? 0);
}

type Infrastructure = Omit<HoldfastActivities, 'performAction'>;

/** Calls an activity until it answers, and takes over the head and authority it tells. */
export async function ask<K extends keyof Infrastructure>(
  session: Session,
  name: K,
  call: Parameters<Infrastructure[K]>[0],
  what: string,
): Promise<Awaited<ReturnType<Infrastructure[K]>>> {
  const activities = infrastructure(name, what, session.queues);
  const once = activities[name] as (call: Parameters<Infrastructure[K]>[0]) => Promise<unknown>;
  const asking = () =>
    untilAnswered(
      what,
      async () => infraReplyOf(name, call, await once(call)),
      (waitingFor) => {
        session.waitingFor = waitingFor;
        session.show();
      },
    );
  const isCommand = name === 'recordFacts' && 'kind' in call && call.kind !== 'doubt';
  const reply = await (isCommand ? inTurn(session.recordings, call, asking) : asking());
  if ('authority' in reply && 'pin' in reply) note(session, reply);
  return reply;
}
