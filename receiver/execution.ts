// A request: log its arrival, judge it, run a local effect, all but the first in one transaction.
//
// INV-1  Verdict, effect, record and effect log commit together or not at all (A4).
// INV-2  `not_taken` is answered only where nothing can have been committed (A16).
// INV-3  The first answer is read back from the record, so a replay is the same bytes (A9).

import type { Json } from '../core/digest.ts';
import type { Answer } from './answer.ts';
import { writeArrivalAnswer } from './arrivals.ts';
import { performClaimed } from './claim.ts';
import { type Applied, isForeign, type LocalOperation, type Rejection } from './operation.ts';
import { contextOf, outcomeAnswer } from './outcome.ts';
import {
  type OperationRecord,
  raiseFence,
  readClosing,
  readFence,
  readRecord,
  writeClaim,
  writeEffect,
  writeOutcome,
} from './records.ts';
import { type CheckedRequest, checkRequest, type OperationRequest } from './request.ts';
import { logAnswer, logArrival, operationOf, type Site, storeProblem } from './site.ts';
import { type Situation, verdictOf } from './verdict.ts';

type Step =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'claimed'; readonly claim: string };

/** Never rejects; every failure is an answer. */
export async function executeRequest(site: Site, request: OperationRequest): Promise<Answer> {
  const checked = checkRequest(request, site.domain);
  if (checked.kind === 'invalid') return checked;
  const { digest, sendToken, firstSentAt } = checked.value;
  const arrival = logArrival(site, checked.value, {
    kind: 'execute',
    digest,
    sendToken,
    firstSentAt,
  });
  if (arrival.kind !== 'committed')
    return notTaken(site, storeProblem(arrival) ?? 'the store is down');
  const seq = arrival.value;
  const decided = site.store.immediate((): Step => {
    const step = decide(site, checked.value);
    if (step.kind === 'answer') writeArrivalAnswer(site.store, seq, answerWord(step.answer));
    return step;
  });
  if (decided.kind === 'committed' && decided.value.kind === 'claimed') {
    const answer = await performClaimed(site, checked.value, decided.value.claim);
    logAnswer(site, seq, answerWord(answer));
    return answer;
  }
  if (decided.kind === 'committed' && decided.value.kind === 'answer') return decided.value.answer;
  const answer: Answer =
    decided.kind === 'commit_unknown'
      ? { kind: 'unknown', detail: `the commit failed; ask by the key: ${storeProblem(decided)}` }
      : notTaken(site, storeProblem(decided) ?? 'the store is down');
  logAnswer(site, seq, answerWord(answer));
  return answer;
}

function notTaken(site: Site, detail: string): Answer {
  return { kind: 'not_taken', detail, retryAfterMs: site.retryAfterMs };
}

function answerWord(answer: Answer): string {
  return 'replayed' in answer && answer.replayed ? 'replayed' : answer.kind;
}

function decide(site: Site, request: CheckedRequest): Step {
  const record = readRecord(site.store, request);
  const at = situationOf(site, request, record);
  const verdict = verdictOf(at);
  const answer = (value: Answer): Step => ({ kind: 'answer', answer: value });
  switch (verdict) {
    case 'key_reused':
      return answer({ kind: 'key_reused' });
    case 'replay_executed':
    case 'replay_rejected':
      return answer(outcomeAnswer(record, true));
    case 'in_progress':
      return answer({ kind: 'in_progress', retryAfterMs: site.retryAfterMs });
    case 'unknown':
      return answer({ kind: 'unknown', detail: 'the effect behind this receiver did not report' });
    case 'closed':
      return answer({ kind: 'closed', through: at.closed?.through ?? null });
    case 'fenced':
      return answer({ kind: 'fenced', epoch: at.fenceEpoch ?? 0 });
    case 'from_the_future':
      return answer(invalid('first sent in the future; set the clock of the sender'));
    case 'outside_window':
      return answer({ kind: 'outside_window', retentionMs: site.retentionMs });
    case 'unsupported':
      return answer(invalid(unsupportedText(site, request)));
    case 'input_invalid':
      return answer(invalid(at.inputProblem ?? ''));
    case 'execute':
      return run(site, request, at.now);
  }
}

function invalid(detail: string): Answer {
  return { kind: 'invalid', detail };
}

function unsupportedText(site: Site, request: CheckedRequest): string {
  const operation = operationOf(site, request.operation);
  if (operation === null) return `operation "${request.operation}" is not served here`;
  const { version } = operation;
  return `operation "${request.operation}" is served in version ${version}, not ${request.version}`;
}

function situationOf(
  site: Site,
  request: CheckedRequest,
  record: OperationRecord | null,
): Situation {
  const operation = operationOf(site, request.operation);
  const served = operation !== null && operation.version === request.version;
  const scope = request.fenceScope;
  return {
    record,
    closed: readClosing(site.store, request),
    fenceEpoch: scope === undefined ? null : readFence(site.store, { ...request, scope }),
    digest: request.digest,
    token: request.sendToken ?? null,
    firstSentAt: request.firstSentAt ?? null,
    now: site.clock(),
    retentionMs: site.retentionMs,
    clockSkewMs: site.clockSkewMs,
    claimLeaseMs: site.claimLeaseMs,
    served,
    takeover: served && isForeign(operation) && operation.downstream === 'keyed',
    inputProblem: served ? (operation.problem?.(request.input) ?? null) : null,
  };
}

function run(site: Site, request: CheckedRequest, at: number): Step {
  const { store } = site;
  const { sendToken, fenceScope } = request;
  if (fenceScope !== undefined && sendToken !== undefined)
    raiseFence(store, { ...request, scope: fenceScope }, sendToken.epoch);
  const operation = operationOf(site, request.operation);
  if (operation === null) throw new Error(`operation ${request.operation} vanished`);
  if (isForeign(operation)) {
    const claim = site.newClaim();
    writeClaim(store, request, claim, at);
    return { kind: 'claimed', claim };
  }
  const outcome = store.nested(
    () => applied(operation, site, request, at),
    (value) => 'rejected' in value,
  );
  writeOutcome(store, request, outcome, at);
  if (!('rejected' in outcome)) writeEffect(store, request, outcome, at);
  return { kind: 'answer', answer: outcomeAnswer(readRecord(store, request), false) };
}

function applied(
  operation: LocalOperation,
  site: Site,
  request: CheckedRequest,
  at: number,
): Applied | Rejection {
  const input: Json = JSON.parse(request.inputText) as Json;
  const outcome = operation.apply(site.store, input, contextOf(request, at));
  if (outcome instanceof Promise)
    throw new Error(`operation ${request.operation}: apply must not be async`);
  return outcome;
}
