// Whether one more attempt fits the run's budget. Pure: everything is summed from the facts each
// time, so there is no counter that a restart could reset or two workers could lose.

import { costsOf, knownCosts } from './attempt-costs.ts';
import type { Added, Budget, Reserve } from './budget-limits.ts';
import { type Cost, type Money, moneyText } from './cost.ts';
import { exactSum } from './exact-sum.ts';
import type { ActionState, AttemptState, RunState } from './run-state.ts';

/** What is used up, and what open attempts and lost replies still hold. */
export interface Spent {
  readonly requests: Use;
  readonly tokens: Use;
  /** In the budget's currency. */
  readonly micros: Use;
  /** Attempts whose cost is not known: their reserves are held. */
  readonly unknown: number;
}

export interface Use {
  readonly known: number;
  readonly held: number;
}

interface Sum {
  requests: { known: number; held: number };
  tokens: { known: number; held: number };
  micros: { known: number; held: number };
  unknown: number;
}

export function spentOf(run: RunState): Spent {
  const none = () => ({ known: 0, held: 0 });
  const sum: Sum = { requests: none(), tokens: none(), micros: none(), unknown: 0 };
  const currency = run.budget?.money?.currency ?? null;
  for (const action of run.actions.values()) {
    for (const cost of costsOf(action)) addCost(sum, cost, currency);
    for (const attempt of action.attempts) addHeld(sum, action, { attempt, currency });
  }
  return sum;
}

interface Counted {
  readonly attempt: AttemptState;
  readonly currency: string | null;
}

/** Known cost releases a reserve, and so does the word that nothing was sent or taken. */
function addHeld(sum: Sum, action: ActionState, { attempt, currency }: Counted): void {
  const { settled, entry } = attempt;
  const { reserve } = entry;
  const money = microsIn(currency, reserve?.money);
  const known = knownCosts(action, attempt);
  // Usage without a price in the budget's currency is not worth 0 of it.
  if (known.length > 0)
    sum.micros.held += known.some((cost) => isPriced(cost, currency)) ? 0 : money;
  else if (settled?.cost.kind !== 'none') {
    sum.requests.held += reserve?.requests ?? (entry.replay === 'rebuy' ? 1 : 0);
    sum.tokens.held += reserve?.tokens ?? 0;
    sum.micros.held += money;
  }
}

function isPriced({ usage, estimate }: Cost & { kind: 'known' }, currency: string | null): boolean {
  const { requests, inputTokens, outputTokens } = usage;
  return estimate?.currency === currency || requests + inputTokens + outputTokens === 0;
}

function addCost(sum: Sum, cost: Cost, currency: string | null): void {
  if (cost.kind === 'unknown') sum.unknown += 1;
  if (cost.kind !== 'known') return;
  sum.requests.known += cost.usage.requests;
  sum.tokens.known += cost.usage.inputTokens + cost.usage.outputTokens;
  sum.micros.known += microsIn(currency, cost.estimate);
}

function microsIn(currency: string | null, money: Money | null | undefined): number {
  return money != null && money.currency === currency ? money.micros : 0;
}

/** Why an attempt with this reserve does not fit now, or null. */
export function budgetProblem(
  run: RunState,
  reserve: Reserve | undefined,
  now: number,
): string | null {
  const { budget, openedAt } = run;
  if (budget === null) return null;
  if (budget.wallTimeMs !== undefined && openedAt !== null && now - openedAt >= budget.wallTimeMs)
    return `the run is open for ${now - openedAt} ms, of ${budget.wallTimeMs}`;
  if (reserve === undefined) return null;
  const spent = spentOf(run);
  return (
    sumProblem('requests', spent.requests, { limit: budget.requests, more: reserve.requests }) ??
    sumProblem('tokens', spent.tokens, { limit: budget.tokens, more: reserve.tokens }) ??
    moneyProblem(budget, reserve, spent)
  );
}

interface Asked {
  readonly limit: number | undefined;
  readonly more: number;
}

function sumProblem(what: string, use: Use, { limit, more }: Asked): string | null {
  if (limit === undefined || more === 0 || use.known + use.held + more <= limit) return null;
  return `${what}: ${use.known} used, ${use.held} held, ${more} more do not fit ${limit}`;
}

function moneyProblem({ money, tokens }: Budget, reserve: Reserve, spent: Spent): string | null {
  if (money === undefined) return null;
  const { currency } = money;
  if (reserve.money === null || reserve.money.currency !== currency) {
    // A cap on tokens bounds what is paid by tokens; money of another currency may be for anything.
    const bounded = reserve.tokens > 0 || (reserve.money?.micros ?? 0) === 0;
    const costsNothing = reserve.requests + reserve.tokens === 0;
    if (bounded && (costsNothing || tokens !== undefined)) return null;
    return `there is no price in ${currency} for it, and no cap on tokens; give one of them`;
  }
  const { known, held } = spent.micros;
  const more = reserve.money.micros;
  if (more === 0 || known + held + more <= money.micros) return null;
  const text = (micros: number) => moneyText({ currency, micros } satisfies Money);
  const uses = `${text(known)} used, ${text(held)} held`;
  return `money: ${uses}, ${text(more)} more do not fit ${text(money.micros)}`;
}

/** A limit that was not declared stays none: what is added to it would only bring it in. */
export function toppedUp(budget: Budget | null, added: Added): Budget | null {
  if (budget === null) return null;
  const { requests, tokens, money, wallTimeMs } = budget;
  const more = (limit: number, by: number | undefined) => exactSum(limit, by ?? 0);
  return {
    ...budget,
    ...(requests === undefined ? {} : { requests: more(requests, added.requests) }),
    ...(tokens === undefined ? {} : { tokens: more(tokens, added.tokens) }),
    ...(money === undefined
      ? {}
      : { money: { ...money, micros: more(money.micros, added.micros) } }),
    ...(wallTimeMs === undefined ? {} : { wallTimeMs: more(wallTimeMs, added.wallTimeMs) }),
  };
}

/** What of `added` names a limit that the run does not have; null: nothing. */
export function topUpProblem(budget: Budget | null, added: Added): string | null {
  if (budget === null) return 'the run has no budget, so nothing of it can run out';
  const has = { ...budget, micros: budget.money };
  const missing = Object.keys(added).find((name) => has[name as keyof Added] === undefined);
  return missing === undefined ? null : `the run has no limit on ${missing}`;
}
