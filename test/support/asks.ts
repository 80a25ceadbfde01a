// Builders for decisions in tests: a run "r", an action "r.t1.c1", everything overridable.

import type { LedgerPin } from '../../core/activity-calls.ts';
import { genesisBase } from '../../core/consumes.ts';
import type { NewPayload } from '../../core/decision.ts';
import { canonicalBytes, digestOf, digestOfBytes, type Json } from '../../core/digest.ts';
import type { BarrierView, EntryAsk } from '../../core/gate.ts';
import { decideEntry } from '../../core/gate.ts';
import { grantSchema } from '../../core/grants.ts';
import { receiverKeyOf } from '../../core/ids.ts';
import { decideOpen, type OpenAsk } from '../../core/open-run.ts';
import { decideSettlement, type SettleAsk } from '../../core/settle.ts';
import type { MemoryLedger } from './memory-ledger.ts';

export const RUN = 'r';
export const ACTION = 'r.t1.c1';
export const scope = { installation: 'test', namespace: 'default' };
export const current: BarrierView = { kind: 'current', ageMs: 1 };

export function payloadOf(value: Json): NewPayload {
  const bytes = canonicalBytes(value);
  return { digest: digestOfBytes(bytes), bytes };
}

export const binding = { tool: 'charge_card', version: '1', digest: digestOf('charge_card 1') };

export function openAsk(over: Partial<OpenAsk> = {}): OpenAsk {
  return {
    goal: payloadOf({ kind: 'plan', steps: [] }),
    principal: { user: 'ada', workspace: 'w1' },
    grants: grantSchema.options,
    budget: null,
    catalog: payloadOf([]),
    bindings: [binding],
    scope,
    owner: 'worker-1',
    firstExecutionRunId: 'exec-1',
    ticket: null,
    pin: null,
    barrier: current,
    ...over,
  };
}

/** All that asks need to know of a ledger. */
type Known = Pick<MemoryLedger, 'identity' | 'run'>;

export function pinOf(ledger: Known, runId = RUN): LedgerPin {
  return { ...ledger.identity, head: ledger.run(runId).head };
}

export function entryAsk(ledger: Known, over: Partial<EntryAsk> = {}): EntryAsk {
  const actionId = over.actionId ?? ACTION;
  return {
    actionId,
    attemptId: `${actionId}~1`,
    position: actionId.slice(RUN.length + 1),
    entryToken: 'token-1',
    payload: payloadOf({ amount: 10 }),
    binding,
    replay: 'never',
    onUnknown: 'hold',
    domain: 'bank/acme/w1/eu',
    receiverKey: receiverKeyOf(scope, actionId),
    intentDigest: digestOf({ actionId }),
    continuing: 'none',
    retention: null,
    verify: { method: 'inquiry', why: 'the receiver can be asked' },
    revisions: ledger.run(RUN).revisions,
    epoch: 1,
    consumes: { base: genesisBase(RUN), pairs: [] },
    pin: pinOf(ledger),
    barrier: current,
    approval: null,
    ...over,
  };
}

export function settleAsk(over: Partial<SettleAsk> = {}): SettleAsk {
  const payload = payloadOf({ ok: true });
  const outcome = over.outcome ?? 'executed';
  const withResult = outcome === 'executed' && over.result !== null;
  return {
    actionId: ACTION,
    attemptId: `${ACTION}~1`,
    outcome,
    result: withResult ? { digest: payload.digest, bytes: payload.bytes.length } : null,
    resultMissing: null,
    parts: outcome === 'partial' ? [{ name: 'file', state: 'confirmed' }] : [],
    externalId: outcome === 'executed' || outcome === 'accepted' ? 'ext-1' : null,
    objectVersion: null,
    refusal:
      outcome === 'refused' || outcome === 'not_taken' ? { code: 'no', message: 'declined' } : null,
    calls: [],
    cost: { kind: 'none' },
    source: 'execution',
    payloads: withResult ? [payload] : [],
    ...over,
  };
}

export function open(ledger: MemoryLedger, over: Partial<OpenAsk> = {}) {
  const ask = openAsk(over);
  const look = { runId: RUN, ...(ask.pin === null ? {} : { pin: ask.pin.head }) };
  return ledger.decide(look, decideOpen(ask));
}

export function enter(ledger: MemoryLedger, over: Partial<EntryAsk> = {}) {
  const ask = entryAsk(ledger, over);
  const look = {
    runId: RUN,
    actionId: ask.actionId,
    attemptId: ask.attemptId,
    pin: ask.pin.head,
    ...(ask.intentDigest === null ? {} : { intentDigest: ask.intentDigest }),
  };
  return ledger.decide(look, decideEntry(ask));
}

export function settle(ledger: MemoryLedger, over: Partial<SettleAsk> = {}) {
  const ask = settleAsk(over);
  return ledger.decide({ runId: RUN, actionId: ask.actionId }, decideSettlement(ask));
}
