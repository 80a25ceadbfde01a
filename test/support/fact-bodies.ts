// A legal body of every record kind, as the decisions write it, to be bent in tests of the rules.

import { genesisBase } from '../../core/consumes.ts';
import type { LedgerView } from '../../core/decision.ts';
import { digestOf } from '../../core/digest.ts';
import { decideEnd } from '../../core/end-run.ts';
import type { BodyOf, FactKind, NewFact } from '../../core/facts.ts';
import { decideEntry, type EntryAsk } from '../../core/gate.ts';
import { decideOpen, type OpenAsk } from '../../core/open-run.ts';
import { decideResolve } from '../../core/resolve.ts';
import { decideSettlement, type SettleAsk } from '../../core/settle.ts';
import { ACTION, current, entryAsk, openAsk, pinOf, RUN, settleAsk } from './asks.ts';
import type { MemoryLedger } from './memory-ledger.ts';
import { commandOf, observationOf } from './story.ts';

export function viewOf(ledger: MemoryLedger): LedgerView {
  return {
    ledger: ledger.identity,
    now: ledger.now,
    clockSteppedBack: false,
    run: ledger.run(RUN),
    gateRow: null,
    unchained: null,
    twins: [],
    pinHolds: true,
  };
}

function lastOf<K extends FactKind>(kind: K, facts: readonly NewFact[]): BodyOf<K> {
  const body = facts.at(-1)?.body;
  if (body?.kind !== kind) throw new Error(`wanted ${kind}, got ${body?.kind}`);
  return body as BodyOf<K>;
}

export const bodies = {
  run_opened: (ledger: MemoryLedger, over: Partial<OpenAsk> = {}) =>
    lastOf('run_opened', decideOpen(openAsk(over))(viewOf(ledger)).facts),
  attempt_entered: (ledger: MemoryLedger, over: Partial<EntryAsk> = {}) =>
    lastOf('attempt_entered', decideEntry(entryAsk(ledger, over))(viewOf(ledger)).facts),
  attempt_prepared: (
    _ledger: MemoryLedger,
    over: Partial<BodyOf<'attempt_prepared'>> = {},
  ): BodyOf<'attempt_prepared'> => ({
    ...{ kind: 'attempt_prepared', actionId: ACTION, attemptId: `${ACTION}~1` },
    marks: { draft: 'a.draft', inode: '7' },
    ...over,
  }),
  attempt_refused: (ledger: MemoryLedger, over: Partial<EntryAsk> = {}) => {
    const ask = entryAsk(ledger, { barrier: { kind: 'not_current', why: 'paused' }, ...over });
    return lastOf('attempt_refused', decideEntry(ask)(viewOf(ledger)).facts);
  },
  attempt_settled: (ledger: MemoryLedger, over: Partial<SettleAsk> = {}) =>
    lastOf('attempt_settled', decideSettlement(settleAsk(over))(viewOf(ledger)).facts),
  action_in_doubt: (ledger: MemoryLedger): BodyOf<'action_in_doubt'> => ({
    kind: 'action_in_doubt',
    actionId: ACTION,
    attemptIds: [`${ACTION}~1`],
    why: 'no reply in time',
    revisions: ledger.run(RUN).revisions,
  }),
  observation: (_ledger: MemoryLedger, over: Partial<BodyOf<'observation'>> = {}) =>
    observationOf(over),
  resolution: (ledger: MemoryLedger, verb: BodyOf<'resolution'>['verb'] = 'confirm_executed') =>
    lastOf('resolution', decideResolve(commandOf(ledger, { verb }))(viewOf(ledger)).facts),
  authority_changed: (ledger: MemoryLedger): BodyOf<'authority_changed'> => ({
    kind: 'authority_changed',
    change: 'revoke',
    commandId: 'revoke-1',
    actor: 'ada',
    reason: 'wrong customer',
    position: null,
    revisions: { goal: 1, auth: ledger.run(RUN).revisions.auth + 1 },
    ticket: null,
  }),
  command_rejected: (): BodyOf<'command_rejected'> => ({
    kind: 'command_rejected',
    commandId: null,
    name: 'resolve',
    why: 'not readable',
  }),
  run_ended: (ledger: MemoryLedger) => {
    const consumes = { base: genesisBase(RUN), pairs: [] };
    const ask = { end: { kind: 'completed' }, epoch: 1, consumes, barrier: current } as const;
    const answer = { ref: null, payload: null };
    const decided = decideEnd({ ...ask, pin: pinOf(ledger), answer })(viewOf(ledger));
    return lastOf('run_ended', decided.facts);
  },
  payload_erased: (): BodyOf<'payload_erased'> => ({
    kind: 'payload_erased',
    digest: digestOf('gone'),
    actor: 'ada',
    reason: 'asked to',
  }),
} satisfies { [K in FactKind]: (ledger: MemoryLedger) => BodyOf<K> };
