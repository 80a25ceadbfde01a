// Steps of a run's story that people tell: amendments, approvals and what is added to a budget.

import { decideAuthority, type GivenCommand } from '../../core/authority.ts';
import type { AuthorityCommand, AuthorityVerb } from '../../core/commands.ts';
import type { Digest } from '../../core/digest.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { ACTION, enter, RUN } from './asks.ts';
import type { MemoryLedger } from './memory-ledger.ts';
import { actionOf } from './story.ts';

/** A plan's step with the tool that tests open their runs with. */
export const step = { tool: 'charge_card', input: { amount: 20 } };
export const planGoal = { kind: 'plan', steps: [step] };

type More<V extends AuthorityVerb> = Omit<AuthorityCommand<V>, 'id' | 'actor' | 'reason'>;
type Who = { readonly id?: string; readonly actor?: string; readonly reason?: string };

/** A command as it reaches the ledger; the id is a new one unless given. */
export function give<V extends AuthorityVerb>(
  ledger: MemoryLedger,
  verb: V,
  more: More<V> & Who,
  position: string | null = null,
) {
  const id = `${verb}-${ledger.facts(RUN).length}`;
  const command = { id, actor: 'ada', reason: 'because', ...more };
  const given = { verb, command } as unknown as GivenCommand;
  return ledger.decide({ runId: RUN }, decideAuthority(given, position));
}

export const amend = (ledger: MemoryLedger, more: More<'amend'> & Who) =>
  give(ledger, 'amend', more);
export const topUp = (ledger: MemoryLedger, more: More<'topUp'> & Who) =>
  give(ledger, 'topUp', more);

/** What the action asks for, as the newest refusal has it. */
export function askedBound(ledger: MemoryLedger, actionId = ACTION): Digest {
  const asks = actionOf(ledger, actionId).refusals.findLast((each) => each.asks)?.asks;
  if (asks === undefined) throw new Error(`${actionId}: asks for nothing`);
  return asks.bound as Digest;
}

/** On what the action asks for now, unless another is named. */
export function decide(
  ledger: MemoryLedger,
  verb: 'approve' | 'deny',
  more: Partial<More<'approve'>> & Who = {},
) {
  const actionId = more.actionId ?? ACTION;
  const bound = more.bound ?? askedBound(ledger, actionId);
  return give(ledger, verb, { ...more, actionId, bound });
}

export const forEver: Partial<EntryAsk> = { approval: { validForMs: null } };
export const forAnHour: Partial<EntryAsk> = { approval: { validForMs: 3_600_000 } };

/** Each attempt an id of its own: one that was refused is closed. */
export function attempt(no: number): Pick<EntryAsk, 'attemptId' | 'entryToken'> {
  return { attemptId: `${ACTION}~${no}`, entryToken: `token-${no}` };
}

/** An attempt asks, and a person decides on it. */
export function askAndDecide(
  ledger: MemoryLedger,
  verb: 'approve' | 'deny',
  over: Partial<EntryAsk> = {},
): void {
  const { verdict } = enter(ledger, { ...forEver, ...attempt(91), ...over });
  if (verdict !== 'approval_missing') throw new Error(`it does not ask: ${verdict}`);
  const { what, why } = decide(ledger, verb, { actionId: over.actionId ?? ACTION });
  if (what !== 'applied') throw new Error(`not decided: ${why}`);
}
