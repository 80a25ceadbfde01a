// Ending a run: the only fact that ends one. The final reason is computed inside its transaction.

import type { LedgerPin } from './activity-calls.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type { Consumes, End } from './fact-fields.ts';
import { openUnknowns } from './fact-rules.ts';
import type { BodyOf } from './facts.ts';
import type { BarrierView } from './gate-case.ts';
import { consumedAsRecorded, type EndCase, endTable } from './gate-table.ts';
import type { RunState } from './run-state.ts';
import type { GateVerdict } from './verdict.ts';

export interface EndAsk {
  readonly end: End;
  readonly epoch: number;
  readonly consumes: Consumes;
  readonly pin: LedgerPin;
  readonly barrier: BarrierView;
  /** Of the goal that was followed; left out: the first. */
  readonly goalRevision?: number | undefined;
  readonly answer: {
    readonly ref: BodyOf<'run_ended'>['answer'];
    readonly payload: NewPayload | null;
  };
}

export type EndVerdict =
  | { readonly kind: 'ended' }
  | { readonly kind: 'refused'; readonly verdict: GateVerdict; readonly detail: string };

const none: EndAsk['answer'] = { ref: null, payload: null };

export function decideEnd(ask: EndAsk): (view: LedgerView) => Decision<EndVerdict> {
  return (view) => {
    const { run } = view;
    if (run.ended !== null) return { reply: { kind: 'ended' }, facts: [] };
    const end = finalReason(ask.end, run);
    const refusal = refusalOf({
      ...{ ask, view },
      completes: end.kind === 'completed',
      finishes: isOfItsGoal(end),
    });
    if (refusal !== null) return { reply: refusal, facts: [] };
    // An end that completes nothing is not refused for what was consumed; its answer is left out.
    const answer = consumedAsRecorded(ask.consumes, view) ? ask.answer : none;
    const body: BodyOf<'run_ended'> = {
      kind: 'run_ended',
      end,
      epoch: ask.epoch,
      openUnknowns: openUnknowns(run),
      answer: answer.ref,
    };
    const payloads = answer.payload === null ? [] : [answer.payload];
    return { reply: { kind: 'ended' }, facts: [{ source: 'history', body }], payloads };
  };
}

/** Another goal could still be followed: the run itself is not what stopped it. */
function isOfItsGoal(end: End): boolean {
  return end.kind !== 'stopped' || end.reason === 'blocked' || end.reason === 'budget';
}

/** A revoke that came in first wins; `completed` is only said when nothing is open. */
function finalReason(wanted: End, run: RunState): End {
  if (wanted.kind !== 'completed') return wanted;
  if (run.revoked) return { kind: 'stopped', reason: 'revoked' };
  if (run.canceled) return { kind: 'stopped', reason: 'canceled' };
  return openUnknowns(run).length > 0 ? { kind: 'ended_with_unknown' } : wanted;
}

function refusalOf(each: EndCase): Extract<EndVerdict, { kind: 'refused' }> | null {
  for (const [verdict, row] of endTable) {
    const detail = row(each);
    if (detail !== null) return { kind: 'refused', verdict, detail };
  }
  return null;
}
