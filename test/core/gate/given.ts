// What had happened before an attempt comes to the gate.

import { genesisBase, rolledOf } from '../../../core/consumes.ts';
import { digestOf } from '../../../core/digest.ts';
import { decideDoubt } from '../../../core/doubt.ts';
import type { EntryAsk } from '../../../core/gate.ts';
import { ACTION, enter, open, pinOf, RUN, settle } from '../../support/asks.ts';
import type { MemoryLedger } from '../../support/memory-ledger.ts';

/** `leaves`: what the gate writes of the attempt. */
export interface Row {
  readonly verdict: string;
  readonly when: string;
  readonly given: (ledger: MemoryLedger) => void;
  readonly ask: (ledger: MemoryLedger) => Partial<EntryAsk>;
  readonly leaves: 'nothing' | 'closed' | 'entered';
}

export const again: Partial<EntryAsk> = { attemptId: `${ACTION}~2`, entryToken: 'token-2' };
export const other = 'r.t2.c1';
export const next: Partial<EntryAsk> = {
  actionId: other,
  attemptId: `${other}~1`,
  intentDigest: digestOf('n'),
};
export const noIntent = { intentDigest: null };
export const doubt = (ledger: MemoryLedger, actionId = ACTION) =>
  ledger.decide(
    { runId: RUN, actionId },
    decideDoubt({
      ...{ actionId, attemptId: `${actionId}~1`, why: 'timeout' },
      ...{ externalId: null, receiptDigest: null },
    }),
  );
export const opened = (ledger: MemoryLedger) => void open(ledger);
export const entered =
  (over: Partial<EntryAsk> = {}) =>
  (ledger: MemoryLedger) => {
    open(ledger);
    enter(ledger, over);
  };
export const executed = (ledger: MemoryLedger) => {
  entered()(ledger);
  settle(ledger);
};
export const consuming = (ledger: MemoryLedger, outcome: string): Partial<EntryAsk> => ({
  ...next,
  consumes: {
    base: rolledOf({ base: genesisBase(RUN), pairs: [] }),
    pairs: [{ actionId: ACTION, outcome: outcome as 'open' }],
  },
  pin: pinOf(ledger),
});
export const stop = (change: 'revoke' | 'cancel') => (ledger: MemoryLedger) => {
  open(ledger);
  const revisions = { goal: 1, auth: change === 'revoke' ? 2 : 1 };
  const who = { commandId: 'x', actor: 'ada', reason: 'stop' };
  const body = { kind: 'authority_changed', change, position: null, ticket: null } as const;
  ledger.write(RUN, { source: 'human', body: { ...body, ...who, revisions } });
};
export const keyed = {
  replay: 'keyed',
  retention: { retentionMs: 3_600_000, marginMs: 600_000 },
} as const;
export const minutes = (ledger: MemoryLedger, n: number) => {
  ledger.now += n * 60_000;
};

export const restored = (ledger: MemoryLedger) =>
  void Object.assign(ledger, { identity: { ...ledger.identity, incarnation: 2 } });
