// What a run may do now and what it waits for, as lines of `holdfast state`.

import { topUpTo } from '../core/paste.ts';
import type { AuthorityView, BudgetView, DecisionView } from './authority-view.ts';
import { counted, jsonLines } from './lines.ts';

export function authorityLines(runId: string, view: AuthorityView): string[] {
  return [
    ...(view.grants === null ? [] : [`granted: ${view.grants.join(', ') || '(nothing)'}`]),
    ...(view.budget === null ? [] : budgetLines(view.budget)),
    ...view.exhausted.flatMap(({ actionId, why }) => [
      `waits for a top-up: ${actionId}: ${why}`,
      `  holdfast top-up ${runId}, or the signal (or update) topUp:`,
      ...jsonLines(topUpTo(runId, why), '  '),
    ]),
    ...view.approvals.flatMap(({ question, answer, actionId }) => [
      `waits for an approval: ${question} see: holdfast approve ${actionId}`,
      ...jsonLines(answer, '  '),
    ]),
    ...view.approvedNotStarted.map((each) => decisionLine('approved, not started', each)),
    ...view.denied.map((each) => decisionLine('denied', each)),
  ];
}

function budgetLines(budget: BudgetView): string[] {
  const { requests, tokens, money, wallTime, unknownAttempts, onExhausted, topUps } = budget;
  const limited = Object.entries({ requests, tokens, money });
  return [
    `budget (when used up: ${onExhausted}${topUps === 0 ? '' : `; ${counted(topUps, 'top-up')}`}):`,
    ...limited.flatMap(([name, use]) => (use === null ? [] : [`  ${name}: ${use.text}`])),
    ...(wallTime === null
      ? []
      : [`  wall time: ${wallTime.limitMs} ms from ${wallTime.openedAt ?? 'the opening'}`]),
    ...(unknownAttempts === 0
      ? []
      : [`  ${counted(unknownAttempts, 'attempt')} of unknown cost: what they may use is held`]),
  ];
}

function decisionLine(word: string, decision: DecisionView): string {
  const { actionId, tool, actor, reason, validUntil } = decision;
  const until = validUntil === null ? '' : `, until ${validUntil}`;
  return `${word}: ${actionId}  ${tool ?? '(no tool)'}, by ${actor}: ${reason}${until}`;
}
