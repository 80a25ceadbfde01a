// What is sent to start a run, and what a second start is compared with. Pure.

import type { WorkflowExecutionDescription } from '@temporalio/client';
import { type BudgetInput, budgetSchema } from '../core/budget-limits.ts';
import { type Digest, digestOf, type Json } from '../core/digest.ts';
import type { Principal } from '../core/fact-fields.ts';
import { checkRunInput } from '../core/goal.ts';
import type { Grant } from '../core/grants.ts';
import { runIdProblem } from '../core/ids.ts';
import { summaryText } from '../core/markdown.ts';
import type { RunState } from '../core/run-state.ts';
import { AGENT_RUN, type AgentRunInput, type Goal } from '../workflows/messages.ts';
import { ClientError } from './errors.ts';
import { checked, sizedJson } from './goal.ts';

/** An `agentRun`: by a goal, or by instructions for the model. */
export interface GoalStart {
  readonly goal: Goal | string;
  readonly principal: Principal;
  /** Names of tools; left out: those of the plan, or for a model every tool. */
  readonly tools?: readonly string[];
  /** Left out: nothing is limited. */
  readonly budget?: BudgetInput;
  /** Left out: everything its tools are for. */
  readonly grants?: readonly Grant[];
}

/** A workflow of your own, made with `holdfast()`. */
export interface WorkflowStart {
  readonly workflow: string;
  /** Its single argument. */
  readonly input?: Json;
  /** Left out: the installation's runs queue. */
  readonly taskQueue?: string;
}

export type StartOptions = GoalStart | WorkflowStart;

/** Memo of a run. Wire names: once released they never change. */
export interface RunMemo {
  readonly goalDigest: Digest;
  /** Over goal, principal, tools, budget and grants, or over workflow type and input. */
  readonly startDigest: Digest;
  /** Drawn by each call: tells the call that started the run from those that attached to it. */
  readonly startId: string;
  /** Takeover ticket of `resume`, for workflows whose arguments are not ours. */
  readonly ticket?: string;
  /** Command id of the `resume` that started this execution. */
  readonly resumedBy?: string;
}

export interface StartRequest {
  readonly runId: string;
  readonly workflowType: string;
  readonly args: readonly Json[];
  readonly taskQueue: string;
  readonly memo: Omit<RunMemo, 'startId'>;
  /** One line for the Web UI. */
  readonly summary: string;
  /** What the ledger records at the opening, as far as it is known here; null: nothing. */
  readonly pinned: { readonly goal: Digest; readonly principal: Principal | null } | null;
}

/** Throws ClientError: `bad_run_id`, `bad_input`, `input_too_large`. */
export function startRequest(
  runId: string,
  options: StartOptions,
  runsQueue: string,
): StartRequest {
  refuseBadRunId(runId);
  return 'workflow' in options
    ? workflowRequest(runId, options, runsQueue)
    : goalRequest(runId, options, runsQueue);
}

export function refuseBadRunId(runId: string): void {
  const problem = runIdProblem(runId);
  if (problem !== null)
    throw new ClientError('bad_run_id', `"${runId}" cannot be a run id: ${problem}`);
}

function goalRequest(runId: string, options: GoalStart, taskQueue: string): StartRequest {
  const { principal } = options;
  const goal: Goal =
    typeof options.goal === 'string' ? { kind: 'model', instructions: options.goal } : options.goal;
  const tools = options.tools ?? null;
  const limited = limitsOf(runId, options);
  const input: AgentRunInput = { goal, principal, tools, ticket: null, ...limited };
  const args = [sizedJson(input, `the goal of run ${runId}`)];
  const check = checkRunInput(runId, input);
  if (check.kind === 'refused') throw new ClientError('bad_input', check.message);
  const goalDigest = digestOf(goal);
  return {
    runId,
    workflowType: AGENT_RUN,
    args,
    taskQueue,
    memo: { goalDigest, startDigest: digestOf({ goal, principal, tools, ...limited }) },
    summary: summaryOf(goal),
    pinned: { goal: goalDigest, principal },
  };
}

/** Said in other words, the same limits are the same start. */
function limitsOf(runId: string, { budget, grants }: GoalStart) {
  const blame = { code: 'bad_input', what: `the budget of run ${runId}` } as const;
  return {
    ...(budget === undefined ? {} : { budget: checked(budgetSchema, budget, blame) }),
    ...(grants === undefined ? {} : { grants: [...new Set(grants)].sort() }),
  };
}

function summaryOf(goal: Goal): string {
  if (goal.kind === 'model') return summaryText(goal.instructions);
  const { length } = goal.steps;
  return length === 1 ? 'plan of 1 step' : `plan of ${length} steps`;
}

function workflowRequest(runId: string, options: WorkflowStart, runsQueue: string): StartRequest {
  const args = options.input === undefined ? [] : [options.input];
  // As `holdfast()` records it.
  const goal = { workflow: options.workflow, input: options.input ?? null };
  sizedJson(goal, `the input of run ${runId}`);
  const digest = digestOf(goal);
  return {
    runId,
    workflowType: options.workflow,
    args,
    taskQueue: options.taskQueue ?? runsQueue,
    memo: { goalDigest: digest, startDigest: digest },
    summary: options.workflow,
    pinned: { goal: digest, principal: null },
  };
}

/** Throws ClientError when the execution with this id was started for something else. */
export function refuseOtherStart(
  request: StartRequest,
  { type, memo }: Pick<WorkflowExecutionDescription, 'type' | 'memo'>,
): void {
  const { runId } = request;
  if (type !== request.workflowType || memo?.['goalDigest'] === undefined)
    throw new ClientError(
      'foreign_workflow',
      `the id ${runId} belongs to a workflow "${type}" that was not started as this run; ` +
        'choose another run id',
    );
  if (memo['goalDigest'] !== request.memo.goalDigest) throw otherGoal(runId);
  if (memo['startDigest'] !== request.memo.startDigest)
    throw new ClientError(
      'other_start',
      `run ${runId} has this goal, but another principal, other tools, grants or budget; ` +
        'start it with the same ones, or choose another run id',
    );
}

/** As above, against the ledger's record of the run. */
export function refuseOtherOpening({ runId, pinned }: StartRequest, run: RunState): void {
  if (pinned === null || run.opened === null) return;
  if (run.opened.goal.digest !== pinned.goal) throw otherGoal(runId);
  if (pinned.principal === null) return;
  if (digestOf(run.opened.principal) !== digestOf(pinned.principal))
    throw new ClientError(
      'other_start',
      `run ${runId} has this goal, but another principal; ` +
        'start it with the same one, or choose another run id',
    );
}

function otherGoal(runId: string): ClientError {
  return new ClientError(
    'other_goal',
    `run ${runId} already exists with another goal; ` +
      'choose another run id for a new task, or repeat the first goal to attach to it',
  );
}
