// Steps of a run's story for tests of decisions: what happens after an attempt has entered.

import { decideAuthority, decideTicket } from '../../core/authority.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { genesisBase } from '../../core/consumes.ts';
import { type Contract, type ContractInput, contractSchema } from '../../core/contract.ts';
import { decideClosing, decideDoubt } from '../../core/doubt.ts';
import { decideEnd, type EndAsk } from '../../core/end-run.ts';
import type { BodyOf } from '../../core/facts.ts';
import type { EntryAsk } from '../../core/gate.ts';
import { decideInquiry, type InquiryAsk } from '../../core/inquiry.ts';
import { decideResolve } from '../../core/resolve.ts';
import type { ActionState } from '../../core/run-state.ts';
import { ACTION, current, enter, open, pinOf, RUN } from './asks.ts';
import type { MemoryLedger } from './memory-ledger.ts';

/** Another attempt of the action; with it, `no` of the attempt. */
export const again = (no = 2): Partial<EntryAsk> => ({
  attemptId: `${ACTION}~${no}`,
  entryToken: `token-${no}`,
});

export const keyed = {
  replay: 'keyed',
  retention: { retentionMs: 3_600_000, marginMs: 600_000 },
} as const;
export const safe = { replay: 'safe', intentDigest: null } as const;
export const rebuy = { replay: 'rebuy', intentDigest: null } as const;

/** Its arguments are told in turn, from left to right; for rows that need more than one step. */
export function inTurn(..._told: readonly unknown[]): void {}

export function later(ledger: MemoryLedger, ms: number): void {
  ledger.now += ms;
}

export function openAndEnter(ledger: MemoryLedger, over: Partial<EntryAsk> = {}): void {
  open(ledger);
  if (enter(ledger, over).verdict !== 'entered') throw new Error('did not enter');
}

export function actionOf(ledger: MemoryLedger, actionId = ACTION): ActionState {
  const action = ledger.run(RUN).actions.get(actionId);
  if (action === undefined) throw new Error(`${actionId}: not known`);
  return action;
}

/** The newest facts' bodies, after the first `count`. */
export function bodiesAfter(ledger: MemoryLedger, count: number) {
  return ledger
    .facts(RUN)
    .slice(count)
    .map(({ body }) => body);
}

export function doubt(
  ledger: MemoryLedger,
  attemptId = `${ACTION}~1`,
  externalId: string | null = null,
  why = 'no reply in time',
  receiptDigest: string | null = null,
) {
  const actionId = attemptId.replace(/~.*/, '');
  const ask = { actionId, attemptId, why, externalId, receiptDigest };
  return ledger.decide({ runId: RUN, actionId, attemptId }, decideDoubt(ask));
}

export function close(ledger: MemoryLedger, attemptId: string) {
  const actionId = attemptId.replace(/~.*/, '');
  const look = { runId: RUN, actionId, attemptId };
  return ledger.decide(look, decideClosing({ actionId, attemptId }));
}

/** What an attempt may still take, once it has entered, until it sends. */
export const SEND_WINDOW_MS = 5_000;

export const strong: ContractInput = {
  inquiry: { consistency: 'strong', settleMs: 1_000 },
  requestDelayMaxMs: 60_000,
};

export function contractOf(over: ContractInput = strong): Contract {
  return contractSchema.parse(over);
}

export function inquire(ledger: MemoryLedger, over: Partial<InquiryAsk>): void {
  const ask: InquiryAsk = {
    actionId: ACTION,
    contract: contractOf(),
    verdict: 'no_record',
    proof: null,
    detail: 'the receiver says so',
    result: null,
    parts: [],
    externalId: null,
    objectVersion: null,
    payloads: [],
    upToNumber: 9,
    marked: [],
    askedAt: ledger.now,
    sendWindowMs: SEND_WINDOW_MS,
    ...over,
  };
  ledger.decide({ runId: RUN, actionId: ask.actionId }, decideInquiry(ask));
}

const evidence = { kind: 'receiver_query', source: 'log line 7' } as const;

type Answer = { readonly verb: ResolveCommand['verb'] } & Record<string, unknown>;

/** A complete command of that verb, based on the newest record. */
export function commandOf(ledger: MemoryLedger, answer: Answer): ResolveCommand {
  const base = {
    id: `answer-${ledger.facts(RUN).length}`,
    actor: 'ada',
    reason: 'looked it up',
    actionId: ACTION,
    recordVersion: ledger.run(RUN).actions.get(ACTION)?.recordVersion ?? 1,
  };
  const byVerb = {
    confirm_executed: { evidence },
    confirm_not_executed: { evidence, coverage: 'all attempts', oldRequestCannotArrive: false },
    authorize_retry: { acceptsPossibleDuplicate: true },
    abandon: {},
    confirm_distinct: {},
    settle_dispute: { states: 'executed', evidence },
  } as const;
  return { ...base, ...byVerb[answer.verb], ...answer } as ResolveCommand;
}

export function resolve(ledger: MemoryLedger, answer: Answer) {
  return ledger.decide({ runId: RUN }, decideResolve(commandOf(ledger, answer)));
}

export function change(
  ledger: MemoryLedger,
  what: 'revoke' | 'cancel' | 'permit',
  over: { id?: string; ticket?: string } = {},
) {
  const command = { id: over.id ?? `${what}-1`, actor: 'ada', reason: 'because' };
  const decide =
    what === 'permit'
      ? decideTicket(command, over.ticket ?? `ticket/${command.id}`)
      : decideAuthority({ verb: what, command });
  return ledger.decide({ runId: RUN }, decide);
}

export function end(ledger: MemoryLedger, over: Partial<EndAsk> = {}) {
  const ask: EndAsk = {
    end: { kind: 'completed' },
    epoch: 1,
    consumes: { base: genesisBase(RUN), pairs: [] },
    pin: pinOf(ledger),
    barrier: current,
    answer: { ref: null, payload: null },
    ...over,
  };
  return ledger.decide({ runId: RUN, pin: ask.pin.head }, decideEnd(ask));
}

/** Bodies for the table of rules: legal after `openAndEnter`, everything overridable. */
export function observationOf(over: Partial<BodyOf<'observation'>> = {}): BodyOf<'observation'> {
  return {
    kind: 'observation',
    actionId: ACTION,
    attemptId: null,
    about: 'note',
    verdict: null,
    proof: null,
    detail: 'seen',
    externalId: null,
    objectVersion: null,
    cost: { kind: 'none' },
    ...over,
  };
}
