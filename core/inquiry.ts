// What a receiver's answer to a question proves. `no_record` proves nothing, unless the contract
// says that reads see all writes, its settle window has passed and the old request can no longer
// arrive.

import { isOngoing, openAttempts, undecidedAttempts } from './action-status.ts';
import type { Contract } from './contract.ts';
import type { Cost } from './cost.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type { InquiryVerdict, Part, PayloadRef, Source } from './fact-fields.ts';
import type { BodyOf, NewFact } from './facts.ts';
import type { ActionState, AttemptState } from './run-state.ts';
import { decideSettlement, type SettleAsk } from './settle.ts';

export interface InquiryAsk {
  readonly actionId: string;
  readonly contract: Contract;
  readonly verdict: InquiryVerdict;
  readonly proof: 'closed_token' | 'closed_key' | 'settled' | null;
  readonly detail: string;
  readonly result: PayloadRef | null;
  readonly parts: readonly Part[];
  readonly externalId: string | null;
  readonly objectVersion: string | null;
  readonly payloads: readonly NewPayload[];
  /** Highest attempt number the question named; a later attempt is not covered by the answer. */
  readonly upToNumber: number;
  /** Attempts whose marks the question had; one that prepared since is not covered. */
  readonly marked: readonly string[];
  /** Ledger time at which the question was asked. */
  readonly askedAt: number;
  /** How long after its entry an attempt may still send: only then does its request set out. */
  readonly sendWindowMs: number;
}

const noCost: Cost = { kind: 'none' };
const costNotSaid: Cost = { kind: 'unknown', reason: 'the receiver told the effect, not its cost' };

export function decideInquiry(ask: InquiryAsk): (view: LedgerView) => Decision<null> {
  return (view) => {
    const action = view.run.actions.get(ask.actionId);
    if (action === undefined || action.final !== null) return { reply: null, facts: [] };
    if (ask.verdict === 'executed' || ask.verdict === 'partial') return effect(ask, action, view);
    if (undecidedAttempts(action).length === 0) return { reply: null, facts: [] };
    const proof = proofOf(ask, action);
    return {
      reply: null,
      facts: proof === null ? unproved(ask, action) : excluded(ask, proof, action),
    };
  };
}

/** Is about the oldest open attempt, else one that a statement excluded, else an accepted one. */
function effect(ask: InquiryAsk, action: ActionState, view: LedgerView): Decision<null> {
  const unsettled = action.attempts.find((attempt) => attempt.settled === null);
  const open = openAttempts(action)[0] ?? unsettled;
  if (open !== undefined) return settleBy(ask, open, view);
  const ongoing = undecidedAttempts(action)[0];
  if (ongoing === undefined) return { reply: null, facts: [] };
  const { verdict, result, payloads, parts } = ask;
  const known = { attemptId: ongoing.attemptId, verdict, proof: null };
  const fact =
    verdict === 'partial'
      ? said(ask, { ...known, parts: [...parts] })
      : said(ask, { ...known, ...(result === null ? {} : { result }) });
  return isRepeated(fact.body, action)
    ? { reply: null, facts: [] }
    : { reply: null, facts: [fact], payloads };
}

function settleBy(ask: InquiryAsk, open: AttemptState, view: LedgerView): Decision<null> {
  const outcome = ask.verdict === 'partial' ? 'partial' : 'executed';
  const settlement: SettleAsk = {
    actionId: ask.actionId,
    attemptId: open.attemptId,
    outcome,
    result: outcome === 'executed' ? ask.result : null,
    resultMissing:
      outcome === 'executed' && ask.result === null
        ? 'the receiver confirms the effect, not the result'
        : null,
    parts: ask.parts,
    externalId: ask.externalId,
    objectVersion: ask.objectVersion,
    refusal: null,
    calls: [],
    cost: open.entry.reserve === undefined ? noCost : costNotSaid,
    source: 'receiver_inquiry',
    payloads: ask.payloads,
  };
  const { reply: _reply, ...written } = decideSettlement(settlement)(view);
  return { reply: null, ...written };
}

/** Which proof of "not executed" the answer carries, if any. */
function proofOf(ask: InquiryAsk, action: ActionState): InquiryAsk['proof'] {
  if (hasPreparedSince(ask, action)) return null;
  if (ask.verdict === 'not_executed') return contractAllows(ask) ? ask.proof : null;
  return ask.verdict === 'no_record' && noRecordIsFinal(ask, action) ? 'settled' : null;
}

function hasPreparedSince({ marked }: InquiryAsk, action: ActionState): boolean {
  return undecidedAttempts(action).some(
    ({ attemptId, prepared }) => prepared !== null && !marked.includes(attemptId),
  );
}

/** An adapter may not claim more than its contract declares. */
function contractAllows({ proof, contract }: InquiryAsk): boolean {
  if (proof === 'closed_token') return contract.closing === 'by_token';
  if (proof === 'closed_key') return contract.closing === 'by_key';
  return (
    proof === 'settled' && contract.inquiry !== 'none' && contract.inquiry.consistency === 'strong'
  );
}

/** Strong reads alone prove nothing while the old request can arrive, or was accepted. */
function noRecordIsFinal(ask: InquiryAsk, action: ActionState): boolean {
  const { contract, askedAt, sendWindowMs } = ask;
  if (action.attempts.some(isOngoing)) return false;
  if (contract.inquiry === 'none' || contract.inquiry.consistency !== 'strong') return false;
  if (contract.requestDelayMaxMs === 'none') return false;
  const newest = Math.max(...openAttempts(action).map((attempt) => attempt.enteredAt));
  const arrivedBy = newest + sendWindowMs + contract.requestDelayMaxMs;
  return askedAt > arrivedBy + contract.inquiry.settleMs;
}

function excluded(ask: InquiryAsk, proof: InquiryAsk['proof'], action: ActionState): NewFact[] {
  return undecidedAttempts(action)
    .filter((attempt) => attempt.entry.number <= ask.upToNumber)
    .map((attempt) => said(ask, { attemptId: attempt.attemptId, verdict: 'not_executed', proof }));
}

function unproved(ask: InquiryAsk, action: ActionState): NewFact[] {
  const fact = said(ask, { attemptId: null, verdict: ask.verdict, proof: null });
  return isRepeated(fact.body, action) ? [] : [fact];
}

/** The same answer again is not written again: a long wait must not fill the chain. */
function isRepeated({ verdict, detail, externalId }: Said, action: ActionState): boolean {
  const last = action.observations.at(-1);
  if (last?.verdict !== verdict || last.detail !== detail || last.proof !== null) return false;
  // A name that came late is news: from then on it is asked about by that (K-019).
  return externalId === null || action.observations.some((each) => each.externalId === externalId);
}

type Said = Pick<BodyOf<'observation'>, 'verdict' | 'detail' | 'externalId'>;

function said(
  ask: InquiryAsk,
  rest: Pick<BodyOf<'observation'>, 'attemptId' | 'verdict' | 'proof' | 'result' | 'parts'>,
): { source: Source; body: BodyOf<'observation'> } {
  return {
    source: 'receiver_inquiry',
    body: {
      kind: 'observation',
      actionId: ask.actionId,
      about: 'inquiry',
      detail: ask.detail,
      externalId: ask.externalId,
      objectVersion: ask.objectVersion,
      cost: noCost,
      ...rest,
    },
  };
}
