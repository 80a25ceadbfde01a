// Wire names: workflow types, signals, queries, updates. Once released a name never changes.

import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BudgetInput } from '../core/budget-limits.ts';
import type { Json } from '../core/digest.ts';
import type { Principal } from '../core/fact-fields.ts';
import type { Grant } from '../core/grants.ts';
import type { RunResult } from '../core/outcome.ts';
import type { OnUnknown } from '../core/tool-policy.ts';

export const AGENT_RUN = 'agentRun';
export const UNKNOWN_ACTION = 'unknownAction';
/** Memo with the ticket of `resume`, for workflows whose argument is not ours. */
export const TICKET_MEMO = 'ticket';

/** One step of a fixed plan. */
export interface PlanStep {
  /** Position of the action; default `t<index + 1>.c1`. */
  readonly name?: string;
  readonly tool: string;
  readonly input: Json;
  readonly onUnknown?: OnUnknown;
}

export type Goal =
  /** The model is asked until it answers without proposing calls. */
  | { readonly kind: 'model'; readonly instructions: string; readonly turnsMax?: number }
  /** The steps one after the other, each through the same `act()`. */
  | { readonly kind: 'plan'; readonly steps: readonly PlanStep[] };

/** The single argument of `agentRun`; the run id is the workflow id. */
export interface AgentRunInput {
  readonly goal: Goal;
  readonly principal: Principal;
  /** Null: every tool of the installation. */
  readonly tools: readonly string[] | null;
  /** From `resume`; null for a first start. */
  readonly ticket: string | null;
  /** Left out: nothing is limited. */
  readonly budget?: BudgetInput;
  /** What the run may do; left out: everything its tools are for. */
  readonly grants?: readonly Grant[];
}

export interface RunStateAnswer {
  readonly runId: string;
  readonly phase: 'opening' | 'running' | 'waiting' | 'ending' | 'ended';
  readonly authRevision: number;
  readonly revoked: boolean;
  readonly scheduled: readonly string[];
  readonly unknowns: readonly { readonly actionId: string; readonly child: string }[];
  readonly waitingFor: string | null;
  /** Actions that wait for `approve` or `deny`, each with what has to be named. */
  readonly approvals: readonly {
    readonly actionId: string;
    readonly tool: string;
    readonly bound: string;
  }[];
  /** Actions that look like another one in doubt; a worker of an earlier version does not say. */
  readonly twins?: readonly {
    readonly actionId: string;
    readonly tool: string;
    readonly twin: string;
    readonly recordVersion: number;
  }[];
  /** Why the budget lets nothing more in; null: it does. `topUp` adds to it. */
  readonly exhausted: string | null;
  readonly lastRejection: string | null;
  readonly result: RunResult | null;
}

/** What became of a command; `disputed` only of an answer. */
export type CommandAnswer = {
  readonly what: 'applied' | 'duplicate' | 'rejected' | 'disputed';
  readonly why: string | null;
};

// Arguments are `unknown` on purpose: whatever arrives is parsed, and rejected readably.
export const revokeSignal = defineSignal<[unknown]>('revoke');
export const revokeUpdate = defineUpdate<CommandAnswer, [unknown]>('revoke');
export const amendSignal = defineSignal<[unknown]>('amend');
export const amendUpdate = defineUpdate<CommandAnswer, [unknown]>('amend');
export const approveSignal = defineSignal<[unknown]>('approve');
export const approveUpdate = defineUpdate<CommandAnswer, [unknown]>('approve');
export const denySignal = defineSignal<[unknown]>('deny');
export const denyUpdate = defineUpdate<CommandAnswer, [unknown]>('deny');
export const topUpSignal = defineSignal<[unknown]>('topUp');
export const topUpUpdate = defineUpdate<CommandAnswer, [unknown]>('topUp');
export const cancelSignal = defineSignal<[unknown]>('cancel');
export const cancelUpdate = defineUpdate<CommandAnswer, [unknown]>('cancel');
export const lateFactSignal = defineSignal<[unknown]>('lateFact');
export const resolveSignal = defineSignal<[unknown]>('resolve');
export const resolveUpdate = defineUpdate<CommandAnswer, [unknown]>('resolve');
export const stateQuery = defineQuery<RunStateAnswer>('state');
