// Before a step that depends on what came before: everything it consumes has to be settled.

import type { InquireReply } from '../core/activity-calls.ts';
import { answerIn } from '../core/answered.ts';
import { branchOf } from '../core/ids.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Decided } from './consumption.ts';
import { putInDoubt } from './left-open.ts';
import { openedOf, type Session } from './session.ts';
import { lookAt, polled, settlementOf } from './unknown.ts';

/**
 * `settled`: some were waited for. `blocked`: one will stay open for ever, or cannot be asked
 * about.
 */
export type Predecessors = 'nothing_open' | 'settled' | 'stopped' | 'blocked';

/** What this run itself received as open: no step that holds may be decided over it. */
export async function settleReceivedOpen(session: Session, who: string): Promise<Predecessors> {
  return settleEach(session, openedOf(session).consumption.open(), who);
}

/**
 * What the gate found open although this run was told of an end: a returned value is only a hint.
 */
export async function settleConsumed(
  session: Session,
  decided: Decided,
  who: string,
): Promise<Predecessors> {
  const consumed = decided.consumes.pairs.map((pair) => pair.actionId);
  return settleEach(session, consumed, who);
}

/** What an earlier goal left open: nothing of another one is decided over it. */
export async function settleLeftBehind(session: Session, goalRevision: number): Promise<void> {
  const { walk } = openedOf(session);
  const left = [...walk.values()].filter(
    ({ position, outcome, attemptsEntered }) =>
      branchOf(position) < goalRevision &&
      attemptsEntered > 0 &&
      (outcome === null || outcome.kind === 'accepted'),
  );
  const ids = left.map(({ actionId }) => actionId);
  await settleEach(session, ids, `goal ${goalRevision}`);
}

/** `who` waits for them: that is shown by name, because nothing else of it is to be seen yet. */
async function settleEach(
  session: Session,
  actionIds: readonly string[],
  who: string,
): Promise<Predecessors> {
  let all: Predecessors = 'nothing_open';
  for (const actionId of actionIds) {
    const one = await settle(session, actionId, who);
    if (one === 'stopped' || one === 'blocked') return one;
    if (one === 'settled') all = one;
  }
  return all;
}

async function settle(session: Session, actionId: string, who: string): Promise<Predecessors> {
  const doubtful = { actionId, attemptIds: [], wantsValue: false };
  const wasOpen = openedOf(session).consumption.open().includes(actionId);
  const look = await lookAt(session, doubtful);
  const before = received(session, actionId, look, wasOpen);
  if (before !== null) return before;
  if (look.openAttempts.length === 0) {
    if (!wasOpen) return 'nothing_open';
    const reply = await named(session, { who, actionId }, () => polled(session, doubtful));
    return reply === null
      ? blockedOrStopped(session)
      : settledBy(session, actionId, reply, wasOpen);
  }
  const why = 'a later step consumes it, and it is open';
  const question = await putInDoubt(session, actionId, { look, why });
  const reply = await named(session, { who, actionId }, () =>
    settlementOf(session, doubtful, question),
  );
  return reply === null ? blockedOrStopped(session) : settledBy(session, actionId, reply, wasOpen);
}

interface Waiting {
  readonly who: string;
  readonly actionId: string;
}

async function named<T>(
  session: Session,
  { who, actionId }: Waiting,
  wait: () => Promise<T>,
): Promise<T> {
  session.waitingFor = `${who}: what becomes of ${actionId}`;
  session.show();
  const reply = await wait();
  session.waitingFor = null;
  session.show();
  return reply;
}

function blockedOrStopped(session: Session): Predecessors {
  return session.stop === null ? 'blocked' : 'stopped';
}

function settledBy(
  session: Session,
  actionId: string,
  reply: InquireReply,
  wasOpen: boolean,
): Predecessors {
  return received(session, actionId, reply, wasOpen) ?? 'blocked';
}

/** Null: still open. */
function received(
  session: Session,
  actionId: string,
  reply: InquireReply,
  wasOpen: boolean,
): Predecessors | null {
  const answer = answerIn(reply);
  if (answer === 'open') return null;
  // A permit is for whoever acts on the action itself; here it only says that it will stay open.
  if (answer !== 'settled' || reply.outcome === null) return 'blocked';
  if (!wasOpen) return 'nothing_open';
  openedOf(session).consumption.receive(ownedBy(actionId, reply.outcome));
  return 'settled';
}

function ownedBy(actionId: string, outcome: Outcome): Outcome {
  if (outcome.actionId !== actionId)
    throw new Error(`${actionId}: inquire answered about ${outcome.actionId}`);
  return outcome;
}
