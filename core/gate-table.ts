// The gate's table: one row per verdict, in order of precedence; first match wins. Each row says
// why it applies, or null. `gate.ts` turns the verdict into facts.

import {
  arrivableAttempts,
  halfDoneOf,
  isBegun,
  isOngoing,
  resendUntilOf,
  undecidedAttempts,
} from './action-status.ts';
import { budgetProblem } from './budget.ts';
import type { LedgerView } from './decision.ts';
import type { Consumes, Pair } from './fact-fields.ts';
import { authorityRows } from './gate-authority.ts';
import { type BarrierView, type EntryAsk, type GateCase, type Row, says } from './gate-case.ts';
import { compensationRows } from './gate-compensation.ts';
import { limits } from './limits.ts';
import { pinProblem, restoredProblem } from './pin.ts';
import type { ActionState, AttemptState } from './run-state.ts';
import type { ReplayPolicy } from './tool-policy.ts';
import type { GateVerdict } from './verdict.ts';

export const gateTable: { readonly [V in GateVerdict]: Row } = {
  ledger_mismatch: ({ ask, view }) => pinProblem(ask.pin, view) ?? restoredProblem(view),
  disputed: (each) => says(disputeStops(each), 'two outcomes contradict each other'),
  already_final: ({ ask, action }) =>
    says(
      action?.final != null && (ask.replay === 'rebuy' || samePayload(action, ask)),
      'the outcome is final',
    ),
  payload_conflict: ({ ask, action }) =>
    says(
      ask.replay !== 'rebuy' && (action?.attempts.length ?? 0) > 0 && !samePayload(action, ask),
      `entered before with payload ${action?.attempts[0]?.entry.payload.digest}`,
    ),
  entered_again: ({ ask, view }) =>
    says(
      view.gateRow?.kind === 'entered' && view.gateRow.entryToken === ask.entryToken,
      'same delivery',
    ),
  attempt_reused: ({ view }) => says(view.gateRow?.kind === 'entered', 'another delivery entered'),
  attempt_closed: ({ view }) =>
    says(
      view.gateRow?.kind === 'closed',
      `closed as ${view.gateRow?.kind === 'closed' ? view.gateRow.verdict : ''}`,
    ),
  run_not_open: ({ view }) => says(view.run.opened === null, 'no run_opened in the ledger'),
  claim_stale: ({ ask, view }) => claimStale(ask.epoch, view),
  claim_facts_only: ({ view, action }) =>
    says(view.run.opened?.claim.scope === 'facts' && !isBegun(action), 'claim of facts only'),
  run_ended: ({ view }) => says(view.run.ended !== null, 'the run has ended'),
  retention_expired: retentionExpired,
  action_in_doubt: ({ ask, action, hasPermit }) =>
    says(!hasPermit && doubtBlocks(ask, action), 'another attempt is open'),
  predecessor_open: ({ ask, view }) => consumedOpen(ask, view),
  predecessor_mismatch: ({ ask, view }) => consumedOtherwise(ask, view),
  attempt_not_current: ({ ask }) => (ask.barrier.kind === 'not_current' ? ask.barrier.why : null),
  authority_unavailable: ({ ask }) => authorityUnavailable(ask.barrier),
  ...authorityRows,
  twin_unknown: (each) => {
    const twin = twinInDoubt(each);
    return twin === null ? null : `${twin} has the same intent and is in doubt`;
  },
  ...compensationRows,
  binding_changed: ({ ask, view }) =>
    says(
      !view.run.opened?.bindings.some(({ digest }) => digest === ask.binding.digest),
      `${ask.binding.tool} ${ask.binding.version} is not the tool pinned when the run opened`,
    ),
  budget_exhausted: ({ ask, view }) => budgetProblem(view.run, ask.reserve, view.now),
  entered: () => 'go',
};

function samePayload(action: ActionState | undefined, ask: EntryAsk): boolean {
  return (
    action?.attempts.every(({ entry }) => entry.payload.digest === ask.payload.digest) === true
  );
}

function disputeStops({ ask, view, action }: GateCase): boolean {
  if (action?.disputed === true) return true;
  const consumed = new Set(ask.consumes.pairs.map((pair) => pair.actionId));
  return [...view.run.actions.values()].some(
    (other) => other.disputed && (consumed.has(other.actionId) || ask.onUnknown === 'hold'),
  );
}

function retentionExpired({ ask, view, action }: GateCase): string | null {
  if (ask.replay !== 'keyed' || action === undefined) return null;
  const resendUntil = resendUntilOf(action);
  if (resendUntil === null) return null;
  // What the receiver has forgotten it would not go on with, but begin again.
  if (arrivableAttempts(action).length === 0 && halfDoneOf(action) === null) return null;
  if (action.permits.some((permit) => permit.acceptsPossibleDuplicate)) return null;
  if (view.clockSteppedBack) return 'the clock stepped back; how old the key is cannot be told';
  return says(
    view.now >= resendUntil,
    `the key may be forgotten since ${new Date(resendUntil).toISOString()}`,
  );
}

function doubtBlocks(ask: EntryAsk, action: ActionState | undefined): boolean {
  if (action === undefined) return false;
  if (action.abandoned || action.attempts.some((each) => isOngoing(each) && !goesOnBy(ask, each)))
    return true;
  return !mayRepeat(ask.replay, action) && arrivableAttempts(action).length > 0;
}

