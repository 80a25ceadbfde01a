// What is known about a run, for people. The ledger's facts where they can be read; beside them
// what the run itself says, if a worker answers in time. A view, never a ground for a decision.

import { openAttempts, type StatusWord, wordOf } from '../core/action-status.ts';
import { type Axes, axesOf } from '../core/axes.ts';
import { type CostTotal, costText } from '../core/cost.ts';
import type { Revisions } from '../core/fact-fields.ts';
import { hasEffectBy } from '../core/finality.ts';
import type { RunResult } from '../core/outcome.ts';
import type { Question } from '../core/question.ts';
import { totalCost } from '../core/run-result.ts';
import type { ActionState, AttemptState, RunState } from '../core/run-state.ts';
import type { RunStateAnswer } from '../workflows/messages.ts';
import { type AuthorityView, authorityView } from './authority-view.ts';
import { type DistinctQuestion, distinctionsOf } from './distinctions.ts';
import { liveState } from './live-state.ts';
import { questionIn } from './questions.ts';
import type { Room } from './room.ts';
import { endIn, notFound, statusText } from './run-end.ts';
import { type Execution, executionOf } from './temporal.ts';

export interface AttemptView {
  readonly attemptId: string;
  readonly number: number;
  readonly enteredAt: string;
  /**
   * How it settled. Else `open`; `excluded`: known to have had no effect; `resolved`: the action's
   * outcome is final by a person's answer.
   */
  readonly state: string;
  /** The receiver's code and words, where it refused the attempt or did not take it. */
  readonly refusal: string | null;
  readonly externalId: string | null;
  /** The revisions it was decided under; a late result keeps them. */
  readonly goalRevision: number;
  readonly authRevision: number;
  readonly late: boolean;
}

export interface ActionView {
  readonly actionId: string;
  readonly tool: string | null;
  /** One of the six words. */
  readonly word: StatusWord;
  readonly axes: Axes;
  readonly externalId: string | null;
  readonly attempts: readonly AttemptView[];
  /** Tools that could undo what it did, each as a new action; none where it had no effect. */
  readonly compensation: readonly string[];
  /** The action whose effect it undoes, or null. */
  readonly compensates: string | null;
  /** Why the newest attempt never entered, or null. */
  readonly refusal: string | null;
  /** The revisions that its newest attempt or refusal was decided under. */
  readonly revisions: Revisions;
  readonly abandoned: boolean;
  readonly recordVersion: number;
  readonly cost: CostTotal;
}

export interface RunView {
  readonly runId: string;
  /** `needs_resume`: the workflow is closed and nothing recorded an end. */
  readonly phase: 'open' | 'ended' | 'needs_resume' | 'closed';
  /** Of the workflow that carries the run; never of an action. */
  readonly workflow: { readonly type: string; readonly status: string } | null;
  /** Null: no worker answered in time, or the workflow is not open. */
  readonly live: RunStateAnswer | null;
  /** Null: this client reads no ledger, or the ledger has no such run. */
  readonly recorded:
    | (AuthorityView & {
        readonly facts: number;
        readonly epoch: number;
        readonly goalRevision: number;
        readonly authRevision: number;
        readonly revoked: boolean;
        readonly canceled: boolean;
        readonly commandsRejected: number;
        /** What waits because it looks like another action in doubt. */
        readonly twins: readonly DistinctQuestion[];
        /** What two outcomes contradict each other of: both, and an answer for each. */
        readonly disputed: readonly Question[];
        readonly actions: readonly ActionView[];
        readonly cost: CostTotal;
        readonly costText: string;
      })
    | null;
  readonly end: RunResult | null;
}

/** Throws ClientError `run_not_found` when neither Temporal nor the ledger knows the run. */
export async function runView(room: Room, runId: string): Promise<RunView> {
  const run = (await room.ledger?.read(runId)) ?? null;
  const execution = await executionOf(room.temporal, runId);
  const known = run !== null && run.head.count > 0;
  if (execution.kind === 'none' && !known) throw notFound(room, runId);
  const live = execution.kind === 'open' ? await liveState(room, runId) : null;
  const end = run === null ? null : endIn(run);
  return {
    runId,
    phase: phaseOf(execution, end, room.ledger !== null),
    workflow:
      execution.kind === 'none'
        ? null
        : { type: execution.description.type, status: statusText(execution.description) },
    live,
    recorded: known ? await recordedIn(room, run) : null,
    end: end ?? live?.result ?? null,
  };
}

