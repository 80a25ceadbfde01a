import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { AttemptError, BarrierError, failureOf, failureTypes } from '../../activities/failures.ts';
import { nonRetryableInterceptor } from '../../activities/interceptor.ts';
import type { AttemptFailureDetails } from '../../core/activity-calls.ts';
import { NotCanonicalError } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { OtherLedgerError } from '../../core/pin.ts';
import { LedgerError, type LedgerErrorCode } from '../../ledger/port.ts';

const attempt = (phase: AttemptFailureDetails['phase']) =>
  new AttemptError(
    'a~1: broke',
    { phase, attemptId: 'a~1', externalId: 'ext-1', receiptDigest: null },
    null,
  );
const ledger = (code: LedgerErrorCode) => new LedgerError(code, 'no', { nothingWritten: true });

const rows: [string, unknown, (typeof failureTypes)[number]][] = [
  ['phase result', attempt('result'), 'ResultNotStored'],
  ['phase send', attempt('send'), 'AttemptAmbiguous'],
  ['phase execute', attempt('execute'), 'AttemptAmbiguous'],
  ['phase binding', attempt('binding'), 'AttemptNotEntered'],
  ['phase barrier', attempt('barrier'), 'AttemptNotEntered'],
  ['phase gate', attempt('gate'), 'AttemptNotEntered'],
  ['no barrier', new BarrierError('no answer'), 'BarrierUnavailable'],
  ['ledger unavailable', ledger('unavailable'), 'LedgerUnavailable'],
  ['ledger full', ledger('full'), 'LedgerUnavailable'],
  ['ledger read-only', ledger('read_only'), 'LedgerUnavailable'],
  ['ledger missing', ledger('missing'), 'LedgerUnavailable'],
  ['ledger corrupt', ledger('corrupt'), 'LedgerRefused'],
  ['ledger newer', ledger('newer_schema'), 'LedgerRefused'],
  ['rule broken', ledger('rule_violation'), 'LedgerRefused'],
  ['another ledger', new OtherLedgerError('no'), 'LedgerMismatch'],
  ['paused, reset or shut down', new CancelledFailure('paused'), 'ActivityInterrupted'],
  ['not canonical', new NotCanonicalError('$', 'NaN'), 'NotCanonical'],
  ['a plain error', new Error('bug'), 'ActivityDefect'],
  ['a retryable failure', ApplicationFailure.retryable('again'), 'ActivityDefect'],
  ['something thrown', 'text', 'ActivityDefect'],
];

test.each(rows)('R-009 %s has its type, and is never retryable', (_name, error, type) => {
  expect(failureOf(error)).toMatchObject({ type, nonRetryable: true });
});

test('the table has exactly the failure types', () => {
  expect(new Set(rows.map(([, , type]) => type))).toEqual(new Set(failureTypes));
});

test('R-009 the failure of an attempt carries how far it came', () => {
  expect(failureOf(attempt('execute')).details).toEqual([
    { phase: 'execute', attemptId: 'a~1', externalId: 'ext-1', receiptDigest: null },
  ]);
});

test('details of a canceled activity are kept', () => {
  const canceled = new CancelledFailure('paused', [{ phase: 'execute' }]);
  expect(failureOf(canceled).details).toEqual([{ phase: 'execute' }]);
});

test('a message is bounded: the server keeps little of it', () => {
  expect(failureOf(new Error('x'.repeat(9_000))).message).toHaveLength(limits.failureCharsMax);
});

const half = '\ud800';

test('R-009 nothing a tool throws reaches the wire as text that the wire does not take', () => {
  const thrown = new Error(half, { cause: new Error(half, { cause: new Error(half) }) });
  thrown.name = half;
  let told: unknown = failureOf(thrown);
  for (let errors = 0; told instanceof Error; told = told.cause, errors++) {
    expect(errors).toBeLessThanOrEqual(limits.failureCausesMax);
    for (const words of [told.name, told.message, told.stack])
      expect(words?.isWellFormed()).toBe(true);
  }
});

test('R-009 a failure stays small whatever the errors behind it say', () => {
  const thrown = new Error('x'.repeat(9_000_000), { cause: new Error('y'.repeat(9_000_000)) });
  let told: unknown = failureOf(thrown);
  for (; told instanceof Error; told = told.cause)
    expect(`${told.message}${told.stack}`.length).toBeLessThan(5_000);
});

test('R-009 what throws when it is read is told all the same', () => {
  const odd = Object.create(null) as object;
  expect(failureOf(odd)).toMatchObject({ type: 'ActivityDefect', nonRetryable: true });
});

test('the interceptor lets results pass and makes every error final', async () => {
  const { inbound } = nonRetryableInterceptor();
  await expect(inbound.execute('in', async (input) => `${input}, out`)).resolves.toBe('in, out');
  const thrown = inbound.execute('in', () => Promise.reject(new CancelledFailure('paused')));
  await expect(thrown).rejects.toMatchObject({ type: 'ActivityInterrupted', nonRetryable: true });
});

test('a failure that is final already stays what it is', () => {
  const failure = ApplicationFailure.nonRetryable('no', 'Mine');
  expect(failureOf(failure)).toBe(failure);
});
