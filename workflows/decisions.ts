// Waits before an attempt for what only a person can give: an approval, or more budget. Nothing is
// scheduled meanwhile, so a wait of weeks takes no worker's slot.

import { condition } from '@temporalio/workflow';
import { limits } from '../core/limits.ts';
import { continueIfLong } from './continuing.ts';
import { type Course, doubtfulOf, type Refused } from './course.ts';
import { openedOf, type Session } from './session.ts';
import { lookAt } from './unknown.ts';

/** Until somebody decides, the run stops, or it is asked anew under another revision. */
export async function awaitApproval(course: Course): Promise<void> {
  const { session, actionId, binding } = course;
  const refused = refusedOf(course);
  if (refused.asks === null) throw new Error(`${actionId}: refused without what it asks for`);
  const { bound, earlier = 0 } = refused.asks;
  session.approvals.set(actionId, { tool: binding.tool, bound, earlier });
  let heard = refused.heard.get(actionId) ?? 0;
  await shown(session, () =>
    untilNews(course, {
      what: 'approval',
      hasNews: () => hintsOf(course) !== heard || isRevised(session, refused),
      // A decision may be in the ledger without a signal, and a hint may be about none.
      isOver: async () => {
        heard = hintsOf(course);
        if (isRevised(session, refused)) return true;
        return (await lookAt(session, doubtfulOf(course))).asks === undefined;
      },
    }),
  );
  session.approvals.delete(actionId);
  session.show();
}

/** Until the budget was added to, or the run stops. */
export async function awaitBudget(course: Course): Promise<void> {
  const { session, actionId } = course;
  const refused = refusedOf(course);
  const { topUps = 0 } = refused.authority;
  const isToppedUp = () => (openedOf(session).authority.topUps ?? 0) > topUps;
  session.exhausted = `${actionId}: ${refused.detail}`;
  await shown(session, () =>
    untilNews(course, {
      what: 'budget',
      hasNews: () => isToppedUp() || isRevised(session, refused),
      isOver: async () => {
        if (isToppedUp() || isRevised(session, refused)) return true;
        await lookAt(session, doubtfulOf(course));
        return isToppedUp();
      },
    }),
  );
  session.exhausted = null;
  session.show();
}

interface Awaited {
  readonly what: string;
  /** Heard by this run. */
  readonly hasNews: () => boolean;
  /** As the ledger has it. */
  readonly isOver: () => Promise<boolean>;
}

async function untilNews(course: Course, { what, hasNews, isOver }: Awaited): Promise<void> {
  const { session, actionId } = course;
  const summary = `${actionId}, ${what}`;
  let waitMs: number = limits.reaskMs;
  for (;;) {
    const heard = await condition(() => session.stop !== null || hasNews(), waitMs, { summary });
    if (session.stop !== null || (await isOver())) return;
    if (!heard) waitMs = Math.min(2 * waitMs, limits.reaskMaxMs);
    session.progressed = true;
    await continueIfLong(session);
  }
}

async function shown(session: Session, wait: () => Promise<void>): Promise<void> {
  session.phase = 'waiting';
  session.show();
  await wait();
  session.phase = 'running';
}

function refusedOf({ refused, actionId }: Course): Refused {
  if (refused === null) throw new Error(`${actionId}: it was not refused`);
  return refused;
}

function hintsOf({ session, actionId }: Course): number {
  return session.hints.get(actionId) ?? 0;
}

function isRevised(session: Session, { authority: { revisions } }: Refused): boolean {
  const { goal, auth } = openedOf(session).authority.revisions;
  return goal !== revisions.goal || auth !== revisions.auth;
}
