// The client library: starting, watching and answering runs. It holds connections and no state;
// what it says about a run comes from the ledger and from Temporal at that moment.

import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import type { ResolveCommand, StopCommand } from '../core/commands.ts';
import type { ClientConfig } from '../core/config.ts';
import type { Digest, Json } from '../core/digest.ts';
import type { RunResult } from '../core/outcome.ts';
import type { Question } from '../core/question.ts';
import { openLedger } from '../ledger/open.ts';
import type { Ledger } from '../ledger/port.ts';
import { type Inbox, inboxOf } from './inbox.ts';
import { currentQuestion } from './questions.ts';
import { type ResolveOptions, type ResolveReply, resolveAction } from './resolution.ts';
import type { Room } from './room.ts';
import { awaitedEnd } from './run-end.ts';
import { type RunHandle, startRun } from './run-start.ts';
import { type RunView, runView } from './run-view.ts';
import type { StartOptions } from './start-request.ts';
import { type StopReply, stopRun } from './stopping.ts';
import { type ResumeOptions, resumeRun } from './takeover.ts';
import { connectTemporal } from './temporal.ts';

export interface ClientOptions {
  /** From `clientConfigFrom(process.env)`. */
  readonly config: ClientConfig;
  /** An open ledger, which stays open; left out: the one the configuration names, if any. */
  readonly ledger?: Ledger;
  /** A connection to use, which stays open; left out: one of its own. */
  readonly connection?: Connection;
}

/** Errors: ClientError (see `errors.ts`), and LedgerError as it comes from the ledger. */
export interface HoldfastClient {
  /** Starts the run, attaches to the open one, or returns the end of the closed one. */
  start(runId: string, options: StartOptions): Promise<RunHandle>;
  /** Waits for the end. */
  result(runId: string): Promise<RunResult>;
  state(runId: string): Promise<RunView>;
  /** The answer of a run, as bytes were stored; null where there is none or no ledger. */
  answer(result: RunResult): Promise<Json>;
  /** What a person is asked about the action; null when nothing of it is open. */
  question(runId: string, actionId: string): Promise<Question | null>;
  /** What was sent, as it is stored; null without a ledger, or where its bytes were erased. */
  sent(question: Question): Promise<Json>;
  resolve(runId: string, command: ResolveCommand, options?: ResolveOptions): Promise<ResolveReply>;
  /** Withdraws permission to act: nothing new begins, what is in flight is awaited. */
  revoke(runId: string, command: StopCommand): Promise<StopReply>;
  /** As `revoke`, and tools at work are told to stop (AbortSignal). Undoes nothing. */
  cancel(runId: string, command: StopCommand): Promise<StopReply>;
  /** Takes over a run whose workflow is closed without an end. */
  resume(runId: string, options: ResumeOptions): Promise<RunHandle>;
  inbox(): Promise<Inbox>;
  /** Closes what the client opened itself. */
  close(): Promise<void>;
}

/** Connects and opens the ledger. Throws ClientError or LedgerError naming what is out of reach. */
export async function createClient(options: ClientOptions): Promise<HoldfastClient> {
  const { config } = options;
  const ledger = options.ledger ?? (await configuredLedger(config));
  const opened = options.ledger === undefined ? ledger : null;
  try {
    const temporal = await connectTemporal(config, options.connection);
    const room: Room = { temporal, ledger, runsQueue: config.queues.runs, newId: randomUUID };
    return clientIn(room, async () => {
      if (temporal.owned) await temporal.connection.close();
      await opened?.close();
    });
  } catch (error) {
    await opened?.close();
    throw error;
  }
}

async function configuredLedger({ ledger }: ClientConfig): Promise<Ledger | null> {
  // Never created here: an empty ledger in a wrong place would look like runs without facts.
  return ledger === null ? null : openLedger(ledger, { create: false });
}

function clientIn(room: Room, close: () => Promise<void>): HoldfastClient {
  return {
    start: (runId, options) => startRun(room, runId, options),
    result: (runId) => awaitedEnd(room, runId),
    state: (runId) => runView(room, runId),
    answer: ({ answer }) => stored(room, answer?.digest ?? null),
    question: (runId, actionId) => currentQuestion(room, runId, actionId),
    sent: ({ evidence }) => stored(room, evidence.payloadDigest),
    resolve: (runId, command, options) => resolveAction(room, runId, command, options),
    revoke: (runId, command) => stopRun(room, runId, { change: 'revoke', command }),
    cancel: (runId, command) => stopRun(room, runId, { change: 'cancel', command }),
    resume: (runId, options) => resumeRun(room, runId, options),
    inbox: () => inboxOf(room),
    close,
  };
}

async function stored({ ledger }: Room, digest: Digest | null): Promise<Json> {
  if (ledger === null || digest === null) return null;
  const bytes = await ledger.payload(digest);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Json);
}
