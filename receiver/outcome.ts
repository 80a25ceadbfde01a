// From a checked request to what an effect sees, and from a record to what the caller is told.

import type { Answer } from './answer.ts';
import type { EffectContext } from './operation.ts';
import type { OperationRecord } from './records.ts';
import type { CheckedRequest } from './request.ts';

export function contextOf(request: CheckedRequest, at: number): EffectContext {
  const { principal, domain, operation, version, key, digest, sendToken } = request;
  return { principal, domain, operation, version, key, digest, sendToken: sendToken ?? null, at };
}

export function outcomeAnswer(record: OperationRecord | null, replayed: boolean): Answer {
  if (record === null || record.outcome === null)
    throw new Error('the record of a finished operation has no outcome');
  return { ...record.outcome, replayed };
}
