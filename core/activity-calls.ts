// What workflows and activities say to each other: arguments and replies, references only.
// Both sides are ours and are deployed together, so these are types, checked where they are made.

import type { GivenCommand } from './authority.ts';
import type { BudgetInput } from './budget-limits.ts';
import type { ResolveCommand } from './commands.ts';
import type { Digest, Json } from './digest.ts';
import type {
  Consumes,
  End,
  InquiryVerdict,
  PayloadRef,
  Principal,
  Revisions,
} from './fact-fields.ts';
import type { ApprovalAsk, Head } from './facts.ts';
import type { Grant } from './grants.ts';
import type { Outcome, RunResult } from './outcome.ts';
import type { Question } from './question.ts';
import type { Binding, OnUnknown, ReplayPolicy, ToolPolicy } from './tool-policy.ts';
import type { Refusal } from './verdict.ts';
import type { Waits } from './waiting.ts';

/** The ledger and the newest head the caller has seen; every reply carries the next one. */
export interface LedgerPin {
  readonly id: string;
  readonly incarnation: number;
  readonly head: Head;
}

export interface AuthorityHead {
  readonly epoch: number;
  readonly revisions: Revisions;
  readonly revoked: boolean;
  readonly canceled: boolean;
  /** How often the budget was added to; a worker of an earlier version does not say. */
  readonly topUps?: number | undefined;
}

// ── openRun ────────────────────────────────────────────────────────────────────────────────────

export interface OpenRunCall {
  readonly runId: string;
  /** Canonicalized and stored; a second opening must bring the same. */
  readonly goal: Json;
  readonly principal: Principal;
  /** Null: every tool of the installation. */
  readonly tools: readonly string[] | null;
  readonly firstExecutionRunId: string;
  /** From `resume`; null for a first start. */
  readonly ticket: string | null;
  readonly pin: LedgerPin | null;
  /** Position to go on after, for long walks; null from the start. */
  readonly after: string | null;
  /** Left out: nothing is limited. */
  readonly budget?: BudgetInput | undefined;
  /** Left out: all of them. */
  readonly grants?: readonly Grant[] | undefined;
}

/** One recorded action, as the walk goes on from it. */
export interface WalkEntry {
  readonly actionId: string;
  readonly position: string;
  readonly binding: Binding | null;
  /** The stored payload; a recorded position never sends a rebuilt one. */
  readonly payload: PayloadRef | null;
  /** Final outcome, or what is known so far when nothing of it is open. */
  readonly outcome: Outcome | null;
  /** Entered and not settled. */
  readonly openAttempts: readonly string[];
  readonly attemptsEntered: number;
  /** `rolled` of its newest entered attempt, for what comes after; null: none entered. */
  readonly rolled: Digest | null;
}

export type OpenRunReply =
  | {
      readonly kind: 'open';
      readonly authority: AuthorityHead;
      readonly pin: LedgerPin;
      readonly catalog: readonly ToolPolicy[];
      /** The model's policy, or null where none is configured. */
      readonly model: ToolPolicy | null;
      readonly walk: readonly WalkEntry[];
      /** More to fetch after this position, or null. */
      readonly walkNext: string | null;
      /** Rolling digest of consumed outcomes that attempts of this run start from. */
      readonly base: Digest;
      /** The goal of the newest revision, where it was amended. */
      readonly amended?: Json;
    }
  | { readonly kind: 'ended'; readonly result: RunResult }
  | {
      readonly kind: 'refused';
      readonly reason:
        | 'other_goal'
        | 'needs_resume'
        | 'unknown_tool'
        | 'ledger_mismatch'
        | 'invalid';
      readonly message: string;
    };

// ── performAction ──────────────────────────────────────────────────────────────────────────────

export type AttemptInput =
  /** `act()` of other people's workflows, once through history. */
  | { readonly kind: 'inline'; readonly value: Json }
  /** A stored payload: a proposed call, a plan step, a recorded position. */
  | { readonly kind: 'stored'; readonly payload: PayloadRef }
  /** The context of a model turn, built from the ledger. */
  | { readonly kind: 'model_context'; readonly turn: number }
  /** A step of the goal's plan, by index from 0. */
  | { readonly kind: 'plan_step'; readonly index: number };

export interface PerformCall {
  readonly runId: string;
  readonly actionId: string;
  readonly position: string;
  readonly attemptId: string;
  readonly binding: Binding;
  readonly replay: ReplayPolicy;
  readonly onUnknown: OnUnknown;
  readonly input: AttemptInput;
  readonly consumes: Consumes;
  readonly revisions: Revisions;
  readonly epoch: number;
  readonly pin: LedgerPin;
  /** Whether the reply carries the result's value when it is small (`act()`). */
  readonly wantsValue: boolean;
}

export interface PerformReply {
  /** `entered` when this delivery went through the gate, whatever came of it. */
  readonly verdict: Refusal;
  readonly detail: string | null;
  /** The *action's* outcome, not this attempt's; null while nothing about it is certain. */
  readonly outcome: Outcome | null;
  /** What this attempt settled as; null when it did not enter or is not settled. */
  readonly settled:
    | 'executed'
    | 'partial'
    | 'accepted'
    | 'refused'
    | 'not_taken'
    | 'not_sent'
    | null;
  /** Earliest next attempt, ms from now, as the receiver asked; null: the run's own backoff. */
  readonly retryAfterMs: number | null;
  /** The result, when wanted and at most limits.actInputBytesMax; else absent. */
  readonly value?: Json;
  /** For `approval_missing`. */
  readonly asks?: ApprovalAsk;
  /** For `twin_unknown` and `compensates_open`. */
  readonly waits?: Waits;
  readonly authority: AuthorityHead;
  readonly pin: LedgerPin;
}

