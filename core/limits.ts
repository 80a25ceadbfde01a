// Every limit of the product, with the reason for its value. Times in milliseconds, sizes in bytes.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const KIB = 1024;
const MIB = 1024 * KIB;

export const limits = {
  /** Temporal allows 1,000; positions, marks and the question's prefix need room after it. */
  runIdCharsMax: 200,
  /** 64 random bits: two schedulings of one action never share an attempt id. */
  attemptRandomChars: 16,

  /** `act()` input passes history once; ten such inputs still fit one workflow task. */
  actInputBytesMax: 64 * KIB,
  /** Goal and plan of a run pass history once; far below Temporal's 2 MiB payload limit. */
  runInputBytesMax: 512 * KIB,
  /** One ledger row; SQLite and Postgres both take it without tuning. */
  ledgerPayloadBytesMax: 8 * MIB,
  /** Ids of any kind inside facts; Temporal's own limit. */
  idCharsMax: 1_000,
  /** The longest id that a question proposes: of the longest run id, position and record number. */
  commandIdCharsMax: 400,
  actorCharsMax: 200,
  /** A refusal's code, the name of a signal, a model service's id of a call: words, cut. */
  labelCharsMax: 200,
  /** Parts of a partial effect: all of them pass history with the outcome. */
  partsMax: 500,
  partNameCharsMax: 200,
  /** Objects that one check judges: a test run over a project; more are judged in groups. */
  evaluationsMax: 500,
  /** An HTTP receiver's answer: twice what can be stored; one without end would fill the memory. */
  receiverAnswerBytesMax: 16 * MIB,
  /** Marks of one prepared attempt; a value may be the path of a file (Linux: 4,096 bytes). */
  marksMax: 16,
  markCharsMax: 4_096,
  /** Text from outside inside facts and questions; keeps details below the Web UI's URL limit. */
  noteCharsMax: 2_000,
  /** Of a dispute: two contradict each other, the others are what led there. */
  outcomesShownMax: 8,
  /** Lines of a stored input that a question shows in a terminal. */
  sentLinesMax: 40,
  /** Words of one failure; the server keeps 4 KB of it, details included. */
  failureCharsMax: 1_000,
  /** Of each error behind a failure, and how many: enough to find the place in the code. */
  failureStackCharsMax: 2_000,
  failureCausesMax: 3,
  /** Nesting of payloads: canonicalization is recursive. */
  payloadDepthMax: 100,

  /** A barrier that cannot tell within this is `authority_unavailable`. */
  barrierWaitMs: 5 * SECOND,
  /** Age of the last Describe at the gate's commit: a frozen process must ask again. */
  barrierAgeMs: 2 * SECOND,
  /** From the last Describe to the first byte: a frozen process must not act when it wakes. */
  sendWindowMs: 5 * SECOND,
  barrierPollMs: 5,
  /** Least time one question of the barrier gets, however little of its wait is left. */
  barrierAskMinMs: 500,
  barrierHistoryPage: 16,

  startToCloseMs: 60 * SECOND,
  heartbeatTimeoutMs: 20 * SECOND,
  /** One beat that is lost or late does not end an attempt. */
  beatsPerTimeout: 4,
  /** Longer than a worker restart, shorter than a night: then the attempt is closed and counted. */
  scheduleToStartMs: 10 * MINUTE,
  /** Activities without effects (ledger, inquiry). */
  infraStartToCloseMs: 60 * SECOND,
  /** Twice what the ledger may be waited for; one that came too late is called again. */
  infraHeartbeatTimeoutMs: 10 * SECOND,
  /** How long the run waits past an attempt's own limits: a paused activity never times out. */
  attemptOverdueMs: 30 * SECOND,

  /** Pauses between tries to store a result. */
  resultBackoffBaseMs: 200,
  resultBackoffMaxMs: 5 * SECOND,
  /**
   * Before start-to-close: time to hand the receipt to the run when the result cannot be stored.
   */
  resultMarginMs: 3 * SECOND,
  /** A failure told later than this before start-to-close may not arrive in time. */
  resultTellMs: 1 * SECOND,
  /** Past start-to-close nobody waits for the activity; the ledger is tried this long on. */
  resultLateMs: 5 * MINUTE,

  /** The news of a late result is sent again this long; then the run's own look comes. */
  lateSignalMs: 5 * MINUTE,
  lateSignalPauseMs: 1 * SECOND,

  /** What a tool depends on is looked up before its gate; over well before start-to-close. */
  versionsMs: 15 * SECOND,
  /** A file's lock is asked for this long: well within the send window, which runs already. */
  fileLockWaitMs: 2 * SECOND,
  /** Longer than the tick by which a kernel counts a file's change time (10 ms at the most). */
  fileTickMs: 20,
  /** Of one model answer, where the configuration says nothing: several pages of text. */
  modelOutputTokensMax: 4_096,

  attemptsMax: 5,
  attemptsDeadlineMs: 15 * MINUTE,
  attemptBackoffBaseMs: 1 * SECOND,
  attemptBackoffMaxMs: 1 * MINUTE,
  /** Ledger or authority not reachable: waits of its own, burns no attempt. */
  infraBackoffBaseMs: 1 * SECOND,
  infraBackoffMaxMs: 5 * MINUTE,

  /** One question to a receiver: over before the activity that asks it, so that it has an end. */
  inquiryTimeoutMs: 30 * SECOND,
  inquiryBackoffBaseMs: 2 * SECOND,
  inquiryBackoffMaxMs: 15 * MINUTE,
  /** A keyed action whose receiver gives no answer: asked so often, for a minute, then a person. */
  inquiriesBeforeQuestion: 5,
  /** After so many inquiries a person is asked (the receiver may still be asked on). */
  inquiriesBeforeEscalation: 12,
  /** The run looks at the ledger itself this often: it survives any end of the child. */
  reaskMs: 5 * MINUTE,
  /** Doubling up to this: a wait of months still fits one history. */
  reaskMaxMs: 60 * MINUTE,

  rejectedCommandsMax: 1_000,
  /**
   * Commands of one run being recorded at a time: what one workflow task schedules has to fit
   * 4 MiB, with three bytes a character, else the server terminates the run.
   */
  recordingsMax: 20,
  recordingCharsMax: 1 * MIB,
  /** JSON inside a command: as a goal at the start; what is larger is not even looked through. */
  commandJsonCharsMax: 512 * KIB,
  /** Of a signal or update; the rest is dropped unseen. A command has one. */
  argumentsMax: 100,
  /** Commands that go on to the next execution unhandled: its input is one payload of 2 MB. */
  carriedMax: 200,
  carriedCharsMax: 256 * KIB,
  /** Calls of one model turn at work at the same time; below Temporal's worker slots. */
  parallelCallsMax: 8,
  turnsMax: 100,
  /** Recorded actions one openRun returns; a page passes history. */
  walkPageMax: 200,
  planStepsMax: 500,
  callsPerTurnMax: 100,
  /** Proposals kept of one model reply; all of them pass history with its outcome. */
  callsStoredMax: 500,
  /** Pairs one attempt may consume since the last known rolling digest. */
  consumesPairsMax: 500,
  /** Actions listed in a run result; more are counted (a result passes history). */
  resultListMax: 200,

  /**
   * How long a dedupe record of the reference receiver lives (A10: longer than any person takes).
   */
  receiverRetentionMs: 30 * DAY,
  /** Resend only this long before the receiver forgets the key. */
  retentionMarginMs: 10 * MINUTE,

  /** SIGTERM: running attempts may finish for this long. */
  shutdownGraceMs: 30 * SECOND,
  /** The embedded server answers in about a second; a loaded machine gets many of them. */
  embeddedStartMs: 60 * SECOND,
  /** SIGTERM to SIGKILL for the embedded server: it only has to close its database. */
  embeddedStopMs: 10 * SECOND,
  embeddedPollMs: 50,
  /** One step of bringing a server binary onto the machine (150 MB over a slow line). */
  provisionStepMs: 10 * MINUTE,
  /** Bundles not used for this long leave the cache; each is about 3 MB. */
  bundleCacheMs: 7 * DAY,
  /** One field of a log line. */
  logFieldCharsMax: 300,
  /** A server registers search attributes within a second; Postgres may need a few. */
  searchAttributesWaitMs: 15 * SECOND,

  /** Another process's transaction is waited for this long; a backup may take seconds. */
  ledgerBusyMs: 5 * SECOND,
  /** How often it is looked whether it is over: most transactions take a few milliseconds. */
  ledgerBusyPollMs: 10,
  /** A writer on another host counts as gone after this; a rebooted host waits it out. */
  ledgerHostQuietMs: 30 * SECOND,
  /** Runs whose folded state a process keeps. */
  ledgerCacheRuns: 200,
} as const;
