// What Temporal says when an attempt gives no reply, as data. Compared by name and type, because
// failures cross serialization and the sandbox.

import type { AttemptFailureDetails } from '../core/activity-calls.ts';
import type { AttemptEnd, FailureKind } from '../core/attempt-end.ts';

export type AttemptFailed = AttemptEnd & { readonly kind: 'failure' } & {
  readonly externalId: string | null;
  readonly receiptDigest: string | null;
  readonly keyRefused?: boolean;
};

interface FailureLike {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly timeoutType?: unknown;
  readonly type?: unknown;
  readonly details?: unknown;
}

const timeoutKinds: Readonly<Record<string, FailureKind>> = {
  SCHEDULE_TO_START: 'schedule_to_start',
  START_TO_CLOSE: 'start_to_close',
  HEARTBEAT: 'heartbeat',
  SCHEDULE_TO_CLOSE: 'schedule_to_close',
};

/**
 * Null for what is no failure of an activity, e.g. a bug in the workflow: it has to go on as it is.
 */
export function attemptFailureOf(error: unknown): AttemptFailed | null {
  const outer = likeOf(error);
  // Outside an ActivityFailure: the scope was canceled before anything was scheduled.
  if (outer.name === 'CancelledFailure') return failed('not_scheduled', 'canceled before it began');
  if (outer.name !== 'ActivityFailure') return null;
  const cause = likeOf(outer.cause);
  const message = textOf(cause.message) ?? textOf(outer.message) ?? 'no reason given';
  switch (cause.name) {
    case 'TimeoutFailure': {
      const kind = timeoutKinds[String(cause.timeoutType)] ?? 'schedule_to_close';
      return failed(kind, `timeout ${String(cause.timeoutType)}`);
    }
    case 'CancelledFailure':
      return failed('canceled', message);
    case 'ApplicationFailure':
      return applicationFailure(cause, message);
    default:
      return failed('server', message);
  }
}

const phases: ReadonlySet<unknown> = new Set([
  'binding',
  'barrier',
  'gate',
  'send',
  'execute',
  'result',
] satisfies AttemptFailureDetails['phase'][]);

/** without a known phase it may have had its effect. */
function applicationFailure(cause: FailureLike, message: string): AttemptFailed {
  const first = Array.isArray(cause.details) ? detailsOf(cause.details[0]) : detailsOf(null);
  const phase = phases.has(first.phase) ? (first.phase as AttemptFailureDetails['phase']) : null;
  const externalId = textOf(first.externalId);
  const receiptDigest = textOf(first.receiptDigest);
  const why = `${textOf(cause.type) ?? 'error'}: ${message}`;
  const told = { phase, why, externalId, receiptDigest, keyRefused: first.keyRefused === true };
  return { kind: 'failure', failure: 'application', ...told };
}

interface DetailsLike {
  readonly phase?: unknown;
  readonly externalId?: unknown;
  readonly receiptDigest?: unknown;
  readonly keyRefused?: unknown;
}

function detailsOf(value: unknown): DetailsLike {
  return typeof value === 'object' && value !== null ? value : {};
}

function failed(failure: FailureKind, why: string): AttemptFailed {
  return { kind: 'failure', failure, phase: null, why, externalId: null, receiptDigest: null };
}

function likeOf(value: unknown): FailureLike {
  return typeof value === 'object' && value !== null ? value : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
