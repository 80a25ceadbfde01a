// One delivery of one attempt: binding check → input → barrier → gate → send window → execute →
// result. Before the gate's commit every end is a refusal that closes the attempt; after it,
// whatever is not a settlement of the adapter is ambiguous and settles nothing.

import { halfDoneOf } from '../core/action-status.ts';
import type { PerformCall, PerformReply } from '../core/activity-calls.ts';
import type { NewPayload } from '../core/decision.ts';
import { digestOf } from '../core/digest.ts';
import type { EntryReply } from '../core/gate.ts';
import { limits } from '../core/limits.ts';
import { promisedBy } from '../core/promised.ts';
import { decideRefusal } from '../core/refusal.ts';
import type { RunState } from '../core/run-state.ts';
import type { SettleAsk } from '../core/settle.ts';
import type { Refusal } from '../core/verdict.ts';
import { boundedWords } from '../core/words.ts';
import type { Committed } from '../ledger/port.ts';
import { inputOf } from './attempt-input.ts';
import { passBarrier } from './barrier.ts';
import { type BoundTool, bind } from './binding.ts';
import { compensatedBy } from './compensation.ts';
import { type Delivery, deliveryOf } from './delivery.ts';
import type { ActivityDeps } from './deps.ts';
import { type Executed, execute, notSent } from './execution.ts';
import { AttemptError, messageOf } from './failures.ts';
import { passGate } from './gate-entry.ts';
import { announce, questionAfter, questionBefore, untilSent } from './late-signal.ts';
import { replyOf } from './perform-reply.ts';
import { prepareWith } from './prepare.ts';
import { type Progress, startProgress } from './progress.ts';
import { storeResult } from './result-store.ts';
import { type SendWindow, sendWindow } from './send-window.ts';

interface Performing {
  readonly deps: ActivityDeps;
  readonly call: PerformCall;
  readonly delivery: Delivery;
  readonly progress: Progress;
}

/** Fails with AttemptError alone: it says how far the attempt came. */
export function performActionWith(deps: ActivityDeps) {
  return async (call: PerformCall): Promise<PerformReply> => {
    const { runId, actionId, attemptId } = call;
    const delivery = deliveryOf(deps.clock, call);
    const progress = startProgress(deps, {
      ...{ runId, actionId, attemptId, head: call.pin.head },
      intervalMs: delivery.heartbeatMs,
      heartbeat: delivery.heartbeat,
    });
    try {
      return await perform({ deps, call, delivery, progress });
    } catch (error) {
      if (error instanceof AttemptError) throw error;
      const details = { phase: progress.phase, attemptId, externalId: null, receiptDigest: null };
      throw new AttemptError(`${attemptId}: ${messageOf(error)}`, details, error);
    } finally {
      progress.stop();
    }
  };
}

async function perform(at: Performing): Promise<PerformReply> {
  const { deps, call, delivery, progress } = at;
  const binding = bind(deps, call);
  if (binding.kind === 'changed') return refuse(at, { ...binding, payload: null });
  const run = await deps.ledger.read(call.runId);
  const bytes = await inputOf(deps, run, call);
  if (bytes.kind === 'invalid')
    return refuse(at, { verdict: 'invalid_input', detail: bytes.problem, payload: null });
  const { payload } = bytes;
  const checked = await binding.tool.check(bytes.value);
  if (checked.kind === 'invalid')
    return refuse(at, { verdict: 'invalid_input', detail: checked.problem, payload });
  const brought = await binding.tool.bring({ actionId: call.actionId, payload, run });
  progress.phase = 'barrier';
  const barrier = await passBarrier(
    { server: deps.barrier, clock: deps.clock, waitMs: deps.barrierWaitMs },
    delivery.target,
  );
  const window = sendWindow(deps.clock, barrier.askedAt, deps.sendWindowMs);
  progress.phase = 'gate';
  const { policy } = binding.tool;
  const gate = await passGate(deps, { call, policy, payload, run, brought, barrier, window });
  if (gate.reply.entry === null) return refusalReply(at, gate);
  const input = { tool: binding.tool, input: checked.input, payload };
  return settle(at, await send(at, gate, { ...input, window }));
}

interface ToSend {
  readonly tool: BoundTool;
  readonly input: unknown;
  readonly payload: NewPayload;
  readonly window: SendWindow;
}

