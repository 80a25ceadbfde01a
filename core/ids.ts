// Ids and how they are put together. Every id is an opaque string to everyone but this file.
//
// Action ids are `<run id>.<position>`. Two different (run, position) pairs must never give the
// same action id, because receivers de-duplicate by it; the refusals in `runIdProblem` keep the map
// injective.

import * as z from 'zod';
import { limits } from './limits.ts';

/**
 * `t3.c1` (turn 3, call 1), `t3.m` (its model call), a name an author gave. After a `b2.` where the
 * walk goes on under an amended goal: the branch has the number of the goal's revision.
 */
const POSITION = /^(b([2-9]|[1-9]\d+)\.)?(t[1-9]\d*\.(m|c[1-9]\d*)|[a-z][a-z0-9_-]{0,63})$/;
const LOOKS_LIKE_A_POSITION_HEAD = /\.[tb][1-9]\d*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f]/;
const CHILD_PREFIX = 'unknown.';
const ATTEMPT_MARK = '~';

/** Why `id` cannot be a run id, or null. The text says what to do. */
export function runIdProblem(id: string): string | null {
  if (id.length === 0) return 'it is empty; give the business id of the task, e.g. "invoice-42"';
  if (id.length > limits.runIdCharsMax)
    return `it has ${id.length} characters; the most is ${limits.runIdCharsMax}`;
  if (CONTROL.test(id) || id !== id.trim())
    return 'it has control characters or blanks at an end; remove them';
  if (!id.isWellFormed()) return 'it has half a surrogate pair; send well-formed Unicode';
  if (id.startsWith(CHILD_PREFIX))
    return `"${CHILD_PREFIX}" begins the ids of questions; choose another`;
  if (LOOKS_LIKE_A_POSITION_HEAD.test(id))
    return 'it ends like a position (".t3"); action ids would be ambiguous; choose another ending';
  return null;
}

export const runIdSchema = z.string().superRefine((id, context) => {
  const problem = runIdProblem(id);
  if (problem !== null) context.addIssue({ code: 'custom', message: `run id "${id}": ${problem}` });
});

export const positionSchema = z
  .string()
  .regex(POSITION, 'a position is tN.m, tN.cN or a name such as "charge", lower case, at most 64');

export function isPosition(text: string): boolean {
  return POSITION.test(text);
}

export function actionIdOf(runId: string, position: string): string {
  return `${runId}.${position}`;
}

/** Whether the action id is of this run, and not of one whose id begins alike. */
export function isActionOf(runId: string, actionId: string): boolean {
  const head = `${runId}.`;
  return actionId.startsWith(head) && isPosition(actionId.slice(head.length));
}

export function callPosition(turn: number, call: number): string {
  return `t${turn}.c${call}`;
}

export function modelPosition(turn: number): string {
  return `t${turn}.m`;
}

/** Position under the goal of that revision: the first has no prefix. */
export function branchPosition(goalRevision: number, position: string): string {
  return goalRevision === 1 ? position : `b${goalRevision}.${position}`;
}

/** Goal revision that a position belongs to. */
export function branchOf(position: string): number {
  const found = /^b([1-9]\d*)\./.exec(position);
  return found === null ? 1 : Number(found[1]);
}

/** `random` is drawn afresh for each scheduling; the result is also Temporal's activity id. */
export function attemptIdOf(actionId: string, random: string): string {
  const tail = random.replaceAll('-', '').slice(0, limits.attemptRandomChars);
  return `${actionId}${ATTEMPT_MARK}${tail}`;
}

/** Workflow id of the question about an action. */
export function unknownIdOf(actionId: string): string {
  return `${CHILD_PREFIX}${actionId}`;
}

export interface KeyScope {
  readonly installation: string;
  readonly namespace: string;
}

/** What the receiver de-duplicates by: the same for every attempt of the action, for ever. */
export function receiverKeyOf(scope: KeyScope, actionId: string): string {
  return `${scope.installation}/${scope.namespace}/${actionId}`;
}

/** The id under which the attempt's result will be stored; written in the intent. */
export function resultIdOf(attemptId: string): string {
  return `${attemptId}.result`;
}

/** Issued by the gate, compared lexicographically as numbers; what a fencing receiver fences on. */
export interface SendToken {
  readonly epoch: number;
  readonly number: number;
}

export const sendTokenSchema = z.object({
  epoch: z.number().int().positive(),
  number: z.number().int().positive(),
});

/** Negative when `a` is older than `b`. */
export function compareSendTokens(a: SendToken, b: SendToken): number {
  return a.epoch - b.epoch || a.number - b.number;
}

/** Installation and namespace stand before a slash in the receiver key and so may hold none. */
export const scopeNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, 'letters, digits, ". _ -", at most 63 characters');