/** What the receiver has accepted is its own; what it has half done may be gone on with. */
function goesOnBy({ continues }: EntryAsk, { settled }: AttemptState): boolean {
  return continues === true && settled?.outcome === 'partial';
}

/** A key whose retention is not known is no key. */
function mayRepeat(replay: ReplayPolicy, { attempts }: ActionState): boolean {
  if (replay === 'keyed') return attempts[0]?.entry.resendUntil !== null;
  return replay !== 'never';
}

function consumedOpen(ask: Consuming, view: LedgerView): string | null {
  const open = ask.consumes.pairs.find((pair) => {
    const action = view.run.actions.get(pair.actionId);
    if (pair.outcome === 'open') return ask.onUnknown === 'hold';
    return action?.final === null && undecidedAttempts(action).length > 0;
  });
  return open === undefined ? null : `${open.actionId} is open`;
}

function consumedOtherwise(ask: Consuming, view: LedgerView): string | null {
  if (!view.run.rolled.has(ask.consumes.base))
    return 'consumes from a base this ledger does not know';
  const other = ask.consumes.pairs.find((pair) => !agrees(pair, view));
  return other === undefined ? null : `${other.actionId} did not end as ${other.outcome}`;
}

/** `open` agrees with anything that was ever entered: its later settlement is no mismatch. */
function agrees(pair: Pair, view: LedgerView): boolean {
  const action = view.run.actions.get(pair.actionId);
  if (pair.outcome === 'open') return action !== undefined && action.attempts.length > 0;
  if (pair.outcome === 'not_executed')
    return action?.final == null || action.final.kind === 'not_executed';
  return action?.final?.digest === pair.outcome;
}

function authorityUnavailable(barrier: BarrierView): string | null {
  if (barrier.kind !== 'current') return barrier.why;
  return says(
    barrier.ageMs > limits.barrierAgeMs,
    `the barrier was ${barrier.ageMs} ms old at the gate`,
  );
}

/**
 * Holds back a new wish only. What may have had its effect already comes this far by its key or by
 * a permit: sent again it is no second one, and two that waited for each other would never end.
 */
export function twinInDoubt({ ask, view, action }: GateCase): string | null {
  if (action !== undefined && arrivableAttempts(action).length > 0) return null;
  const others = action?.resolutions.map(({ distinctFrom }) => distinctFrom) ?? [];
  const twin = view.twins.find(
    (each) =>
      each.state === 'in_doubt' &&
      !(each.runId === view.run.runId && each.actionId === ask.actionId) &&
      !others.includes(each.actionId),
  );
  return twin?.actionId ?? null;
}

type Consuming = Pick<EntryAsk, 'consumes' | 'onUnknown'>;

export interface EndCase {
  readonly ask: Pick<EntryAsk, 'pin' | 'epoch' | 'consumes' | 'barrier'> & {
    readonly goalRevision?: number | undefined;
  };
  readonly view: LedgerView;
  readonly completes: boolean;
  /** Its course came to its end, with or without unknowns. */
  readonly finishes: boolean;
}

/** What refuses the end of a run, in order; what was consumed is checked for `completed` only. */
export const endTable: readonly (readonly [GateVerdict, (each: EndCase) => string | null])[] = [
  ['ledger_mismatch', ({ ask, view }) => pinProblem(ask.pin, view)],
  [
    'disputed',
    ({ view, completes }) =>
      says(
        completes && [...view.run.actions.values()].some((action) => action.disputed),
        'two outcomes contradict each other',
      ),
  ],
  ['run_not_open', ({ view }) => says(view.run.opened === null, 'no run_opened in the ledger')],
  ['claim_stale', ({ ask, view }) => claimStale(ask.epoch, view)],
  [
    'predecessor_open',
    ({ ask, view, completes }) =>
      completes ? consumedOpen({ consumes: ask.consumes, onUnknown: 'continue' }, view) : null,
  ],
  [
    'predecessor_mismatch',
    ({ ask, view, completes }) =>
      completes ? consumedOtherwise({ consumes: ask.consumes, onUnknown: 'continue' }, view) : null,
  ],
  [
    'attempt_not_current',
    ({ ask }) => (ask.barrier.kind === 'not_current' ? ask.barrier.why : null),
  ],
  ['authority_unavailable', ({ ask }) => authorityUnavailable(ask.barrier)],
  [
    'goal_stale',
    ({ ask: { goalRevision: followed = 1 }, view, finishes }) =>
      says(
        finishes && followed !== view.run.revisions.goal,
        `it followed goal ${followed}; the goal is ${view.run.revisions.goal} now`,
      ),
  ],
];

/** Whether what this was told by Temporal of each action is what the ledger has of it. */
export function consumedAsRecorded(consumes: Consumes, view: LedgerView): boolean {
  const ask = { consumes, onUnknown: 'continue' } as const;
  return consumedOpen(ask, view) === null && consumedOtherwise(ask, view) === null;
}

function claimStale(epoch: number, { run }: LedgerView): string | null {
  return says(run.opened?.epoch !== epoch, `the claim is at epoch ${run.opened?.epoch}`);
}
