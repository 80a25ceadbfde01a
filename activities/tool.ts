// A tool as its author writes it. Policy goes to workflows as data (`core/tool-policy.ts`); the
// code stays here. Types of inputs and results reach workflows by `import type` only.

import type * as z from 'zod';
import type { ContractInput } from '../core/contract.ts';
import type { Cost, Money } from '../core/cost.ts';
import type { Digest, Json } from '../core/digest.ts';
import type { Evaluation, Marks, Part, Principal, Versions } from '../core/fact-fields.ts';
import type { SendToken } from '../core/ids.ts';
import type { ReplayPolicy } from '../core/tool-policy.ts';

/** The action whose effect a compensation undoes, as the ledger has it. */
export interface Compensated {
  readonly actionId: string;
  readonly receiverKey: string;
  readonly externalId: string | null;
  /** The version that its object had after the effect. */
  readonly objectVersion: string | null;
}

/** What `continue` goes on with: as the receiver told it last. */
export interface HalfDone {
  readonly parts: readonly Part[];
  readonly externalId: string | null;
}

/** An attempt whose end nobody knows. */
export interface OpenAttempt {
  readonly attemptId: string;
  readonly number: number;
  readonly sendToken: SendToken;
  /** Ledger time, ms since the epoch. */
  readonly enteredAt: number;
  /** What it wrote down by `prepare`; null: it has not, and by then it never can. */
  readonly prepared: Marks | null;
}

/** What `fence` is to shut out: everything of the run with a lower epoch than the token's. */
export interface FenceAsk {
  readonly runId: string;
  readonly principal: Principal;
  readonly sendToken: SendToken;
  /** Of the action that is asked about next, those with a lower epoch. */
  readonly open: readonly OpenAttempt[];
}

/** What `execute` is given besides the stored input. */
export interface Attempt {
  readonly runId: string;
  readonly actionId: string;
  readonly attemptId: string;
  /** 1 + the action's highest entered number. */
  readonly number: number;
  /** Same for every attempt of the action; receivers de-duplicate by it. */
  readonly receiverKey: string;
  readonly sendToken: SendToken;
  /** Ledger time of the action's first entry, ms since the epoch. */
  readonly firstSentAt: number;
  readonly payloadDigest: Digest;
  /** The run's user and workspace, whoever operates it. */
  readonly principal: Principal;
  /** Of a compensation: what it undoes, for a condition on the object's version. */
  readonly compensates?: Compensated;
  /** Aborted by a ledger fact `cancel`, never by Temporal's cancellation. */
  readonly signal: AbortSignal;
  /**
   * Writes down in the ledger, durably and before `beforeSend`, by what an inquiry will recognise
   * this attempt's effect: at most 16 names with values of up to 4,096 characters, no secrets.
   * Throws NotSentError where that is not to be had, or the attempt may not go on: it is asked
   * about, or another claim has the run. Let it through. A tool that prepares every attempt can be
   * asked without waiting: what has no marks never had its effect, and never will.
   */
  prepare(marks: Marks): Promise<void>;
  /**
   * Call right before the first byte leaves. Throws NotSentError when the send window has passed;
   * let it through: nothing was sent.
   */
  beforeSend(): void;
}

/**
 * How the receiver's answer settles the attempt. Everything else: throw, and it stays ambiguous.
 */
export type Settlement<R> =
  | {
      readonly kind: 'executed';
      readonly result: R;
      readonly externalId?: string;
      readonly objectVersion?: string;
      /**
       * Of a check, a test run, a review: what it found of objects, by the external ids that the
       * tools gave which wrote them, at the versions it looked at. Any later change leaves it
       * behind; until this tool judges the new version the object counts as not evaluated.
       */
      readonly evaluates?: readonly Evaluation[];
      readonly cost?: Cost;
    }
  | {
      readonly kind: 'partial';
      readonly parts: readonly Part[];
      readonly externalId?: string;
      readonly cost?: Cost;
    }
  /** The receiver took it and owns it now; it is polled by `inquire`, never sent again. */
  | { readonly kind: 'accepted'; readonly externalId: string; readonly cost?: Cost }
  /** The receiver's decision on the operation; final. */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly cost?: Cost;
    }
  /** It says that it did not consider it: 401, 429, a documented 503. */
  | {
      readonly kind: 'not_taken';
      readonly code: string;
      readonly message: string;
      readonly retryAfterMs?: number;
    };

/** What `inquire` asks about: an action with an open attempt. */
export interface Inquiry {
  readonly actionId: string;
  readonly receiverKey: string;
  /** The newest token that may be on its way: close up to here. */
  readonly sendToken: SendToken;
  readonly externalId: string | null;
  readonly payloadDigest: Digest;
  readonly principal: Principal;
  /** The stored input, as it was sent. */
  readonly input: Json;
  /** Who asks: the claim that the run has now. Left out: nobody that a fence could tell apart. */
  readonly asker?: { readonly runId: string; readonly epoch: number };
  /** Ledger time of the last open entry, ms since the epoch, and now. */
  readonly lastSentAt: number;
  /** The attempts that the question is about, in the order of their numbers. */
  readonly open: readonly OpenAttempt[];
  readonly now: number;
}

