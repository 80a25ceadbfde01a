// A position that the walk already has: its outcome is adopted, or what is open of it is asked
// about. Its stored payload is used, never a rebuilt one; a model call builds its context anew.

import type { WalkEntry } from '../core/activity-calls.ts';
import type { AttemptEnd } from '../core/attempt-end.ts';
import type { Json } from '../core/digest.ts';
import type { Outcome } from '../core/outcome.ts';
import { type Course, doubtfulOf } from './course.ts';
import { recordDoubt } from './doubt.ts';
import { openedOf } from './session.ts';
import { lookAt } from './unknown.ts';

export type Recorded =
  | { readonly kind: 'adopted'; readonly outcome: Outcome; readonly value: Json | undefined }
  | AttemptEnd;

/** Null: nothing is recorded, or nothing that keeps it from being tried. */
export async function recordedEnd(course: Course): Promise<Recorded | null> {
  const { session, request } = course;
  const { walk, consumption } = openedOf(session);
  const entry = walk.get(request.position);
  if (entry === undefined) return null;
  if (request.policy.replay !== 'rebuy' && entry.payload !== null)
    course.input = { kind: 'stored', payload: entry.payload };
  if (entry.binding !== null) course.binding = entry.binding;
  if (entry.rolled !== null) consumption.entered(course.decided, entry.rolled);
  for (const attemptId of entry.openAttempts) course.openAttempts.add(attemptId);
  if (entry.outcome !== null && isAdopted(entry.outcome, entry, walk))
    return {
      kind: 'adopted',
      outcome: entry.outcome,
      value: await storedValue(course, entry.outcome),
    };
  const [oldest] = entry.openAttempts;
  if (oldest !== undefined) return openEnd(course, entry.openAttempts);
  if (entry.outcome === null && entry.attemptsEntered > 0)
    return { kind: 'inquiry', ifOpen: 'ask', ...(await lookAt(session, doubtfulOf(course))) };
  return null;
}

/**
 * A lasting outcome always; "not executed so far" only when the run had gone on from here: whoever
 * was told that nothing happened must not find an effect later.
 */
function isAdopted(
  outcome: Outcome,
  entry: WalkEntry,
  walk: ReadonlyMap<string, WalkEntry>,
): boolean {
  if (outcome.kind === 'accepted') return false;
  if (outcome.kind !== 'not_executed' || outcome.digest !== null) return true;
  const positions = [...walk.keys()];
  const later = positions.slice(positions.indexOf(entry.position) + 1);
  return later.some((position) => !areSiblings(position, entry.position));
}

/** Calls of one turn are decided together. */
function areSiblings(left: string, right: string): boolean {
  const turn = (position: string) => /^(.*t\d+)\.c\d+$/.exec(position)?.[1] ?? null;
  return turn(left) !== null && turn(left) === turn(right);
}

/** Of an outcome that came without it. */
export async function storedValue(course: Course, outcome: Outcome): Promise<Json | undefined> {
  if (!course.request.wantsValue || outcome.kind !== 'executed') return undefined;
  return (await lookAt(course.session, doubtfulOf(course))).value;
}

/**
 * The worker that ran them is gone, or still at work: the ledger tells, and closes nothing here.
 */
async function openEnd(course: Course, attemptIds: readonly string[]): Promise<AttemptEnd> {
  let end: AttemptEnd | null = null;
  for (const attemptId of attemptIds) {
    const why = 'open when the run was taken up again';
    const nothing = { externalId: null, receiptDigest: null };
    end = await recordDoubt(course, { attemptId, why, burns: 'attempt', ...nothing });
    if (end.kind === 'doubt' && end.state !== 'in_doubt') break;
  }
  if (end === null) throw new Error(`${course.actionId}: no attempt is open`);
  return end;
}
