// Closing an attempt: its closed row, and its refusal in the chain. Of a streak of
// `authority_unavailable` the chain holds only the first and the last.

import type { Decision, GateRow, LedgerView } from './decision.ts';
import type { PayloadRef, Revisions } from './fact-fields.ts';
import type { ApprovalAsk, BodyOf, NewFact } from './facts.ts';
import type { Refusal } from './verdict.ts';

export interface RefusalAsk {
  readonly attemptId: string;
  readonly actionId: string;
  readonly position: string | null;
  readonly verdict: Refusal;
  readonly detail: string | null;
  readonly payload: PayloadRef | null;
  readonly tool: string | null;
  readonly revisions: Revisions;
  readonly asks?: ApprovalAsk;
  readonly twin?: string;
}

/** Facts and rows for a refusal; with null only the end of a streak, before something else. */
export function refusalFacts(
  view: LedgerView,
  ask: RefusalAsk | null,
): Pick<Decision<unknown>, 'facts'> & { gateRows: GateRow[] } {
  if (ask !== null && continuesStreak(view, ask)) {
    const { attemptId, actionId, verdict } = ask;
    return {
      facts: [],
      gateRows: [{ kind: 'closed', attemptId, actionId, verdict, inChain: false }],
    };
  }
  const facts = lastOfStreak(view);
  if (ask === null) return { facts, gateRows: [] };
  const { attemptId, actionId, verdict } = ask;
  const body: BodyOf<'attempt_refused'> = { kind: 'attempt_refused', ...ask };
  return {
    facts: [...facts, { source: 'execution', body }],
    gateRows: [{ kind: 'closed', attemptId, actionId, verdict, inChain: true }],
  };
}

function continuesStreak(view: LedgerView, ask: RefusalAsk): boolean {
  const last = view.run.actions.get(ask.actionId)?.refusals.at(-1);
  return ask.verdict === 'authority_unavailable' && last?.verdict === 'authority_unavailable';
}

function lastOfStreak(view: LedgerView): NewFact[] {
  const row = view.unchained;
  if (row === null) return [];
  const body: BodyOf<'attempt_refused'> = {
    kind: 'attempt_refused',
    attemptId: row.attemptId,
    actionId: row.actionId,
    position: null,
    verdict: row.verdict,
    detail: 'the last of a streak',
    payload: null,
    tool: null,
    revisions: view.run.revisions,
  };
  return [{ source: 'execution', body }];
}
