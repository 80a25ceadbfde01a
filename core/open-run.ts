// Opening a run: first start, attachment (worker crash, continue-as-new, Reset) and takeover
// (`resume`).

import { openAttempts, undecidedAttempts } from './action-status.ts';
import type { LedgerPin } from './activity-calls.ts';
import { ticketHolds, ticketOf } from './authority.ts';
import type { Budget } from './budget-limits.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type { Principal } from './fact-fields.ts';
import { openUnknowns } from './fact-rules.ts';
import type { BodyOf } from './facts.ts';
import type { BarrierView } from './gate-case.ts';
import type { Grant } from './grants.ts';
import type { KeyScope } from './ids.ts';
import { limits } from './limits.ts';
import { mayLack, pinProblem } from './pin.ts';
import type { RunState } from './run-state.ts';
import type { Binding } from './tool-policy.ts';
import { boundedWords } from './words.ts';

export interface OpenAsk {
  readonly goal: NewPayload;
  readonly principal: Principal;
  readonly grants: readonly Grant[];
  /** Null: nothing is limited. */
  readonly budget: Budget | null;
  /** Canonical bytes of the catalog as the workflow gets it. */
  readonly catalog: NewPayload;
  readonly bindings: readonly Binding[];
  readonly scope: KeyScope;
  /** Who opens: the worker's identity. */
  readonly owner: string;
  readonly firstExecutionRunId: string;
  readonly ticket: string | null;
  readonly pin: LedgerPin | null;
  readonly barrier: BarrierView;
}

export type OpenVerdict =
  | 'open'
  | 'ended'
  | 'ledger_mismatch'
  | 'attempt_not_current'
  | 'authority_unavailable'
  | 'other_goal'
  | 'needs_resume';

export function decideOpen(ask: OpenAsk): (view: LedgerView) => Decision<OpenVerdict> {
  return (view) => {
    const { run } = view;
    const refusal = refusalOf(ask, view);
    if (refusal !== null) return { reply: refusal, facts: [] };
    if (run.ended !== null) return { reply: 'ended', facts: [] };
    if (run.opened === null && isForgotten(ask.ticket, view))
      return { reply: 'ledger_mismatch', facts: [] };
    if (run.opened === null) return written(ask, [firstOpening(ask, view)]);
    if (run.opened.claim.firstExecutionRunId !== ask.firstExecutionRunId)
      return takeover(ask, run, run.opened);
    if (run.opened.claim.scope === 'effects' || !maySeekEffects(run))
      return { reply: 'open', facts: [] };
    return written(ask, [forEffects(run, run.opened)]);
  };
}

function refusalOf(ask: OpenAsk, view: LedgerView): OpenVerdict | null {
  const { run } = view;
  const { pin, barrier } = ask;
  if (pin !== null && pinProblem(pin, view) !== null) return 'ledger_mismatch';
  if (run.opened !== null && run.opened.goal.digest !== ask.goal.digest) return 'other_goal';
  if (barrier.kind === 'not_current') return 'attempt_not_current';
  if (barrier.kind === 'unavailable' || barrier.ageMs > limits.barrierAgeMs)
    return 'authority_unavailable';
  return null;
}

/** Taken over, and not known here: lost in a restore, or it is the ledger of somebody else. */
function isForgotten(ticket: string | null, view: LedgerView): boolean {
  if (ticket === null) return false;
  const { run } = view;
  // A ticket of another run came along with its input, and says nothing.
  return mayLack(view) || (ticket.startsWith(ticketOf(run.runId, '')) && !ticketHolds(run, ticket));
}

function written(ask: OpenAsk, bodies: readonly BodyOf<'run_opened'>[]): Decision<OpenVerdict> {
  const facts = bodies.map((body) => ({ source: 'history' as const, body }));
  return { reply: 'open', facts, payloads: [ask.goal, ask.catalog] };
}

function firstOpening(ask: OpenAsk, { run, ledger }: LedgerView): BodyOf<'run_opened'> {
  const ticket = ticketHolds(run, ask.ticket) ? ask.ticket : null;
  return {
    kind: 'run_opened',
    claim: {
      owner: ask.owner,
      scope: 'effects',
      firstExecutionRunId: ask.firstExecutionRunId,
      ticket,
      oldExecutor: 'none: no run_opened was there',
    },
    epoch: 1,
    principal: ask.principal,
    goal: { digest: ask.goal.digest, bytes: ask.goal.bytes.length },
    revisions: run.revisions,
    grants: [...ask.grants],
    catalog: { digest: ask.catalog.digest, bytes: ask.catalog.bytes.length },
    bindings: [...ask.bindings],
    scope: ask.scope,
    ledger,
    ...(ask.budget === null ? {} : { budget: ask.budget }),
  };
}

/** Facts first; effects at once only where nothing of an older epoch is open. */
function takeover(
  ask: OpenAsk,
  run: RunState,
  before: BodyOf<'run_opened'>,
): Decision<OpenVerdict> {
  if (!ticketHolds(run, ask.ticket)) return { reply: 'needs_resume', facts: [] };
  const opened: BodyOf<'run_opened'> = {
    ...before,
    claim: {
      owner: ask.owner,
      scope: 'facts',
      firstExecutionRunId: ask.firstExecutionRunId,
      ticket: ask.ticket,
      oldExecutor: oldExecutorOf(run),
    },
    epoch: before.epoch + 1,
    revisions: run.revisions,
  };
  const bodies = maySeekEffects(run) ? [opened, forEffects(run, opened)] : [opened];
  return written(ask, bodies);
}

/** What it had not entered, the epoch keeps out from now on. */
function oldExecutorOf(run: RunState): string {
  const open = [...run.actions.values()].flatMap(openAttempts).map(({ attemptId }) => attemptId);
  const still =
    open.length === 0
      ? 'nothing of it is open'
      : `may be at work on ${open.length}, recorded as late: ${open.join(', ')}`;
  return boundedWords(`enters nothing more; ${still}`, limits.noteCharsMax);
}

/** Under the revision of now: a revoke may have come since the claim of facts. */
function forEffects(run: RunState, opened: BodyOf<'run_opened'>): BodyOf<'run_opened'> {
  const { revisions } = run;
  return { ...opened, revisions, claim: { ...opened.claim, scope: 'effects' } };
}

/**
 * What an older epoch entered is final, abandoned or declared independent. While the claim covers
 * facts only, nothing of its own epoch has entered but what goes on with that.
 */
function maySeekEffects(run: RunState): boolean {
  const unknown = new Set(openUnknowns(run));
  const held = [...run.actions.values()].filter(
    ({ actionId, abandoned }) => unknown.has(actionId) && !abandoned,
  );
  return held.every((action) =>
    undecidedAttempts(action).every(({ entry }) => entry.onUnknown === 'continue'),
  );
}
