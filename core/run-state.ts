// What the facts of one run mean together: types. `fold.ts` builds them; nothing else sets state.

import type { Budget } from './budget-limits.ts';
import type { Digest } from './digest.ts';
import type { End, Evaluation, Marks, PayloadRef, Revisions, Source } from './fact-fields.ts';
import type { BodyOf, Head } from './facts.ts';
import type { Grant } from './grants.ts';
import type { FinalContent } from './outcome.ts';

export interface AttemptState {
  readonly attemptId: string;
  readonly entry: BodyOf<'attempt_entered'>;
  readonly enteredAt: number;
  /** By what its effect will be recognised; null: it has said nothing yet. */
  readonly prepared: Marks | null;
  /** Number of the fact that says so; 0: none does. */
  readonly preparedSeq: number;
  readonly settled: BodyOf<'attempt_settled'> | null;
  readonly settledAt: number | null;
  /** Where that is known from. */
  readonly settledBy: Source | null;
  /** Settled after a fact had put the action in doubt, or after the run ended. */
  readonly late: boolean;
  /** A fact `action_in_doubt` names it. */
  readonly doubted: boolean;
  /** What that fact says, e.g. what the receiver had named before the result was lost. */
  readonly doubtedWhy: string | null;
  /**
   * Said to have had no effect: `proved` by the receiver or with full coverage, or only `stated`.
   */
  readonly exclusion: 'none' | 'stated' | 'proved';
}

export interface FinalState extends FinalContent {
  readonly attemptId: string | null;
  readonly via: 'settlement' | 'resolution';
  readonly seq: number;
  readonly digest: Digest;
  readonly resultRef: PayloadRef | null;
  readonly late: boolean;
}

export interface Permit {
  readonly id: string;
  readonly acceptsPossibleDuplicate: boolean;
}

/** One decision of a person on what an action was asked to do. */
export interface Approval {
  readonly commandId: string;
  readonly decision: 'approve' | 'deny';
  readonly actor: string;
  readonly reason: string;
  readonly bound: Digest;
  readonly revisions: Revisions;
  /** Ledger time; null: for ever. */
  readonly validUntil: number | null;
}

export interface ActionState {
  readonly actionId: string;
  /** In the order of their numbers. */
  readonly attempts: readonly AttemptState[];
  /** Refusals that are in the chain, newest last. */
  readonly refusals: readonly BodyOf<'attempt_refused'>[];
  readonly observations: readonly BodyOf<'observation'>[];
  readonly resolutions: readonly BodyOf<'resolution'>[];
  readonly final: FinalState | null;
  readonly disputed: boolean;
  readonly abandoned: boolean;
  /** Permits written and not yet consumed. */
  readonly permits: readonly Permit[];
  /** In the order in which they came. */
  readonly approvals: readonly Approval[];
  /** Fact number of the last fact that can change an answer; see `commands.ts`. */
  readonly recordVersion: number;
  readonly firstSeq: number;
}

/** What was told of an object; it is named as the receiver of its domain names it. */
export interface ObjectState {
  readonly externalId: string;
  readonly domain: string | null;
  readonly versions: readonly ObjectVersion[];
}

interface ObjectVersion {
  /** Null: it was changed, and nobody said to what. */
  readonly version: string | null;
  /** Number of the last fact that names it, and of the last effect that made it; 0: none did. */
  readonly namedAt: number;
  readonly changedAt: number;
}

interface Judge {
  /** Its tool. */
  readonly by: string | undefined;
  readonly seq: number;
}

export interface Objects {
  readonly known: readonly ObjectState[];
  /** The newest word of each tool on each object. */
  readonly judged: readonly (Evaluation & Judge)[];
}

export interface RunState {
  readonly runId: string;
  readonly head: Head;
  /** The newest `run_opened`; null before. */
  readonly opened: BodyOf<'run_opened'> | null;
  readonly revisions: { readonly goal: number; readonly auth: number };
  /** In force; null before the run has opened and where nothing was said. */
  readonly grants: readonly Grant[] | null;
  /** Goals of the revisions after the first, in their order. */
  readonly amendedGoals: readonly PayloadRef[];
  /** With everything that was added to it; null: nothing is limited. */
  readonly budget: Budget | null;
  readonly topUps: number;
  /** Actions that the budget did not let in, and why; a top-up or a new revision lets them ask. */
  readonly exhausted: ReadonlyMap<string, string>;
  /** Ledger time of the first opening. */
  readonly openedAt: number | null;
  readonly revoked: boolean;
  readonly canceled: boolean;
  /** Commands already applied or resolved, by command id. */
  readonly commandIds: ReadonlySet<string>;
  readonly rejectedCount: number;
  /** Takeover tickets written and not yet consumed, with the epoch that each takes over from. */
  readonly tickets: ReadonlyMap<string, number>;
  /** In the order of their first fact. */
  readonly actions: ReadonlyMap<string, ActionState>;
  readonly objects: Objects;
  /** Rolling digests an attempt may build on: the genesis and those of entered attempts. */
  readonly rolled: ReadonlySet<Digest>;
  readonly ended: (BodyOf<'run_ended'> & { readonly seq: number; readonly end: End }) | null;
  readonly lastFactAt: number | null;
  readonly erased: ReadonlySet<Digest>;
}