async function send(
  { deps, call, progress }: Performing,
  { reply, run }: Committed<EntryReply>,
  { tool, input, payload, window }: ToSend,
): Promise<Executed> {
  const { entry, verdict } = reply;
  const principal = run.opened?.principal;
  if (entry === null || principal === undefined)
    throw new Error(`${call.attemptId}: ${verdict} without an entry; the ledger is broken`);
  const age = window.ageMs();
  // The commit came back too late to know that it was in time; only this holder may say so.
  if (verdict === 'entered' && age > limits.barrierAgeMs)
    return notSent(call, `the barrier was ${age} ms old when the gate had committed`);
  if (!window.isOpen()) return notSent(call, `the send window has passed (${age} ms)`);
  const payloadDigest = payload.digest;
  const halfDone = halfDoneOf(run.actions.get(call.actionId));
  const compensates = compensatedBy(run, call);
  const at = { call, tool, input, payloadDigest, principal, halfDone, compensates };
  const prepare = prepareWith(deps.ledger, call, window);
  return execute({ ...at, entry, prepare, window, progress });
}

/** A result is news to whoever waits for it elsewhere; the ledger has it first. */
async function settle(at: Performing, executed: Executed): Promise<PerformReply> {
  const { deps, call, delivery, progress } = at;
  const { ask } = executed;
  progress.phase = 'result';
  const { closesAt } = delivery;
  const stored = await storeResult(deps, call.runId, { ask, closesAt }).catch((error: unknown) => {
    throw notStored(call.attemptId, ask, error);
  });
  const { committed, before } = stored;
  if (committed.reply.kind === 'orphan') {
    const detail = 'the intent of this result is not in the ledger; nothing is repaired';
    return refusalReply(at, { ...committed, reply: { verdict: 'ledger_mismatch', detail } });
  }
  if (committed.reply.wasInDoubt) await tellLate(at, { before, run: committed.run });
  return replyOf(deps.ledger, call, {
    committed,
    verdict: 'entered',
    detail: executed.detail,
    executed,
  });
}

function notStored(attemptId: string, ask: SettleAsk, error: unknown): AttemptError {
  const receiptDigest = ask.result?.digest ?? digestOf({ ...ask, payloads: [] });
  const { externalId, outcome } = ask;
  return new AttemptError(
    `${attemptId}: settled as ${outcome}, but not stored: ${messageOf(error)}`,
    { phase: 'result', attemptId, externalId, receiptDigest },
    error,
  );
}

async function tellLate(
  { deps, call }: Performing,
  { before, run }: { readonly before: RunState; readonly run: RunState },
): Promise<void> {
  const { runId, actionId, attemptId } = call;
  const promised = promisedBy(deps.registry.tools.get(call.binding.tool)?.policy);
  const late = { actionId, attemptId, promised };
  const question = questionAfter(run, late) ?? questionBefore(before, late);
  const outcomeDigest = run.actions.get(actionId)?.final?.digest ?? null;
  await announce(
    untilSent(deps.signals, deps.clock),
    { runId, question, fact: { actionId, attemptId, outcomeDigest } },
    deps.log,
  );
}

interface RefusalWhy {
  readonly verdict: Refusal;
  readonly detail: string;
  readonly payload: NewPayload | null;
}

/** Closes the attempt for a reason that the gate does not know. */
async function refuse(at: Performing, why: RefusalWhy): Promise<PerformReply> {
  const { deps, call, progress } = at;
  const { runId, actionId, attemptId, position, revisions, pin } = call;
  const { verdict, payload } = why;
  progress.phase = 'gate';
  const committed = await deps.ledger.transact(
    { runId, actionId, attemptId, pin: pin.head },
    decideRefusal({
      ...{ actionId, attemptId, position, revisions, pin, verdict },
      detail: boundedWords(why.detail, limits.noteCharsMax),
      tool: call.binding.tool,
      payload: payload && { digest: payload.digest, bytes: payload.bytes.length },
      bytes: payload,
    }),
  );
  return refusalReply(at, committed);
}

type Refused = Pick<EntryReply, 'detail' | 'asks' | 'waitsFor'> & { readonly verdict: Refusal };

function refusalReply(
  { deps, call }: Performing,
  committed: Committed<Refused>,
): Promise<PerformReply> {
  const { verdict, detail, asks, waitsFor } = committed.reply;
  deps.log.info('attempt refused', {
    ...{ run: call.runId, action: call.actionId, attempt: call.attemptId },
    verdict,
  });
  const why = { verdict, detail, asks, waitsFor };
  return replyOf(deps.ledger, call, { committed, ...why, executed: null });
}
