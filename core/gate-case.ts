// What the gate decides on: the attempt's ask, and what the ledger says. Rows are in
// `gate-table.ts` and `gate-authority.ts`.

import type { LedgerPin } from './activity-calls.ts';
import type { ApprovalNeed } from './approval.ts';
import type { Reserve } from './budget-limits.ts';
import type { LedgerView, NewPayload } from './decision.ts';
import type { Digest } from './digest.ts';
import type { Consumes, Revisions, Versions } from './fact-fields.ts';
import type { ActionState } from './run-state.ts';
import type { Binding, OnUnknown, ReplayPolicy } from './tool-policy.ts';

/** What the barrier saw; `ageMs` is measured from its last Describe on the older of both clocks. */
export type BarrierView =
  | { readonly kind: 'current'; readonly ageMs: number }
  | { readonly kind: 'not_current'; readonly why: string }
  | { readonly kind: 'unavailable'; readonly why: string };

export interface EntryAsk {
  readonly actionId: string;
  readonly attemptId: string;
  readonly position: string;
  /** Drawn by this delivery. */
  readonly entryToken: string;
  readonly payload: NewPayload;
  readonly binding: Binding;
  readonly replay: ReplayPolicy;
  readonly onUnknown: OnUnknown;
  readonly domain: string | null;
  readonly receiverKey: string;
  readonly intentDigest: Digest | null;
  readonly continuing: 'none' | 'own_protocol';
  /** Of a `keyed` tool: retention and margin in ms. */
  readonly retention: { readonly retentionMs: number; readonly marginMs: number } | null;
  readonly verify: { readonly method: 'inquiry' | 'none'; readonly why: string };
  readonly revisions: Revisions;
  readonly epoch: number;
  readonly consumes: Consumes;
  readonly pin: LedgerPin;
  readonly barrier: BarrierView;
  /** Null: its tool asks for none with this input. */
  readonly approval: ApprovalNeed | null;
  /** The most it may cost; left out: nothing that a budget counts. */
  readonly reserve?: Reserve | undefined;
  /** As they are now; left out: its tool names none. */
  readonly versions?: Versions | undefined;
  /** Why its principal may not act, where its tool found that out; left out: it may. */
  readonly denied?: string | undefined;
  /** It goes on with a half-done operation, by the receiver's own protocol. */
  readonly continues?: boolean | undefined;
  /** Id of the action whose effect it undoes. */
  readonly compensates?: string | undefined;
  /** Tools whose effects its own undoes; left out: nobody said. */
  readonly undoes?: readonly string[] | undefined;
  /** Tools that undo its own effect: options, kept for whoever decides on them. */
  readonly compensation?: readonly string[] | undefined;
}

export interface GateCase {
  readonly ask: EntryAsk;
  readonly view: LedgerView;
  readonly action: ActionState | undefined;
  readonly hasPermit: boolean;
}

/** The detail when the row applies, else null. */
export type Row = (each: GateCase) => string | null;

export const says = (applies: boolean, detail: string): string | null => (applies ? detail : null);
