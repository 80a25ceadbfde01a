// Waits of an action that end early when its run stops, or when what it waits for is settled.

import { condition, patched } from '@temporalio/workflow';
import { type ActEnd, type Course, stopped } from './course.ts';
import { patches } from './patches.ts';

/** Ends early when the run stops; the stop is then the end. */
export async function pause(
  { session, actionId }: Course,
  afterMs: number,
  isOver: () => boolean = () => false,
): Promise<ActEnd | null> {
  const ends = () => session.stop !== null || isOver();
  if (afterMs > 0) await condition(ends, afterMs, { summary: `${actionId}, again` });
  return stopped(session);
}

/** As `pause`, and says on the run's page what for: a twin's question, the authority. */
export async function wait(course: Course, afterMs: number, why: string): Promise<ActEnd | null> {
  const { session, actionId } = course;
  session.waitingFor = `${actionId}: ${why}`;
  const isOver = answered(course);
  session.show();
  const end = await pause(course, afterMs, isOver);
  session.waitingFor = null;
  if (end !== null) session.twins.delete(actionId);
  session.show();
  return end;
}

/**
 * Whether news came since it was refused of the action it waits for, or of itself: a person said
 * that it is another wish. Asks that person, too.
 */
function answered({ session, actionId, refused, binding }: Course): () => boolean {
  if (refused?.waits == null || !patched(patches.wakeOnAnswer)) return () => false;
  const { verdict, heard, waits } = refused;
  const { actionId: twin, recordVersion } = waits;
  if (verdict === 'twin_unknown')
    session.twins.set(actionId, { tool: binding.tool, twin, recordVersion });
  return () => [actionId, twin].some((each) => session.hints.get(each) !== heard.get(each));
}