/** Details of the ApplicationFailure by which performAction fails after the gate. */
export interface AttemptFailureDetails {
  readonly phase: 'binding' | 'barrier' | 'gate' | 'send' | 'execute' | 'result';
  readonly attemptId: string;
  readonly externalId: string | null;
  readonly receiptDigest: Digest | null;
  /** The receiver does not take the key any more: it has another payload, or is too old. */
  readonly keyRefused?: boolean;
}

// ── inquire ────────────────────────────────────────────────────────────────────────────────────

export interface InquireCall {
  readonly runId: string;
  readonly actionId: string;
  /** `look`: ledger only. `ask`: also the receiver, where contract and grants allow. */
  readonly mode: 'look' | 'ask';
  /** Attempts that were scheduled; those without a gate row are closed. */
  readonly attemptIds: readonly string[];
  readonly wantsValue: boolean;
  /** Null: the caller has heard of no ledger yet. On another one the activity fails. */
  readonly pin: LedgerPin | null;
}

export interface InquireReply {
  /** Null while an attempt is open and nothing is final. */
  readonly outcome: Outcome | null;
  readonly openAttempts: readonly string[];
  /** A permit that a resolution wrote and no attempt has used. */
  readonly permitted: boolean;
  readonly disputed: boolean;
  readonly abandoned: boolean;
  readonly recordVersion: number;
  /** Of this inquiry; null for `look` or where the receiver cannot be asked. */
  readonly verdict: InquiryVerdict | null;
  readonly canAsk: boolean;
  /** Half done, and its tool can go on with it; left out: it is not. */
  readonly continuable?: true;
  /** It waits for a person's approval; left out where none is needed, or it is decided. */
  readonly asks?: ApprovalAsk;
  readonly question: Question | null;
  readonly value?: Json;
  readonly authority: AuthorityHead;
  readonly pin: LedgerPin;
}

// ── recordFacts ────────────────────────────────────────────────────────────────────────────────

/** What an attempt was scheduled with; its input only by reference, null where it was none. */
export interface Scheduled extends Pick<PerformCall, 'position' | 'revisions'> {
  readonly tool: string;
  readonly input: (AttemptInput & { readonly kind: 'stored' | 'plan_step' }) | null;
}

/** `pin` as in `InquireCall`. */
export type RecordCall = { readonly runId: string; readonly pin: LedgerPin | null } & (
  | {
      readonly kind: 'doubt';
      readonly actionId: string;
      readonly attemptId: string;
      readonly why: string;
      /** From the failure, when the result could not be stored. */
      readonly externalId: string | null;
      /** Left out where there is none. */
      readonly receiptDigest?: string;
      /** Kept with the closing of what never entered; left out where it is on record. */
      readonly scheduled?: Scheduled;
    }
  | { readonly kind: 'resolve'; readonly command: ResolveCommand }
  /** The commands of that name; `cancel` is Temporal's own workflow cancel, too. */
  | {
      readonly [V in GivenCommand['verb']]: {
        readonly kind: V;
        readonly command: Extract<GivenCommand, { verb: V }>['command'];
        readonly position: string | null;
      };
    }[GivenCommand['verb']]
  | {
      readonly kind: 'rejected';
      readonly commandId: string | null;
      readonly name: string;
      readonly why: string;
    }
);

export type RecordReply = {
  readonly authority: AuthorityHead;
  readonly pin: LedgerPin;
} & (
  | {
      readonly kind: 'doubt';
      /** `closed`: proof of not submitted. `settled`: the result was stored after all. */
      readonly state: 'in_doubt' | 'closed' | 'settled';
      readonly outcome: Outcome | null;
      readonly question: Question | null;
    }
  | {
      readonly kind: 'applied';
      readonly what: 'applied' | 'duplicate' | 'rejected' | 'disputed';
      readonly why: string | null;
    }
);

// ── endRun ─────────────────────────────────────────────────────────────────────────────────────

export interface EndRunCall {
  readonly runId: string;
  readonly end: End;
  readonly epoch: number;
  readonly pin: LedgerPin;
  readonly consumes: Consumes;
  /** Of the goal that was followed; left out: the first. */
  readonly goalRevision?: number | undefined;
  /** The answer: an action's result, or the wrapped workflow's value. */
  readonly answer:
    | { readonly kind: 'none' }
    | { readonly kind: 'stored'; readonly payload: PayloadRef }
    | { readonly kind: 'inline'; readonly value: Json };
}

export type EndRunReply =
  | { readonly kind: 'ended'; readonly result: RunResult }
  | {
      readonly kind: 'refused';
      readonly verdict: Refusal;
      readonly detail: string | null;
      readonly authority: AuthorityHead;
      readonly pin: LedgerPin;
    };

// ── The activities a workflow may call ─────────────────────────────────────────────────────────

export interface HoldfastActivities {
  openRun(call: OpenRunCall): Promise<OpenRunReply>;
  performAction(call: PerformCall): Promise<PerformReply>;
  inquire(call: InquireCall): Promise<InquireReply>;
  recordFacts(call: RecordCall): Promise<RecordReply>;
  endRun(call: EndRunCall): Promise<EndRunReply>;
}
