// One agent task: model turn, calls, outcomes, next turn, until a reply without calls; or a fixed
// plan. Both go through the same `act()`.

import { continueAsNew } from '@temporalio/workflow';
import type { LedgerPin } from '../core/activity-calls.ts';
import type { ProposedCall, StopReason } from '../core/fact-fields.ts';
import {
  type CheckedRunInput,
  checkRunInput,
  goalSchema,
  onExhaustedIn,
  pinnedTools,
  stepPosition,
} from '../core/goal.ts';
import { actionIdOf, branchPosition, callPosition, modelPosition } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Outcome, RunResult } from '../core/outcome.ts';
import { boundedWords } from '../core/words.ts';
import { act } from './act.ts';
import { beginSession, runSession } from './body.ts';
import { continueIfLong } from './continuing.ts';
import type { ActEnd } from './course.ts';
import type { Ending } from './ending.ts';
import { workflowFailure } from './failures.ts';
import type { AgentRunInput } from './messages.ts';
import { type OpenCall, rereadAuthority } from './opening.ts';
import { settleLeftBehind } from './predecessors.ts';
import { type Carried, openedOf, type Session, stopScheduling } from './session.ts';

interface Task {
  readonly session: Session;
  readonly open: OpenCall;
}

/** `pin` and `carried`: only from its own continuation. */
export async function agentRun(
  input: AgentRunInput,
  pin?: LedgerPin,
  carried: readonly Carried[] = [],
): Promise<RunResult> {
  const session = beginSession({
    continueAs: (newest, left) => continueAsNew<typeof agentRun>(input, newest, left),
    pin: pin ?? null,
    carried,
    amendable: true,
    onExhausted: onExhaustedIn(input),
  });
  const check = checkRunInput(session.runId, input);
  if (check.kind === 'refused') throw workflowFailure('HoldfastInvalidInput', check.message);
  const { principal, ticket, budget, grants } = check.input;
  const open = {
    goal: input.goal as OpenCall['goal'],
    principal,
    tools: pinnedTools(check.input),
    ticket,
    ...(budget === undefined ? {} : { budget }),
    ...(grants === undefined ? {} : { grants }),
  };
  const task = { session, open };
  return runSession(session, open, () => followGoals(task, check.input.goal));
}

/** Until a goal has been followed to its end that is still the newest. */
async function followGoals(task: Task, first: Goal): Promise<Ending> {
  const { session } = task;
  for (;;) {
    const goal = await currentGoal(task, first);
    const { revision } = goal;
    // What stopped the run stops it for every goal.
    if (session.stop !== null) return { ...stoppedBy(session.stop), goalRevision: revision };
    if (revision > 1) await settleLeftBehind(session, revision);
    const ending =
      goal.goal.kind === 'plan'
        ? await followPlan(task, goal.goal, revision)
        : await takeTurns(task, goal.goal, revision);
    const isNewest = openedOf(session).authority.revisions.goal === revision;
    if (isNewest || session.stop !== null) return { ...ending, goalRevision: revision };
  }
}

interface Followed {
  readonly revision: number;
  readonly goal: Goal;
}

/** As the ledger has it: an amendment may be heard of before its goal is read. */
async function currentGoal({ session, open }: Task, first: Goal): Promise<Followed> {
  const { authority, amended } = openedOf(session);
  const { goal: revision } = authority.revisions;
  if (revision === 1) return { revision, goal: first };
  if (amended?.revision !== revision) await rereadGoal(session, open);
  const newest = openedOf(session).amended;
  if (session.stop !== null || newest === null) return { revision, goal: first };
  return { revision: newest.revision, goal: goalSchema.parse(newest.goal) };
}

async function rereadGoal(session: Session, open: OpenCall): Promise<void> {
  const found = await rereadAuthority(session, open);
  if (found === 'open') return;
  if (found !== 'lost') session.result = found;
  stopScheduling(session, 'claim_stale');
}

type Goal = CheckedRunInput['goal'];
type PlanGoal = Goal & { kind: 'plan' };
type ModelGoal = Goal & { kind: 'model' };

const nothing = { kind: 'none' } as const;
const completed = { kind: 'completed' } as const;

