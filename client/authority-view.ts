// What a run may do now, and what it waits for: the grants in force, the budget, the decisions of
// people. Actions keep the revisions they were decided under; nothing here is merged into those.

import { decisionInForce } from '../core/approval.ts';
import { spentOf, type Use } from '../core/budget.ts';
import type { Budget } from '../core/budget-limits.ts';
import { moneyText } from '../core/cost.ts';
import type { Grant } from '../core/grants.ts';
import type { ActionState, Approval, RunState } from '../core/run-state.ts';
import { waitingForPeople } from '../core/waiting.ts';
import { type ApprovalQuestion, approvalAsked } from './approvals.ts';

/** An approval that no attempt has used yet, or a refusal by a person. */
export interface DecisionView {
  readonly actionId: string;
  readonly tool: string | null;
  readonly actor: string;
  readonly reason: string;
  /** Null: for ever. */
  readonly validUntil: string | null;
}

export interface LimitView {
  readonly limit: number;
  readonly used: number;
  /** Reserved by attempts at work, and by those whose cost is not known. */
  readonly held: number;
  /** "at least USD 0.10 used, USD 0.02 held, of USD 1.00" */
  readonly text: string;
}

export interface BudgetView {
  readonly onExhausted: Budget['onExhausted'];
  readonly requests: LimitView | null;
  readonly tokens: LimitView | null;
  /** In micros: millionths of `currency`. */
  readonly money: (LimitView & { readonly currency: string }) | null;
  readonly wallTime: { readonly limitMs: number; readonly openedAt: string | null } | null;
  /** Attempts of unknown cost: what they used is at least what is known. */
  readonly unknownAttempts: number;
  readonly topUps: number;
}

export interface AuthorityView {
  /** In force; null before the run has opened. */
  readonly grants: readonly Grant[] | null;
  readonly budget: BudgetView | null;
  /** What waits for `approve` or `deny`. */
  readonly approvals: readonly ApprovalQuestion[];
  /** What may still start: not in a run that is over, nor under a revision that is no longer. */
  readonly approvedNotStarted: readonly DecisionView[];
  readonly denied: readonly DecisionView[];
  /** What the budget did not let in since the last top-up. */
  readonly exhausted: readonly { readonly actionId: string; readonly why: string }[];
}

export function authorityView(run: RunState, now: number): AuthorityView {
  const { approvals, exhausted } = waitingForPeople(run, now);
  return {
    grants: run.grants,
    budget: run.budget === null ? null : budgetView(run, run.budget),
    approvals: approvals.flatMap((action) => approvalAsked(run, action, now) ?? []),
    approvedNotStarted: nothingStarts(run) ? [] : decisions(run, now, 'approve'),
    denied: decisions(run, now, 'deny'),
    exhausted,
  };
}

function decisions(run: RunState, now: number, decision: Approval['decision']): DecisionView[] {
  return [...run.actions.values()].flatMap((action) => {
    const newest = action.approvals.at(-1);
    if (newest?.decision !== decision || action.final !== null || isUsed(action, newest)) return [];
    if (decisionInForce(action, newest.bound, now) !== newest || !isOfNow(run, newest)) return [];
    const { actor, reason, validUntil } = newest;
    const tool = action.refusals.at(-1)?.tool ?? null;
    const until = validUntil === null ? null : new Date(validUntil).toISOString();
    return [{ actionId: action.actionId, tool, actor, reason, validUntil: until }];
  });
}

function nothingStarts({ ended, revoked, canceled }: RunState): boolean {
  return ended !== null || revoked || canceled;
}

/** Under another revision it is asked anew. */
function isOfNow({ revisions: { goal, auth } }: RunState, { revisions }: Approval): boolean {
  return revisions.goal === goal && revisions.auth === auth;
}

function isUsed(action: ActionState, { commandId }: Approval): boolean {
  return action.attempts.some(({ entry }) => entry.approval === commandId);
}

function budgetView(run: RunState, budget: Budget): BudgetView {
  const { requests, tokens, money, wallTimeMs, onExhausted } = budget;
  const spent = spentOf(run);
  const limited = (limit: number | undefined, use: Use, text: (amount: number) => string) =>
    limit === undefined ? null : limitView(limit, use, { text, isWhole: spent.unknown === 0 });
  const plain = (amount: number) => String(amount);
  const priced = money?.currency ?? '';
  const inMoney = limited(money?.micros, spent.micros, (micros) =>
    moneyText({ currency: priced, micros }),
  );
  return {
    onExhausted,
    requests: limited(requests, spent.requests, plain),
    tokens: limited(tokens, spent.tokens, plain),
    money: inMoney === null ? null : { ...inMoney, currency: priced },
    wallTime:
      wallTimeMs === undefined
        ? null
        : {
            limitMs: wallTimeMs,
            openedAt: run.openedAt === null ? null : new Date(run.openedAt).toISOString(),
          },
    unknownAttempts: spent.unknown,
    topUps: run.topUps,
  };
}

interface Wording {
  readonly text: (amount: number) => string;
  readonly isWhole: boolean;
}

function limitView(limit: number, { known, held }: Use, { text, isWhole }: Wording): LimitView {
  const used = `${isWhole ? '' : 'at least '}${text(known)} used`;
  const holding = held === 0 ? '' : `, ${text(held)} held`;
  return { limit, used: known, held, text: `${used}${holding}, of ${text(limit)}` };
}
