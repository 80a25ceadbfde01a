// A foreign effect: the claim is committed first, then the service behind is called, then the claim
// is left with what is known (A5). A claim is never freed by time alone (A6).
//
// INV-1  Only the holder of the claim token changes the record (A7); a lost claim changes nothing.
// INV-2  A throw is `unknown`, never "failed" and never a deleted record (A8).
// INV-3  That a claim did nothing proves nothing of the one it was taken over from (D6).

import type { Answer } from './answer.ts';
import { writeEffect } from './effects.ts';
import { type Applied, isForeign, type Rejection } from './operation.ts';
import { contextOf, outcomeAnswer } from './outcome.ts';
import { leaveClaim, type OperationRecord, readStanding } from './records.ts';
import type { CheckedRequest } from './request.ts';
import { errorText, operationOf, type Site, storeProblem } from './site.ts';

type Report =
  | { readonly state: 'executed'; readonly outcome: Applied }
  | { readonly state: 'rejected'; readonly outcome: Rejection }
  | { readonly state: 'not_executed'; readonly detail: string }
  | { readonly state: 'unknown'; readonly detail: string };

export interface Claim {
  readonly claim: string;
  /** From one that did not report: its request may still reach the service behind. */
  readonly isTakenOver: boolean;
}

export async function performClaimed(
  site: Site,
  request: CheckedRequest,
  { claim, isTakenOver }: Claim,
): Promise<Answer> {
  const own = await perform(site, request);
  const report = isTakenOver ? reportOfBoth(own) : own;
  const at = site.clock();
  const left = await site.store.transaction(async (tx): Promise<Answer> => {
    const outcome = 'outcome' in report ? report.outcome : null;
    const mine = await leaveClaim(tx, request, { claim, state: report.state, outcome, at });
    const { record } = await readStanding(tx, request);
    if (!mine) return lostClaimAnswer(site, record);
    if (report.state === 'executed') await writeEffect(tx, request, report.outcome, at);
    return reportAnswer(site, record, report);
  });
  if (left.kind === 'committed') return left.value;
  // The effect may be there without its record: the claim stays, and its lease makes it unknown.
  return { kind: 'unknown', detail: storeProblem(left) ?? 'the outcome could not be stored' };
}

async function perform(site: Site, request: CheckedRequest): Promise<Report> {
  const operation = operationOf(site, request.operation);
  if (operation === null || !isForeign(operation))
    throw new Error(`operation ${request.operation} is not a foreign one`);
  const downstreamKey = downstreamKeyOf(request);
  try {
    const context = { ...contextOf(request, site.clock()), downstreamKey };
    const outcome = await operation.perform(request.input, context);
    if ('notExecuted' in outcome) return { state: 'not_executed', detail: outcome.notExecuted };
    if ('rejected' in outcome) return { state: 'rejected', outcome };
    return { state: 'executed', outcome };
  } catch (error) {
    return { state: 'unknown', detail: errorText(error) };
  }
}

/** Of a claim and of the one before it, which may have had its effect, or may have it yet. */
function reportOfBoth(own: Report): Report {
  if (own.state !== 'not_executed') return own;
  const detail = `${own.detail}; an earlier claim of this key did not report`;
  return { state: 'unknown', detail };
}

/** The same for every claim of the operation, and another one for another identity. */
function downstreamKeyOf(of: CheckedRequest): string {
  return [of.domain, of.principal, of.operation, of.version, of.key]
    .map(encodeURIComponent)
    .join('/');
}

function reportAnswer(site: Site, record: OperationRecord | null, report: Report): Answer {
  if (report.state === 'not_executed')
    return { kind: 'not_taken', detail: report.detail, retryAfterMs: site.retryAfterMs };
  if (report.state === 'unknown') return { kind: 'unknown', detail: report.detail };
  return outcomeAnswer(record, false);
}

/** Another holder took over: what it recorded is the answer, whatever we saw ourselves. */
function lostClaimAnswer(site: Site, record: OperationRecord | null): Answer {
  if (record?.outcome) return outcomeAnswer(record, true);
  const detail = 'the claim was lost by time to another request; ask by the key';
  return { kind: 'lease_expired', detail, retryAfterMs: site.retryAfterMs };
}
