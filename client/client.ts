// The client library: starting, watching and answering runs. It holds connections and no state;
// what it says about a run comes from the ledger and from Temporal at that moment.

import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import type { GivenCommand } from '../core/authority.ts';
import type {
  AmendCommand,
  ApprovalCommand,
  AuthorityCommand,
  AuthorityVerb,
  ResolveCommand,
  RevokeCommand,
  StopCommand,
  TopUpCommand,
} from '../core/commands.ts';
import type { ClientConfig } from '../core/config.ts';
import type { Json } from '../core/digest.ts';
import type { RunResult } from '../core/outcome.ts';
import type { Question } from '../core/question.ts';
import { openLedger } from '../ledger/open.ts';
import type { Ledger } from '../ledger/port.ts';
import { type ApprovalQuestion, currentApproval } from './approvals.ts';
import { type AuthorityOptions, type AuthorityReply, changeAuthority } from './authority.ts';
import { currentDistinction, type DistinctQuestion } from './distinctions.ts';
import { type Inbox, inboxOf } from './inbox.ts';
import { currentQuestion } from './questions.ts';
import { type ResolveOptions, type ResolveReply, resolveAction } from './resolution.ts';
import type { Room } from './room.ts';
import { awaitedEnd } from './run-end.ts';
import { type RunHandle, startRun } from './run-start.ts';
import { type RunView, runView } from './run-view.ts';
import type { StartOptions } from './start-request.ts';
import { storedJson } from './stored.ts';
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
  /** What a person is asked about the action; null when nothing of it is open or disputed. */
  question(runId: string, actionId: string): Promise<Question | null>;
  /** What a person is asked where it waits because it looks like another action in doubt. */
  distinction(runId: string, actionId: string): Promise<DistinctQuestion | null>;
  /** What was or would be sent, as stored; null without a ledger, or where it was erased. */
  sent(question: Question | ApprovalQuestion | DistinctQuestion): Promise<Json>;
  resolve(runId: string, command: ResolveCommand, options?: ResolveOptions): Promise<ResolveReply>;
  /** Withdraws permission to act: nothing new begins, what is in flight is awaited. */
  revoke(runId: string, command: RevokeCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
  /** As `revoke`, and tools at work are told to stop (AbortSignal). Undoes nothing. */
  cancel(runId: string, command: StopCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
  /** Another goal, other grants, or both: from there it decides under a new revision. */
  amend(runId: string, command: AmendCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
  /** What a person is asked to approve; null when nothing of the action waits for that. */
  approval(runId: string, actionId: string): Promise<ApprovalQuestion | null>;
  /** Allows one action that waits, and exactly what was looked at. */
  approve(runId: string, command: ApprovalCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
  deny(runId: string, command: ApprovalCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
  /** Adds to the budget. */
  topUp(runId: string, command: TopUpCommand, how?: AuthorityOptions): Promise<AuthorityReply>;
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
  const changing =
    <V extends AuthorityVerb>(verb: V) =>
    (runId: string, command: AuthorityCommand<V>, how?: AuthorityOptions) =>
      changeAuthority(room, runId, { verb, command } as GivenCommand, how);
  return {
    start: (runId, options) => startRun(room, runId, options),
    result: (runId) => awaitedEnd(room, runId),
    state: (runId) => runView(room, runId),
    answer: ({ answer }) => storedJson(room, answer?.digest ?? null),
    question: (runId, actionId) => currentQuestion(room, runId, actionId),
    distinction: (runId, actionId) => currentDistinction(room, runId, actionId),
    sent: ({ evidence }) => storedJson(room, evidence.payloadDigest),
    resolve: (runId, command, options) => resolveAction(room, runId, command, options),
    revoke: changing('revoke'),
    cancel: changing('cancel'),
    amend: changing('amend'),
    approval: (runId, actionId) => currentApproval(room, runId, actionId),
    approve: changing('approve'),
    deny: changing('deny'),
    topUp: changing('topUp'),
    resume: (runId, options) => resumeRun(room, runId, options),
    inbox: () => inboxOf(room),
    close,
  };
}
