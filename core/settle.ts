// Storing what an attempt came to. An attempt settles once; anything later about it is an
// observation. These facts widen nothing: no barrier, no epoch, and they are accepted after the
// run's end.

import type { Cost } from './cost.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type {
  Evaluation,
  Part,
  PayloadRef,
  ProposedCall,
  SettlementKind,
  Source,
} from './fact-fields.ts';
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
  /** What it found about objects; left out: nothing. */
  readonly evaluates?: readonly Evaluation[] | undefined;
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
        ...observed(ask, action, attempt.settled),
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
  const { source: _source, payloads: _payloads, parts, calls, evaluates, ...said } = ask;
  return {
    kind: 'attempt_settled',
    ...said,
    parts: [...parts],
    calls: [...calls],
    ...(evaluates === undefined ? {} : { evaluates: [...evaluates] }),
    resultId: attempt.entry.resultId,
    revisions: attempt.entry.revisions,
  };
}

/** The same words again are no news, except of a cost; another effect is a dispute. */
function observed(
  ask: SettleAsk,
  action: ActionState,
  before: BodyOf<'attempt_settled'>,
): Pick<Decision<unknown>, 'facts' | 'payloads'> {
  const same =
    before.outcome === ask.outcome &&
    before.externalId === ask.externalId &&
    before.objectVersion === ask.objectVersion &&
    before.result?.digest === ask.result?.digest &&
    (before.cost.kind === 'known' || ask.cost.kind !== 'known');
  if (same) return { facts: [] };
  const { source, result, payloads } = ask;
  const fact: NewFact = {
    source: source === 'execution' ? 'late_result' : source,
    body: observationOf(ask, action),
  };
  return { facts: [fact], payloads: result === null ? [] : payloads };
}

function observationOf(ask: SettleAsk, action: ActionState): BodyOf<'observation'> {
  const { actionId, attemptId, outcome, result, parts, externalId, objectVersion, cost } = ask;
  const second = outcome === 'executed' && isSecondEffect(action, ask);
  return {
    kind: 'observation',
    actionId,
    attemptId,
    about: second ? 'second_effect' : 'settlement_after_final',
    verdict: outcome === 'executed' || outcome === 'partial' ? outcome : null,
    proof: null,
    detail: `came later as ${outcome}${result === null ? '' : `, result ${result.digest}`}`,
    ...{ externalId, objectVersion, cost },
    ...(result === null ? {} : { result }),
    ...(outcome === 'partial' ? { parts: [...parts] } : {}),
  };
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
