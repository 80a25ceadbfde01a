// Limits of the receiver alone; those it shares with the product are in core/limits.ts.

import { limits } from '../core/limits.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

export const receiverLimits = {
  /** How long a record or a closing lives after it became final. */
  retentionMs: limits.receiverRetentionMs,
  /** Sender's clock ahead of ours: its first-sent time may be this much too late. */
  clockSkewMs: 5 * MINUTE,
  /** Waiting for others: a turn in this process, another process's transaction, a lock. */
  busyTimeoutMs: limits.ledgerBusyMs,
  busyPollMs: limits.ledgerBusyPollMs,
  /** One statement in Postgres, beyond one wait for a lock: several waits add up. */
  statementMs: 10 * SECOND,
  /** A transaction with its effect; nobody else gets at its key, or on SQLite at the file. */
  transactionMs: 30 * SECOND,
  /** Connections of one receiver process to Postgres; a server takes 100 unless set otherwise. */
  connectionsMax: 10,
  /** To a server that does not answer, or until one of the connections is free. */
  connectMs: 10 * SECOND,
  /** Inserts that met a row which was swept before it could be locked. */
  sweptTriesMax: 10,
  /** A foreign effect that has not reported for so long is unknown, never "free to run again". */
  claimLeaseMs: 2 * MINUTE,
  /** What a caller waits before it asks again about something at work. */
  retryAfterMs: 1 * SECOND,
  /** Installation, namespace, run id and position, percent-encoded, in one header. */
  keyCharsMax: 1_024,
  nameCharsMax: 200,
  /** One body in memory, one row in the store. */
  bodyBytesMax: limits.ledgerPayloadBytesMax,
  sweepEveryMs: 60 * MINUTE,
  /** Requests on their way when SIGTERM comes may finish for this long. */
  shutdownGraceMs: 5 * SECOND,
  /** A sender of an outbox that has not reported for so long counts as lost. */
  outboxLeaseMs: 2 * MINUTE,
  /** From the ask whether it may be sent to its first byte. */
  outboxWindowMs: limits.sendWindowMs,
  outboxSendsMax: limits.attemptsMax,
  /** Doubling with each send, up to the second. */
  outboxPauseMs: 1 * SECOND,
  outboxPauseMaxMs: 10 * MINUTE,
  outboxPollMs: 1 * SECOND,
  /** Intents that one look lists. */
  outboxRowsMax: 1_000,
  faultsArmedMax: 1_000,
  requestsHeldMax: 1_000,
} as const;