export type InquiryAnswer<R> =
  | {
      readonly verdict: 'executed';
      /** Left out: the effect is proved, its result is missing. */
      readonly result?: R;
      readonly externalId?: string;
      readonly objectVersion?: string;
      /** What else there is to know, e.g. that the object has been changed since. */
      readonly detail?: string;
    }
  /**
   * `closed_token`: up to `sendToken`; `closed_key`: the key is burnt; `settled`: the receiver has
   * a record which says that it did not do it, and never will. That it has none is `no_record`.
   */
  | {
      readonly verdict: 'not_executed';
      readonly proof: 'closed_token' | 'closed_key' | 'settled';
      readonly detail?: string;
    }
  | { readonly verdict: 'partial'; readonly parts: readonly Part[]; readonly externalId?: string }
  /** It is at work; `externalId`, where it names the operation only now: kept, and asked by. */
  | {
      readonly verdict: 'processing';
      readonly detail?: string;
      readonly externalId?: string;
    }
  | {
      readonly verdict: 'no_record' | 'conflict' | 'unavailable' | 'forbidden';
      readonly detail?: string;
    };

/**
 * Whether a person has to approve an action before its first attempt may enter. A rule is pure: it
 * decides by the input alone, and one that throws asks for approval. A decision is bound to tool,
 * stored input and revision, and holds for ever unless `validForMs` is declared.
 */
export type ApprovalPolicy<I> =
  | 'never'
  | 'always'
  | { readonly always: true; readonly validForMs?: number }
  | { when(input: I): boolean; readonly validForMs?: number };

/**
 * The most that one attempt may cost: held in the run's budget until the settlement names its cost.
 */
export interface ReserveDeclaration {
  readonly requests?: number;
  readonly tokens?: number;
  /** Left out: no price is known, and a budget of money lets it pass by a cap on tokens alone. */
  readonly money?: Money;
}

/** Whose attempt it is that `versions` looks something up for. */
export interface VersionsFor {
  readonly runId: string;
  readonly actionId: string;
  readonly principal: Principal;
}

export interface ToolDefinition<I, R> {
  /** lower_snake_case; what a model sees. */
  readonly name: string;
  readonly version: string;
  /** One sentence for the model and the operator. */
  readonly description: string;
  readonly input: z.ZodType<I>;
  /** Default `never`: an unknown attempt is never repeated. */
  readonly replay?: Exclude<ReplayPolicy, 'rebuy'>;
  /** What the receiver promises; every part left out is `none`. */
  readonly receiver?: ContractInput;
  /** Changes the binding when the code changes; default: the text of `execute`. */
  readonly implementation?: string;
  readonly taskQueue?: string;
  readonly startToCloseMs?: number;
  readonly heartbeatTimeoutMs?: number;
  readonly scheduleToStartMs?: number;
  readonly attemptsMax?: number;
  readonly attemptsDeadlineMs?: number;
  /** Default `never`. Part of the binding: a run goes on under the policy it was opened with. */
  readonly approval?: ApprovalPolicy<I>;
  /** Default: nothing that a budget counts. */
  readonly reserve?: ReserveDeclaration;
  /**
   * What an attempt depends on now, e.g. the object's version, or `subject/scope` of the
   * credential. Asked before every attempt; the gate closes one that finds something else than the
   * action was first decided on. Throw NotAllowedError where it may not act at all. Any other
   * error, and `limits.versionsMs` without an answer: nothing is sent, it is asked again later.
   */
  versions?(input: I, attempt: VersionsFor): Promise<Versions>;
  execute(input: I, attempt: Attempt): Promise<Settlement<R>>;
  /**
   * Goes on with a half-done operation, by the receiver's own protocol (`receiver.continuing`),
   * under the same key. Left out: the receiver goes on by itself, and is asked.
   */
  continue?(input: I, attempt: Attempt, halfDone: HalfDone): Promise<Settlement<R>>;
  /** Read-only, except that it may close the door for old requests (closing inquiry). */
  inquire?(inquiry: Inquiry): Promise<InquiryAnswer<R>>;
  /**
   * After a takeover, before the receiver is asked what the old executor came to. Once it resolves,
   * every request of a lower epoch has committed and is visible, or never can. Throw otherwise.
   */
  fence?(ask: FenceAsk): Promise<void>;
  /** It undoes what others did: a new action, linked to the one whose id its input names. */
  readonly compensates?: CompensationDeclaration<I>;
}

export interface CompensationDeclaration<I> {
  /** Names of the tools whose effects it undoes; they list it as an option. */
  readonly tools: readonly string[];
  /** The action id in the input, e.g. `({ charge }) => charge`. Pure. */
  action(input: I): string;
}

export type ToolInput<T> = T extends ToolDefinition<infer I, infer _R> ? I : never;
export type ToolResult<T> = T extends ToolDefinition<infer _I, infer R> ? R : never;

/** Thrown by `beforeSend`: nothing has left. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
}

/** Thrown by `versions`: the attempt is closed as `not_granted`, with these words. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError';
}

/**
 * Thrown by `execute`: the receiver does not take the key (any more), because it has another
 * payload under it, or forgets keys as old as this one. Nothing is sent under it again, and whether
 * an earlier request had its effect stays open.
 */
export class KeyRefusedError extends Error {
  override readonly name = 'KeyRefusedError';
}

/** Keeps input and result types; problems of the declaration are found when the worker starts. */
export function defineTool<I, R extends Json>(
  definition: ToolDefinition<I, R>,
): ToolDefinition<I, R> {
  return definition;
}
