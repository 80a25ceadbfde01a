import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ServerFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { attemptFailureOf } from '../../workflows/attempt-failure.ts';

const activity = (cause: Error) =>
  new ActivityFailure('failed', 'performAction', 'a~1', 'NON_RETRYABLE_FAILURE', 'worker', cause);
const timeout = (
  type: 'START_TO_CLOSE' | 'HEARTBEAT' | 'SCHEDULE_TO_START' | 'SCHEDULE_TO_CLOSE',
) => activity(new TimeoutFailure('timed out', undefined, type));
const application = (...details: unknown[]) =>
  activity(ApplicationFailure.create({ message: 'boom', type: 'AttemptAmbiguous', details }));

describe('R-004 R-009 what Temporal says of an attempt', () => {
  test.each([
    ['schedule_to_start', timeout('SCHEDULE_TO_START'), null],
    ['start_to_close', timeout('START_TO_CLOSE'), null],
    ['heartbeat', timeout('HEARTBEAT'), null],
    ['schedule_to_close', timeout('SCHEDULE_TO_CLOSE'), null],
    [
      'schedule_to_close',
      activity(new TimeoutFailure('new kind', undefined, 'NEW' as never)),
      null,
    ],
    ['canceled', activity(new CancelledFailure('canceled')), null],
    ['not_scheduled', new CancelledFailure('scope canceled'), null],
    ['server', activity(new ServerFailure('Complete result exceeds size limit.', true)), null],
    ['application', application({ phase: 'gate' }), 'gate'],
    ['application', application({ phase: 'execute' }), 'execute'],
    ['application', application({ phase: 'somewhere' }), null],
    ['application', application('no object'), null],
    ['application', application(), null],
  ] as const)('%s', (failure, error, phase) => {
    expect(attemptFailureOf(error)).toMatchObject({ kind: 'failure', failure, phase });
  });

  test('R-110 what the receiver called it comes along when it could not be stored', () => {
    const told = { externalId: 'T-9', receiptDigest: 'sha256:9' };
    expect(attemptFailureOf(application({ phase: 'result', ...told }))).toMatchObject(told);
  });

  test('a bug of the workflow is no failure of an attempt', () => {
    expect(attemptFailureOf(new TypeError('undefined is not a function'))).toBeNull();
    expect(attemptFailureOf('thrown text')).toBeNull();
  });
});
