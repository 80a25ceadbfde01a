// One delivery at the gate: what it asks, and the transaction, tried once more where its reply was
// lost: the same entry token then finds its own row.

import type { PerformCall } from '../core/activity-calls.ts';
import { domainOf } from '../core/contract.ts';
import type { NewPayload } from '../core/decision.ts';
import { type Digest, digestOf } from '../core/digest.ts';
import { type BarrierView, decideEntry, type EntryAsk, type EntryReply } from '../core/gate.ts';
import { receiverKeyOf } from '../core/ids.ts';
import { intentDigestOf } from '../core/intent.ts';
import type { RunState } from '../core/run-state.ts';
import type { ToolPolicy } from '../core/tool-policy.ts';
import { type Committed, LedgerError } from '../ledger/port.ts';
import { jsonOf } from './answers.ts';
import type { BarrierResult } from './barrier.ts';
import type { Brought } from './binding.ts';
import type { ActivityDeps } from './deps.ts';
import type { SendWindow } from './send-window.ts';

export interface AtTheGate {
  readonly call: PerformCall;
  readonly policy: ToolPolicy;
  readonly payload: NewPayload;
  readonly run: RunState;
  readonly brought: Brought;
  readonly barrier: BarrierResult;
  readonly window: SendWindow;
}

/** Throws the ledger's error when it does not say what became of the transaction. */
export async function passGate(deps: ActivityDeps, at: AtTheGate): Promise<Committed<EntryReply>> {
  const ask = entryAskOf(deps, at);
  const look = {
    runId: at.call.runId,
    attemptId: ask.attemptId,
    actionId: ask.actionId,
    pin: at.call.pin.head,
    ...(ask.intentDigest === null ? {} : { intentDigest: ask.intentDigest }),
  };
  // The barrier's age is looked at inside the transaction: waiting for a lock makes it older.
  const enter = () =>
    deps.ledger.transact(look, (view) =>
      decideEntry({ ...ask, barrier: viewOf(at.barrier, at.window) })(view),
    );
  try {
    return await enter();
  } catch (error) {
    if (!(error instanceof LedgerError) || error.nothingWritten) throw error;
    return await enter();
  }
}

/** What the barrier saw, as old as it is now. */
export function viewOf({ verdict }: BarrierResult, window: Pick<SendWindow, 'ageMs'>): BarrierView {
  return verdict.kind === 'current' ? { kind: 'current', ageMs: window.ageMs() } : verdict;
}

function entryAskOf(deps: ActivityDeps, at: AtTheGate): EntryAsk {
  const { call, policy, payload, run } = at;
  const { contract } = policy;
  const domain = domainOf(contract);
  const principal = run.opened?.principal ?? null;
  const intent = {
    ...{ tool: call.binding.tool, domain, replay: call.replay },
    payload: intendedDigest(payload, contract.changeable),
  };
  const { retentionMs, retentionMarginMs: marginMs } = contract;
  const isKeyed = call.replay === 'keyed' && retentionMs !== 'none';
  return {
    actionId: call.actionId,
    attemptId: call.attemptId,
    position: call.position,
    entryToken: deps.random(),
    payload,
    binding: call.binding,
    replay: call.replay,
    onUnknown: call.onUnknown,
    domain,
    receiverKey: receiverKeyOf(run.opened?.scope ?? deps.scope, call.actionId),
    // Without an open run nothing enters, and there is no principal to compare.
    intentDigest: principal === null ? null : intentDigestOf({ ...intent, principal }),
    continuing: contract.continuing,
    retention: isKeyed ? { retentionMs, marginMs } : null,
    verify: verifyOf(policy),
    revisions: call.revisions,
    epoch: call.epoch,
    consumes: call.consumes,
    pin: call.pin,
    barrier: viewOf(at.barrier, at.window),
    ...offered(run, policy),
    ...at.brought,
  };
}

/** Of the tools that undo it, those that the run has: another run compensates nothing of this. */
function offered({ opened }: RunState, policy: ToolPolicy): Pick<EntryAsk, 'compensation'> {
  const tools = opened?.bindings.map(({ tool }) => tool) ?? [];
  const compensation = policy.compensation?.filter((name) => tools.includes(name)) ?? [];
  return compensation.length === 0 ? {} : { compensation };
}

/** Of what makes the intent: two inputs that differ in the rest are the same wish. */
function intendedDigest(payload: NewPayload, changeable: readonly string[] = []): Digest {
  if (changeable.length === 0) return payload.digest;
  const input = jsonOf(payload.bytes);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return payload.digest;
  const kept = Object.entries(input).filter(([field]) => !changeable.includes(field));
  return digestOf(Object.fromEntries(kept));
}

function verifyOf({ inquirable, contract, binding }: ToolPolicy): EntryAsk['verify'] {
  if (!inquirable)
    return { method: 'none', why: `${binding.tool} cannot ask its receiver; a person has to look` };
  const asks = contract.inquiry === 'none' ? 'none' : contract.inquiry.consistency;
  return { method: 'inquiry', why: `inquiry ${asks}, closing ${contract.closing}` };
}
