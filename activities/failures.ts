// The only place here that makes an ApplicationFailure. One table, first match wins. Nothing is
// retryable by the server: a second delivery would meet the gate, but only the workflow knows
// whether one is wanted, and a retryable failure is what Pause and Update Options turn into a
// second run.

import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { AttemptFailureDetails } from '../core/activity-calls.ts';
import { NotCanonicalError } from '../core/digest.ts';
import { limits } from '../core/limits.ts';
import { OtherLedgerError } from '../core/pin.ts';
import { boundedWords } from '../core/words.ts';
import { LedgerError } from '../ledger/port.ts';

/** Released names; the workflow compares `type`, never `instanceof`. */
export const failureTypes = [
  'AttemptAmbiguous',
  'ResultNotStored',
  'AttemptNotEntered',
  'BarrierUnavailable',
  'LedgerUnavailable',
  'LedgerRefused',
  'LedgerMismatch',
  'ActivityInterrupted',
  'NotCanonical',
  'ActivityDefect',
] as const;
export type FailureType = (typeof failureTypes)[number];

/** What performAction fails with; carries where the attempt stood. */
export class AttemptError extends Error {
  override readonly name = 'AttemptError';
  readonly details: AttemptFailureDetails;
  constructor(message: string, details: AttemptFailureDetails, cause: unknown) {
    super(message, { cause });
    this.details = details;
  }
}

/** Opening a run: the server could not say whether it is still wanted, or said that it is not. */
export class BarrierError extends Error {
  override readonly name = 'BarrierError';
}

interface FailureRow {
  readonly type: FailureType;
  readonly matches: (error: unknown) => boolean;
}

const attemptIn =
  (...phases: readonly AttemptFailureDetails['phase'][]) =>
  (error: unknown): boolean =>
    error instanceof AttemptError && phases.includes(error.details.phase);

const ledgerSays =
  (unavailable: boolean) =>
  (error: unknown): boolean =>
    error instanceof LedgerError &&
    ['unavailable', 'full', 'read_only', 'missing'].includes(error.code) === unavailable;

const failureTable: readonly FailureRow[] = [
  { type: 'ResultNotStored', matches: attemptIn('result') },
  { type: 'AttemptAmbiguous', matches: attemptIn('send', 'execute') },
  { type: 'AttemptNotEntered', matches: attemptIn('binding', 'barrier', 'gate') },
  { type: 'BarrierUnavailable', matches: (error) => error instanceof BarrierError },
  { type: 'LedgerUnavailable', matches: ledgerSays(true) },
  { type: 'LedgerRefused', matches: ledgerSays(false) },
  { type: 'LedgerMismatch', matches: (error) => error instanceof OtherLedgerError },
  // Pause, reset and shutdown: Temporal would make them retryable, and Unpause a second run.
  { type: 'ActivityInterrupted', matches: (error) => error instanceof CancelledFailure },
  { type: 'NotCanonical', matches: (error) => error instanceof NotCanonicalError },
  { type: 'ActivityDefect', matches: () => true },
];

/** Never throws. Details: those of the attempt, or of the failure that comes from elsewhere. */
export function failureOf(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure && error.nonRetryable) return error;
  const row = failureTable.find(({ matches }) => matches(error));
  const cause = toldOf(error, limits.failureCausesMax);
  return ApplicationFailure.create({
    message: messageOf(error),
    type: row?.type ?? 'ActivityDefect',
    nonRetryable: true,
    details: detailsOf(error),
    ...(cause === null ? {} : { cause }),
  });
}

/** Words of an error, bounded: the server keeps 4 KB of a failure. Never throws. */
export function messageOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : error;
    return boundedWords(String(text), limits.failureCharsMax);
  } catch {
    // Anything can be thrown, even what throws when it is read.
    return 'an error that cannot be put into words';
  }
}

/** An error and what caused it, as the wire takes it: text it does not take ends the worker. */
function toldOf(error: unknown, causesLeft: number): Error | null {
  if (!(error instanceof Error) || causesLeft === 0) return null;
  const told = new Error(messageOf(error));
  told.name = boundedWords(errorTypeOf(error), limits.failureCharsMax);
  told.stack = boundedWords(String(error.stack ?? ''), limits.failureStackCharsMax);
  const cause = toldOf(error.cause, causesLeft - 1);
  if (cause !== null) told.cause = cause;
  return told;
}

/** Kind of an error for a log line, which never carries its words. */
export function errorTypeOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function detailsOf(error: unknown): unknown[] {
  if (error instanceof AttemptError) return [error.details];
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure)
    return error.details ?? [];
  return [];
}
