// How an attempt can end, as data, and what can follow; `after-attempt.ts` decides.

import type { AttemptFailureDetails, InquireReply, PerformReply } from './activity-calls.ts';
import type { StopReason } from './fact-fields.ts';
import type { Outcome } from './outcome.ts';
import type { ReplayPolicy } from './tool-policy.ts';

/** How Temporal says that an attempt gave no reply; see `observations.ts`. */
export const failureKinds = [
  'schedule_to_start',
  'start_to_close',
  'heartbeat',
  'schedule_to_close',
  'canceled',
  'not_scheduled',
  'application',
  'server',
  'unreadable_reply',
  'overdue',
] as const;
export type FailureKind = (typeof failureKinds)[number];

export type AttemptEnd =
  | ({ readonly kind: 'reply' } & Pick<
      PerformReply,
      'verdict' | 'detail' | 'settled' | 'outcome' | 'retryAfterMs'
    >)
  | {
      readonly kind: 'failure';
      readonly failure: FailureKind;
      readonly phase: AttemptFailureDetails['phase'] | null;
      readonly why: string;
    }
  /** The ledger's answer to the doubt; `burns`: whether the attempt counts against the limit. */
  | {
      readonly kind: 'doubt';
      readonly state: 'in_doubt' | 'closed' | 'settled';
      readonly outcome: Outcome | null;
      readonly burns: 'attempt' | 'infrastructure';
    }
  /** `ifOpen`: what an action that is still open comes to. */
  | ({ readonly kind: 'inquiry'; readonly ifOpen: IfOpen } & Pick<
      InquireReply,
      | 'outcome'
      | 'openAttempts'
      | 'permitted'
      | 'disputed'
      | 'abandoned'
      | 'verdict'
      | 'continuable'
    >);

/** `resend`: same key again; `ask`: a person; `not_again`: the gate refused to repeat it. */
export type IfOpen = 'resend' | 'ask' | 'not_again';

export interface AttemptContext {
  readonly actionId: string;
  readonly replay: ReplayPolicy;
  /** Set: nothing new is scheduled any more. */
  readonly stop: StopReason | null;
  /** Attempts that counted so far, this one included. */
  readonly attempts: number;
  readonly attemptsMax: number;
  /** Infrastructure refusals in a row, this one included. */
  readonly infra: number;
  /** Re-reads of the authority since the last attempt that got past it. */
  readonly rereads: number;
  /** Attempts of the action that are open as far as this run knows. */
  readonly open: number;
  /** Questions to the receiver since the last attempt or wait. */
  readonly inquiries: number;
  /** The receiver said that it does not take the key any more: nothing is sent under it again. */
  readonly keyRefused: boolean;
  /** Its tool goes on with what was half done. */
  readonly continues: boolean;
  readonly now: number;
  readonly deadlineAt: number;
  /** What the run does when its budget does not allow the attempt. */
  readonly onExhausted: 'ask' | 'end';
  /** In [0, 1). */
  readonly random: number;
}

export type NextStep =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** Burns no attempt. */
  | { readonly kind: 'infra_retry'; readonly afterMs: number }
  | { readonly kind: 'doubt'; readonly burns: 'attempt' | 'infrastructure' }
  | { readonly kind: 'inquire'; readonly mode: 'look' | 'ask'; readonly ifOpen: IfOpen }
  /** The receiver did not say what to do: asked again after a while, before anything is sent. */
  | { readonly kind: 'inquire_again'; readonly afterMs: number }
  /** Start or adopt the child and wait for a settlement. */
  | { readonly kind: 'ask' }
  /** The receiver owns it now: ask it until it is final, never send again. */
  | { readonly kind: 'poll' }
  | { readonly kind: 'settle_predecessors' }
  /** A person decides; nothing is held meanwhile. */
  | { readonly kind: 'await_approval' | 'await_budget' }
  /** `afterMs`: only where another action has to be settled first. */
  | { readonly kind: 'reread_authority'; readonly afterMs: number }
  | { readonly kind: 'stop'; readonly reason: StopReason };