async function followPlan(
  { session, open }: Task,
  { steps }: PlanGoal,
  revision: number,
): Promise<Ending> {
  for (const [index, step] of steps.entries()) {
    await continueIfLong(session);
    const policy = openedOf(session).catalog.get(step.tool);
    if (policy === undefined)
      throw workflowFailure(
        'HoldfastUnknownTool',
        `run ${session.runId}: step ${index} uses the tool "${step.tool}", which is not ` +
          'registered here; the step was not dispatched; register the tool or correct the plan',
      );
    const onUnknown = step.onUnknown ?? 'hold';
    const end = await act(session, open, {
      position: branchPosition(revision, stepPosition(step, index)),
      policy,
      onUnknown,
      input: { kind: 'plan_step', index },
      goal: revision,
      wantsValue: false,
    });
    if (onUnknown === 'continue' && end.kind === 'outcome') continue;
    const stop = stopAfter(end);
    if (stop !== null) return stop;
  }
  return { end: completed, answer: nothing };
}

/** Later steps build on this one: it has to have had its effect. */
function stopAfter(end: ActEnd): Ending | null {
  if (end.kind === 'stopped') return stoppedBy(end.reason);
  switch (end.outcome.kind) {
    case 'executed':
    case 'executed_result_missing':
      return null;
    case 'unknown':
    case 'accepted':
      return { end: { kind: 'ended_with_unknown' }, answer: nothing };
    case 'partial':
    case 'not_executed':
      return stoppedBy('blocked');
  }
}

function stoppedBy(reason: StopReason): Ending {
  return { end: { kind: 'stopped', reason }, answer: nothing };
}

async function takeTurns(task: Task, goal: ModelGoal, revision: number): Promise<Ending> {
  const { session, open } = task;
  const { model } = openedOf(session);
  if (model === null)
    throw workflowFailure(
      'HoldfastInvalidInput',
      `run ${session.runId}: its goal is for a model, and this installation has none; ` +
        'configure a model provider or give a plan',
    );
  const turnsMax = goal.turnsMax ?? limits.turnsMax;
  for (let turn = 1; turn <= turnsMax; turn++) {
    await continueIfLong(session);
    const end = await act(session, open, {
      position: branchPosition(revision, modelPosition(turn)),
      policy: model,
      onUnknown: 'hold',
      input: { kind: 'model_context', turn },
      goal: revision,
      wantsValue: false,
    });
    if (end.kind === 'stopped' || end.outcome.kind !== 'executed')
      return stopAfter(end) ?? stoppedBy('blocked');
    const { calls, result } = end.outcome;
    if (calls.length === 0) return { end: completed, answer: { kind: 'stored', payload: result } };
    const batch = await actAll(task, { turn, revision }, calls);
    const stop = batch.map(stopAfterCall).find((each) => each !== null);
    if (stop !== undefined) return stop;
  }
  return stoppedBy('budget');
}

/** The model is told of refusals and parts, and decides; not of what nobody knows. */
function stopAfterCall(end: ActEnd): Ending | null {
  if (end.kind === 'stopped') return stoppedBy(end.reason);
  const open = end.outcome.kind === 'unknown' || end.outcome.kind === 'accepted';
  return open ? { end: { kind: 'ended_with_unknown' }, answer: nothing } : null;
}

interface Turn {
  readonly turn: number;
  readonly revision: number;
}

/**
 * Siblings are decided on together and never consume each other. A batch is waited for as a whole.
 */
async function actAll(
  { session, open }: Task,
  { turn, revision }: Turn,
  calls: readonly ProposedCall[],
): Promise<ActEnd[]> {
  const { catalog, consumption } = openedOf(session);
  const decided = consumption.decide();
  const ends: ActEnd[] = [];
  const one = async (index: number): Promise<void> => {
    const call = calls[index];
    if (call === undefined) return;
    const position = branchPosition(revision, callPosition(turn, index + 1));
    const policy = catalog.get(call.tool);
    ends[index] =
      policy === undefined || index >= limits.callsPerTurnMax
        ? notScheduled(actionIdOf(session.runId, position), call, policy === undefined)
        : await act(session, open, {
            position,
            policy,
            onUnknown: 'hold',
            input: { kind: 'stored', payload: call.input },
            goal: revision,
            wantsValue: false,
            decided,
          });
  };
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < calls.length) await one(next++);
  };
  const lanes = Math.min(limits.parallelCallsMax, calls.length);
  await Promise.all(Array.from({ length: lanes }, lane));
  return ends;
}

/**
 * The model made it up, or proposed too many: it hears so in the next turn; nothing was scheduled.
 */
function notScheduled(actionId: string, call: ProposedCall, isUnknown: boolean): ActEnd {
  const outcome: Outcome = {
    kind: 'not_executed',
    actionId,
    digest: null,
    reason: isUnknown ? 'unknown_tool' : 'too_many_calls',
    message: isUnknown
      ? `there is no tool "${boundedWords(call.tool, limits.labelCharsMax)}"`
      : `at most ${limits.callsPerTurnMax} calls in one turn`,
  };
  return { kind: 'outcome', outcome };
}
