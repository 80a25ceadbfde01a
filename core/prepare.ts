// What an attempt writes down right before its effect, so that it can be recognised afterwards.
//
// INV-1  An attempt that is asked about, settled or of an older epoch can no longer prepare. With a
//        tool that never acts unprepared, nobody has to be waited for: without marks nothing can
//        come any more, and with marks it is known what to shut out.

import type { LedgerPin } from './activity-calls.ts';
import type { Decision, LedgerView } from './decision.ts';
import { canonicalJson } from './digest.ts';
import type { Marks } from './fact-fields.ts';
import type { BodyOf } from './facts.ts';
import { pinProblem } from './pin.ts';
import type { AttemptState, RunState } from './run-state.ts';

export interface PrepareAsk {
  readonly actionId: string;
  readonly attemptId: string;
  readonly marks: Marks;
  readonly pin: LedgerPin;
}

/** Replies why the attempt may not go on, or null. The same marks again change nothing. */
export function decidePrepare(ask: PrepareAsk): (view: LedgerView) => Decision<string | null> {
  return (view) => {
    const { pin, ...rest } = ask;
    const body: BodyOf<'attempt_prepared'> = { kind: 'attempt_prepared', ...rest };
    const mismatch = pinProblem(pin, view);
    if (mismatch !== null) return { reply: mismatch, facts: [] };
    const before = attemptOf(view.run, ask);
    const isRepeated = before?.prepared != null && sameMarks(before.prepared, ask.marks);
    const first = isRepeated ? { ...before, prepared: null } : before;
    const problem = problemOf(view.run, first);
    const facts = problem === null && !isRepeated ? [{ source: 'execution' as const, body }] : [];
    return { reply: problem, facts };
  };
}

export function prepareProblem(run: RunState, body: BodyOf<'attempt_prepared'>): string | null {
  return problemOf(run, attemptOf(run, body));
}

function problemOf({ opened }: RunState, attempt: AttemptState | undefined): string | null {
  if (attempt === undefined) return 'prepares what has not entered';
  if (attempt.settled !== null || attempt.exclusion !== 'none') return 'the attempt is over';
  if (attempt.doubted) return 'the attempt is asked about';
  if (attempt.entry.sendToken.epoch !== opened?.epoch) return 'another claim has the run';
  if (attempt.prepared !== null) return 'the attempt has other marks';
  return null;
}

function sameMarks(one: Marks, other: Marks): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function attemptOf(
  { actions }: RunState,
  { actionId, attemptId }: Pick<PrepareAsk, 'actionId' | 'attemptId'>,
): AttemptState | undefined {
  return actions.get(actionId)?.attempts.find((each) => each.attemptId === attemptId);
}
