// A request: log its arrival, judge it, run a local effect, all but the first in one transaction.
//
// INV-1  Verdict, effect, record and effect log commit together or not at all (A4).
// INV-2  `not_taken` is answered only where nothing can have been committed (A16).
// INV-3  The first answer is read back from the record, so a replay is the same bytes (A9).

import type { Json } from '../core/digest.ts';
import type { Answer } from './answer.ts';
import { writeArrivalAnswer } from './arrivals.ts';
import { type Claim, performClaimed } from './claim.ts';
import { writeEffect } from './effects.ts';
import { lockFence, raiseFence } from './fences.ts';
import { type Applied, isForeign, type LocalOperation, type Rejection } from './operation.ts';
import { contextOf, outcomeAnswer } from './outcome.ts';
import {
  dropEmpty,
  lockStanding,
  readStanding,
  type Standing,
  writeClaim,
  writeOutcome,
} from './records.ts';
import { type CheckedRequest, checkRequest, type OperationRequest } from './request.ts';
import { logAnswer, logArrival, operationOf, type Site, storeProblem } from './site.ts';
import type { Committed, Tx } from './store.ts';
import { isUnresolved, type Situation, type Verdict, verdictOf } from './verdict.ts';

type Step =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | ({ readonly kind: 'claimed' } & Claim);

/** Never rejects; every failure is an answer. */
export async function executeRequest(site: Site, request: OperationRequest): Promise<Answer> {
  const checked = checkRequest(request, site.domain);
  if (checked.kind === 'invalid') return checked;
  const { digest, sendToken, firstSentAt } = checked.value;
  const arrival = await logArrival(site, checked.value, {
    kind: 'execute',
    digest,
    sendToken,
    firstSentAt,
  });
  if (arrival.kind !== 'committed')
    return notTaken(site, storeProblem(arrival) ?? 'the store is down');
  const seq = arrival.value;
  const progress = { atDoor: true };
  const decided = await site.store.transaction(async (tx): Promise<Step> => {
    const standing = await lockStanding(tx, checked.value, site.clock());
    progress.atDoor = false;
    const step = await decide(site, tx, checked.value, standing);
    if (step.kind === 'answer') await writeArrivalAnswer(tx, seq, answerWord(step.answer));
    return step;
  });
  if (decided.kind === 'committed' && decided.value.kind === 'answer') return decided.value.answer;
  const answer =
    decided.kind === 'committed'
      ? await performClaimed(site, checked.value, claimOf(decided.value))
      : uncommittedAnswer(site, decided, progress.atDoor);
  await logAnswer(site, seq, answerWord(answer));
  return answer;
}

function claimOf(step: Step): Claim {
  if (step.kind === 'claimed') return step;
  throw new Error('an answer is no claim');
}

function uncommittedAnswer<T>(site: Site, decided: Committed<T>, atDoor: boolean): Answer {
  const why = storeProblem(decided) ?? 'the store is down';
  if (decided.kind === 'commit_unknown')
    return { kind: 'unknown', detail: `the commit failed; ask by the key: ${why}` };
  // In Postgres only this key's own row is waited for at the door: its twin is at work.
  if (decided.kind === 'busy' && atDoor && site.store.locksRows)
    return { kind: 'in_progress', retryAfterMs: site.retryAfterMs };
  return notTaken(site, why);
}

function notTaken(site: Site, detail: string): Answer {
  return { kind: 'not_taken', detail, retryAfterMs: site.retryAfterMs };
}

function answerWord(answer: Answer): string {
  return 'replayed' in answer && answer.replayed ? 'replayed' : answer.kind;
}

async function decide(
  site: Site,
  tx: Tx,
  request: CheckedRequest,
  standing: Standing,
): Promise<Step> {
  const at = await situationOf(site, tx, request, standing);
  const verdict = verdictOf(at);
  if (verdict === 'execute') return run(site, tx, request, at);
  if (standing.record === null && standing.closed === null) await dropEmpty(tx, request);
  return { kind: 'answer', answer: verdictAnswer(site, request, { verdict, at, standing }) };
}

interface Refused {
  readonly verdict: Exclude<Verdict, 'execute'>;
  readonly at: Situation;
  readonly standing: Standing;
}

function verdictAnswer(
  site: Site,
  request: CheckedRequest,
  { verdict, at, standing }: Refused,
): Answer {
  switch (verdict) {
    case 'key_reused':
      return { kind: 'key_reused' };
    case 'replay_executed':
    case 'replay_rejected':
      return outcomeAnswer(standing.record, true);
    case 'in_progress':
      return { kind: 'in_progress', retryAfterMs: site.retryAfterMs };
    case 'unknown':
      return { kind: 'unknown', detail: 'the effect behind this receiver did not report' };
    case 'closed':
      return { kind: 'closed', through: at.closed?.through ?? null };
    case 'fenced':
      return { kind: 'fenced', epoch: at.fenceEpoch ?? 0 };
    case 'from_the_future':
      return invalid('first sent in the future; set the clock of the sender');
    case 'outside_window':
      return { kind: 'outside_window', retentionMs: site.retentionMs };
    case 'unsupported':
      return invalid(unsupportedText(site, request));
    case 'input_invalid':
      return invalid(at.inputProblem ?? '');
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

async function situationOf(
  site: Site,
  tx: Tx,
  request: CheckedRequest,
  { record, closed }: Standing,
): Promise<Situation> {
  const operation = operationOf(site, request.operation);
  const served = operation !== null && operation.version === request.version;
  const scope = request.fenceScope;
  return {
    record,
    closed,
    fenceEpoch: scope === undefined ? null : await lockFence(tx, { ...request, scope }),
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

async function run(
  site: Site,
  tx: Tx,
  request: CheckedRequest,
  { now, fenceEpoch, record: before }: Situation,
): Promise<Step> {
  const { sendToken, fenceScope } = request;
  if (fenceScope !== undefined && sendToken !== undefined && sendToken.epoch > (fenceEpoch ?? 0))
    await raiseFence(tx, { ...request, scope: fenceScope }, sendToken.epoch);
  const operation = operationOf(site, request.operation);
  if (operation === null) throw new Error(`operation ${request.operation} vanished`);
  if (isForeign(operation)) {
    const claim = site.newClaim();
    await writeClaim(tx, request, claim, now);
    return { kind: 'claimed', claim, isTakenOver: before !== null && isUnresolved(before) };
  }
  const outcome = await tx.nested(
    () => applied(operation, tx, request, now),
    (value) => 'rejected' in value,
  );
  await writeOutcome(tx, request, outcome, now);
  if (!('rejected' in outcome)) await writeEffect(tx, request, outcome, now);
  const { record } = await readStanding(tx, request);
  return { kind: 'answer', answer: outcomeAnswer(record, false) };
}

async function applied(
  operation: LocalOperation,
  tx: Tx,
  request: CheckedRequest,
  at: number,
): Promise<Applied | Rejection> {
  const input: Json = JSON.parse(request.inputText) as Json;
  return await operation.apply(tx, input, contextOf(request, at));
}