function phaseOf(
  execution: Execution,
  end: RunResult | null,
  hasLedger: boolean,
): RunView['phase'] {
  if (end !== null) return 'ended';
  if (execution.kind === 'open') return 'open';
  if (hasLedger) return 'needs_resume';
  const completed =
    execution.kind === 'closed' && execution.description.status.name === 'COMPLETED';
  // Without the ledger a completed workflow may well have recorded its end.
  return completed ? 'closed' : 'needs_resume';
}

async function recordedIn({ ledger }: Room, run: RunState): Promise<RunView['recorded']> {
  const now = Date.now();
  if (ledger === null) return null;
  const disputes = [...run.actions.values()].filter(({ disputed }) => disputed);
  const asked = await Promise.all(disputes.map((each) => questionIn(ledger, run, each)));
  return recordedView(run, now, {
    twins: await distinctionsOf(ledger, run, now),
    disputed: asked.filter((question) => question !== null),
  });
}

type Recorded = NonNullable<RunView['recorded']>;
/** What it takes the ledger itself to tell. */
type Asked = Pick<Recorded, 'twins' | 'disputed'>;

export function recordedView(
  run: RunState,
  now: number,
  asked: Asked = { twins: [], disputed: [] },
): Recorded {
  const actions = [...run.actions.values()];
  const cost = totalCost(run);
  return {
    facts: run.head.count,
    epoch: run.opened?.epoch ?? 0,
    goalRevision: run.revisions.goal,
    authRevision: run.revisions.auth,
    revoked: run.revoked,
    canceled: run.canceled,
    commandsRejected: run.rejectedCount,
    ...authorityView(run, now),
    ...asked,
    actions: actions.map((action) => actionView(run, action)),
    cost,
    costText: costText(cost),
  };
}

function actionView(run: RunState, action: ActionState): ActionView {
  const last = action.attempts.at(-1);
  const refusal = last === undefined ? (action.refusals.at(-1) ?? null) : null;
  const ids = [...action.attempts.map(({ settled }) => settled), ...action.observations];
  const named = ids.map((each) => each?.externalId ?? null);
  return {
    actionId: action.actionId,
    tool: last?.entry.binding.tool ?? refusal?.tool ?? null,
    word: wordOf(action),
    axes: axesOf(run, action),
    externalId: action.final?.externalId ?? named.findLast((id) => id !== null) ?? null,
    attempts: action.attempts.map((attempt) => attemptView(action, attempt)),
    compensation: hasEffectBy(action.final) ? (last?.entry.compensation ?? []) : [],
    compensates: last?.entry.compensates?.actionId ?? null,
    refusal: refusal === null ? null : refusalText(refusal),
    revisions: last?.entry.revisions ?? refusal?.revisions ?? run.revisions,
    abandoned: action.abandoned,
    recordVersion: action.recordVersion,
    cost: totalCost({ ...run, actions: new Map([[action.actionId, action]]) }),
  };
}

function refusalText(refusal: ActionState['refusals'][number]): string {
  return refusal.detail === null ? refusal.verdict : `${refusal.verdict}: ${refusal.detail}`;
}

function attemptView(action: ActionState, attempt: AttemptState): AttemptView {
  const refused = attempt.settled?.refusal;
  return {
    attemptId: attempt.attemptId,
    number: attempt.entry.sendToken.number,
    enteredAt: new Date(attempt.enteredAt).toISOString(),
    state: attempt.settled?.outcome ?? unsettledState(action, attempt),
    refusal: refused ? `${refused.code}: ${refused.message}` : null,
    externalId: attempt.settled?.externalId ?? null,
    goalRevision: attempt.entry.revisions.goal,
    authRevision: attempt.entry.revisions.auth,
    late: attempt.late,
  };
}

function unsettledState(action: ActionState, attempt: AttemptState): string {
  if (!openAttempts(action).includes(attempt)) return 'excluded';
  return action.final?.via === 'resolution' ? 'resolved' : 'open';
}
