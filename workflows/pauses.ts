// Waits of an action that end early when its run stops.

import { condition } from '@temporalio/workflow';
import { type ActEnd, type Course, stopped } from './course.ts';

/** Ends early when the run stops; the stop is then the end. */
export async function pause(
  { session, actionId }: Course,
  afterMs: number,
): Promise<ActEnd | null> {
  if (afterMs > 0)
    await condition(() => session.stop !== null, afterMs, { summary: `${actionId}, again` });
  return stopped(session);
}

/** As `pause`, and says on the run's page what for: a twin's question, the authority. */
export async function wait(course: Course, afterMs: number, why: string): Promise<ActEnd | null> {
  const { session, actionId } = course;
  session.waitingFor = `${actionId}: ${why}`;
  session.show();
  const end = await pause(course, afterMs);
  session.waitingFor = null;
  session.show();
  return end;
}
