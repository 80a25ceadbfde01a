// Storing what an attempt came to. An attempt settles once; anything later about it is an observation.
// These facts widen nothing: no barrier, no epoch, and they are accepted after the run's end.

import { openAttempts } from './action-status.ts';
import type { Cost } from './cost.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type { Part, PayloadRef, ProposedCall, SettlementKind, Source } from './fact-fields.ts';
import type { BodyOf, NewFact } from './facts.ts';
import { isSecondEffect } from './finality.ts';
import type { ActionState, AttemptState } from './run-state.ts';

export interface SettleAsk {
  readonly actionId: string;
  readonly attemptId: string;
  readonly outcome: SettlementKind;
  readonly result: PayloadRef | null;
  readonly resultMissing: string | null;
  readonly parts: readonly Part[];
  readonly externalId: string | null;
  readonly objectVersion: string | null;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly calls: readonly ProposedCall[];
  readonly cost: Cost;
  /** `execution`; becomes `late_result` when the action was in doubt or the run had stopped. */
  readonly source: Source;
  /** Result and proposed inputs, written in the same transaction. */
  readonly payloads: readonly NewPayload[];
}

export type SettleReply =
  | {
      readonly kind: 'settled' | 'observed';
      /** Whether somebody waits for the news elsewhere: signal `lateFact`. */
      readonly wasInDoubt: boolean;
    }
  /** Result without intent: recorded in quarantine; the run stops. */
  | { readonly kind: 'orphan' };

export function decideSettlement(ask: SettleAsk): (view: LedgerView) => Decision<SettleReply> {
  return (view) => {
    const action = view.run.actions.get(ask.actionId);
    const attempt = action?.attempts.find((each) => each.attemptId === ask.attemptId);
    if (action === undefined || attempt === undefined) return orphan(ask);
    const wasInDoubt = attempt.doubted;
    if (attempt.settled !== null)
      return {
        reply: { kind: 'observed', wasInDoubt },
        facts: observationOf(ask, action, attempt),
      };
    const stopped = view.run.ended !== null || view.run.revoked || view.run.canceled;
    const late = ask.source === 'execution' && (wasInDoubt || stopped);
    const facts: NewFact[] = [
      { source: late ? 'late_result' : ask.source, body: bodyOf(ask, attempt) },
    ];
    return { reply: { kind: 'settled', wasInDoubt }, facts, payloads: ask.payloads };
  };
}

function bodyOf(ask: SettleAsk, attempt: AttemptState): BodyOf<'attempt_settled'> {
  const { source: _source, payloads: _payloads, parts, calls, ...said } = ask;
  return {
    kind: 'attempt_settled',
    ...said,
    parts: [...parts],
    calls: [...calls],
    resultId: attempt.entry.resultId,
    revisions: attempt.entry.revisions,
  };
}

/** The same words again are no news; another effect is a dispute. */
function observationOf(ask: SettleAsk, action: ActionState, attempt: AttemptState): NewFact[] {
  const before = attempt.settled;
  const same =
    before !== null &&
    before.outcome === ask.outcome &&
    before.externalId === ask.externalId &&
    before.result?.digest === ask.result?.digest;
  if (same) return [];
  const other = { attemptId: `${ask.attemptId} again`, externalId: ask.externalId };
  const second = ask.outcome === 'executed' && isSecondEffect(action.final, other);
  return [
    {
      source: ask.source === 'execution' ? 'late_result' : ask.source,
      body: {
        kind: 'observation',
        actionId: ask.actionId,
        attemptId: ask.attemptId,
        about: second ? 'second_effect' : 'settlement_after_final',
        verdict: ask.outcome === 'executed' ? 'executed' : null,
        proof: null,
        detail: `came later as ${ask.outcome}${ask.result === null ? '' : `, result ${ask.result.digest}`}`,
        externalId: ask.externalId,
        objectVersion: ask.objectVersion,
        cost: ask.cost,
      },
    },
  ];
}

function orphan(ask: SettleAsk): Decision<SettleReply> {
  return {
    reply: { kind: 'orphan' },
    facts: [
      {
        source: 'late_result',
        body: {
          kind: 'observation',
          actionId: ask.actionId,
          attemptId: ask.attemptId,
          about: 'orphan_result',
          verdict: null,
          proof: null,
          detail: `a result (${ask.outcome}) without its intent; kept for people, nothing repaired`,
          externalId: ask.externalId,
          objectVersion: ask.objectVersion,
          cost: ask.cost,
        },
      },
    ],
  };
}

/** The attempt an answer about the action belongs to: the oldest one still open. */
export function oldestOpen(action: ActionState | undefined): AttemptState | null {
  return action === undefined ? null : (openAttempts(action)[0] ?? null);
}
