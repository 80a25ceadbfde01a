// After the gate: the tool, inside the send window. What it returns settles the attempt; whatever
// else happens is ambiguous.

import { asyncLocalStorage } from '@temporalio/activity';
import type { AttemptFailureDetails, PerformCall } from '../core/activity-calls.ts';
import type { Digest } from '../core/digest.ts';
import type { Principal } from '../core/fact-fields.ts';
import type { Entry } from '../core/gate.ts';
import type { BoundTool, Performed } from './binding.ts';
import { AttemptError, messageOf } from './failures.ts';
import type { Progress } from './progress.ts';
import type { SendWindow } from './send-window.ts';
import { notSentAsk, type Settled, settledOf } from './settlement.ts';
import {
  type Attempt,
  type Compensated,
  type HalfDone,
  KeyRefusedError,
  NotSentError,
} from './tool.ts';

export interface AtTheTool {
  readonly call: PerformCall;
  readonly tool: BoundTool;
  /** As the tool's schema gave it. */
  readonly input: unknown;
  readonly payloadDigest: Digest;
  readonly principal: Principal;
  readonly entry: Entry;
  /** Null: it begins from the beginning. */
  readonly halfDone: HalfDone | null;
  readonly compensates: Compensated | undefined;
  readonly prepare: Attempt['prepare'];
  readonly window: SendWindow;
  readonly progress: Progress;
}

export interface Executed extends Settled {
  /** Of `not_sent`: why. */
  readonly detail: string | null;
}

/** Throws AttemptError where nobody knows whether there was an effect. */
export async function execute(at: AtTheTool): Promise<Executed> {
  const { call, window, progress } = at;
  progress.phase = 'send';
  let performed: Performed;
  try {
    // Outside of Temporal's context a tool cannot meet its cancellation, not even by accident.
    performed = await asyncLocalStorage.exit(() =>
      at.tool.execute(at.input, attemptOf(at), at.halfDone),
    );
  } catch (error) {
    if (error instanceof NotSentError && !window.hasPassed()) return notSent(call, error.message);
    throw ambiguous(at, `${call.attemptId}: ${messageOf(error)}`, error);
  }
  const settled = settledOf(call, performed);
  if (settled === null)
    throw ambiguous(at, `${call.attemptId}: ${call.binding.tool} returned no settlement`, null);
  return { ...settled, detail: settled.ask.refusal?.message ?? null };
}

export function notSent(call: PerformCall, why: string): Executed {
  return { ask: notSentAsk(call), retryAfterMs: null, detail: why };
}

function attemptOf(at: AtTheTool): Attempt {
  const { call, entry, window, progress } = at;
  return {
    runId: call.runId,
    actionId: call.actionId,
    attemptId: call.attemptId,
    number: entry.number,
    receiverKey: entry.receiverKey,
    sendToken: entry.sendToken,
    firstSentAt: entry.firstSentAt,
    payloadDigest: at.payloadDigest,
    principal: at.principal,
    ...(at.compensates === undefined ? {} : { compensates: at.compensates }),
    signal: progress.signal,
    prepare: at.prepare,
    beforeSend() {
      window.beforeSend();
      progress.phase = 'execute';
    },
  };
}

function ambiguous({ call, progress }: AtTheTool, message: string, cause: unknown): AttemptError {
  const details: AttemptFailureDetails = {
    phase: progress.phase,
    attemptId: call.attemptId,
    externalId: null,
    receiptDigest: null,
    ...(cause instanceof KeyRefusedError ? { keyRefused: true } : {}),
  };
  return new AttemptError(message, details, cause);
}
