// The fold: facts of one run, in order, to its state. Total over kinds; nothing else sets state.
// It trusts that `fact-rules.ts` let the fact in, and never mutates what it was given.

import { objectsAfter } from './acceptance.ts';
import { toppedUp } from './budget.ts';
import { genesisHash } from './chain.ts';
import { genesisBase } from './consumes.ts';
import type { SettlementKind } from './fact-fields.ts';
import type { BodyOf, Fact, FactBody, FactKind } from './facts.ts';
import { finalAfter, hasEffectBy, isHalfDone, isReplay, isSecondEffect } from './finality.ts';
import { resolved } from './fold-resolution.ts';
import type { ActionState, Approval, AttemptState, RunState } from './run-state.ts';

export function emptyRun(runId: string): RunState {
  return {
    runId,
    head: { count: 0, hash: genesisHash(runId) },
    opened: null,
    revisions: { goal: 1, auth: 1 },
    grants: null,
    amendedGoals: [],
    budget: null,
    topUps: 0,
    exhausted: new Map(),
    openedAt: null,
    revoked: false,
    canceled: false,
    commandIds: new Set(),
    rejectedCount: 0,
    tickets: new Map(),
    actions: new Map(),
    objects: { known: [], judged: [] },
    rolled: new Set([genesisBase(runId)]),
    ended: null,
    lastFactAt: null,
    erased: new Set(),
  };
}

type Apply<K extends FactKind> = (run: RunState, body: BodyOf<K>, fact: Fact) => RunState;

const applyTable: { [K in FactKind]: Apply<K> } = {
  run_opened: (run, body, fact) => ({
    ...run,
    opened: body,
    // What was changed before, or between two openings, stays changed.
    grants: grantsAtOpening(run, body),
    budget: run.opened === null ? (body.budget ?? null) : run.budget,
    openedAt: run.openedAt ?? fact.at,
    tickets: body.claim.ticket === null ? run.tickets : without(run.tickets, body.claim.ticket),
  }),
  attempt_entered: (run, body, fact) =>
    withAction(
      {
        ...run,
        rolled: new Set(run.rolled).add(body.rolled),
        exhausted: without(run.exhausted, body.actionId),
      },
      body.actionId,
      fact,
      (action) => ({
        ...action,
        attempts: [...action.attempts, entered(body, fact.at)],
        permits: action.permits.filter((permit) => permit.id !== body.permit),
      }),
    ),
  attempt_prepared: (run, body, fact) =>
    withAction(run, body.actionId, fact, (action) => ({
      ...action,
      attempts: action.attempts.map((attempt) =>
        attempt.attemptId === body.attemptId
          ? { ...attempt, prepared: body.marks, preparedSeq: fact.seq }
          : attempt,
      ),
    })),
  attempt_refused: (run, body, fact) =>
    withAction({ ...run, exhausted: exhaustedAfter(run, body) }, body.actionId, fact, (action) => ({
      ...action,
      refusals: [...action.refusals, body],
    })),
  attempt_settled: (run, body, fact) =>
    withAction(run, body.actionId, fact, (action) => settled(run, action, body, fact)),
  action_in_doubt: (run, body, fact) =>
    withAction(run, body.actionId, fact, (action) => ({
      ...action,
      attempts: action.attempts.map((attempt) =>
        body.attemptIds.includes(attempt.attemptId)
          ? { ...attempt, doubted: true, doubtedWhy: body.why }
          : attempt,
      ),
    })),
  observation: (run, body, fact) =>
    withAction(run, body.actionId, fact, (action) => observed(run, action, body, fact)),
  resolution: (run, body, fact) =>
    withAction(
      { ...run, commandIds: new Set(run.commandIds).add(body.commandId) },
      body.actionId,
      fact,
      (action) => resolved(action, body, fact),
    ),
  authority_changed: (run, body, fact) => decided(changed(run, body), body, fact),
  command_rejected: (run) => ({ ...run, rejectedCount: run.rejectedCount + 1 }),
  run_ended: (run, body, fact) => ({ ...run, ended: { ...body, seq: fact.seq } }),
  payload_erased: (run, body) => ({ ...run, erased: new Set(run.erased).add(body.digest) }),
};

/** `hash` is the digest of the fact's exact bytes. */
export function foldFact(run: RunState, fact: Fact, hash: RunState['head']['hash']): RunState {
  const apply = applyTable[fact.body.kind] as Apply<FactBody['kind']>;
  const next = apply(run, fact.body as never, fact);
  const objects = objectsAfter(run, next, fact);
  return { ...next, objects, head: { count: fact.seq, hash }, lastFactAt: fact.at };
}

/** Kinds after which an answer based on an earlier record is stale; observations are not news. */
const renewsRecord: ReadonlySet<FactKind> = new Set([
  'attempt_entered',
  'attempt_settled',
  'action_in_doubt',
  'resolution',
]);

/** An answer that is asked for again and again is none of them, unless it says what happened. */
function changesAnswers(body: FactBody): boolean {
  if (body.kind !== 'observation') return renewsRecord.has(body.kind);
  const { about, proof, verdict } = body;
  const tellsEffect = verdict === 'executed' || verdict === 'partial';
  return about === 'second_effect' || proof !== null || tellsEffect;
}

function withAction(
  run: RunState,
  actionId: string,
  fact: Fact,
  change: (action: ActionState) => ActionState,
): RunState {
  const before = run.actions.get(actionId) ?? newAction(actionId, fact.seq);
  const after = change(before);
  const recordVersion = changesAnswers(fact.body) ? fact.seq : after.recordVersion;
  const actions = new Map(run.actions);
  actions.set(actionId, { ...after, recordVersion });
  return { ...run, actions };
}

function newAction(actionId: string, seq: number): ActionState {
  return {
    actionId,
    attempts: [],
    refusals: [],
    observations: [],
    resolutions: [],
    final: null,
    disputed: false,
    abandoned: false,
    permits: [],
    approvals: [],
    recordVersion: seq,
    firstSeq: seq,
  };
}

function entered(entry: BodyOf<'attempt_entered'>, at: number): AttemptState {
  return {
    attemptId: entry.attemptId,
    entry,
    enteredAt: at,
    prepared: null,
    preparedSeq: 0,
    settled: null,
    settledAt: null,
    settledBy: null,
    late: false,
    doubted: false,
    doubtedWhy: null,
    exclusion: 'none',
  };
}

function changed(run: RunState, body: BodyOf<'authority_changed'>): RunState {
  const { added, goal } = body;
  return {
    ...run,
    revisions: body.revisions,
    grants: grantsAfter(run, body),
    amendedGoals: goal === undefined ? run.amendedGoals : [...run.amendedGoals, goal],
    budget: added === undefined ? run.budget : toppedUp(run.budget, added),
    topUps: run.topUps + (added === undefined ? 0 : 1),
    exhausted: asksAnew(run, body) ? new Map() : run.exhausted,
    revoked: run.revoked || body.change === 'revoke',
    canceled: run.canceled || body.change === 'cancel',
    commandIds: new Set(run.commandIds).add(body.commandId),
    tickets: withTicket(run, body.ticket),
  };
}

/** A revocation from before keeps of what was granted only what it named. */
function grantsAtOpening({ opened, revoked, grants }: RunState, body: BodyOf<'run_opened'>) {
  if (grants === null) return body.grants;
  return opened === null && revoked ? grants.filter((one) => body.grants.includes(one)) : grants;
}

/** A revocation that names nothing keeps nothing. */
function grantsAfter({ grants: before }: RunState, body: BodyOf<'authority_changed'>) {
  return body.grants ?? (body.change === 'revoke' ? [] : before);
}

function decided(run: RunState, body: BodyOf<'authority_changed'>, fact: Fact): RunState {
  const { change: decision, actionId, bound, commandId, actor, reason, revisions } = body;
  if ((decision !== 'approve' && decision !== 'deny') || !actionId || !bound) return run;
  const validUntil = body.validUntil ?? null;
  const one: Approval = { commandId, decision, actor, reason, bound, revisions, validUntil };
  return withAction(run, actionId, fact, (action) => ({
    ...action,
    approvals: [...action.approvals, one],
  }));
}

function settled(
  run: RunState,
  action: ActionState,
  body: BodyOf<'attempt_settled'>,
  fact: Fact,
): ActionState {
  const before = action.attempts.find((attempt) => attempt.attemptId === body.attemptId);
  const stopped = run.ended !== null || run.revoked || run.canceled;
  // What the run itself had asked for is an answer, not a late result.
  const asked = fact.source === 'receiver_inquiry';
  const late = stopped || (before?.doubted === true && !asked);
  const attempts = action.attempts.map((attempt) =>
    attempt.attemptId === body.attemptId
      ? { ...attempt, settled: body, settledAt: fact.at, settledBy: fact.source, late }
      : attempt,
  );
  const contradicts =
    (body.outcome === 'executed' && isSecondEffect(action, body)) ||
    (takenUp.has(body.outcome) && isExcluded(action, before) && !isReplay(action, body));
  return finalAfter({ ...action, attempts, disputed: action.disputed || contradicts }, fact);
}

/** Whoever was believed to have had no effect has done it, has done a part, or is at it. */
const takenUp: ReadonlySet<SettlementKind> = new Set(['executed', 'partial', 'accepted']);

function isExcluded({ final }: ActionState, before: AttemptState | undefined): boolean {
  return before?.exclusion !== 'none' || (final !== null && !hasEffectBy(final));
}

function observed(
  run: RunState,
  action: ActionState,
  body: BodyOf<'observation'>,
  fact: Fact,
): ActionState {
  const stopped = run.ended !== null || run.revoked || run.canceled;
  // Parts that are confirmed are not undone by a word that nothing happened (D14).
  const deniesParts = body.proof !== null && isHalfDone(action);
  const attempts = action.attempts.map((attempt) => {
    if (attempt.attemptId !== body.attemptId) return attempt;
    if (body.verdict === 'executed') return { ...attempt, late: attempt.late || stopped };
    if (body.proof === null || deniesParts) return attempt;
    return { ...attempt, exclusion: 'proved' as const };
  });
  const before = action.attempts.find((attempt) => attempt.attemptId === body.attemptId);
  const tellsEffect = body.verdict === 'executed' || body.verdict === 'partial';
  const contradicts = deniesParts || (tellsEffect && deniedEffect(action, before));
  const disputed = action.disputed || contradicts || body.about === 'second_effect';
  const observations = [...action.observations, body];
  return finalAfter({ ...action, attempts, disputed, observations }, fact);
}

/** The attempt had said of itself that nothing happened, or that is the outcome. */
function deniedEffect({ final }: ActionState, attempt: AttemptState | undefined): boolean {
  if (final !== null && !hasEffectBy(final)) return true;
  return (
    attempt?.settled != null &&
    ['refused', 'not_taken', 'not_sent'].includes(attempt.settled.outcome)
  );
}

function withTicket({ tickets, opened }: RunState, ticket: string | null): RunState['tickets'] {
  return ticket === null ? tickets : new Map(tickets).set(ticket, opened?.epoch ?? 0);
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  return new Map([...map].filter(([each]) => each !== key));
}

function exhaustedAfter(
  { exhausted }: RunState,
  { actionId, verdict, detail }: BodyOf<'attempt_refused'>,
): RunState['exhausted'] {
  if (verdict !== 'budget_exhausted') return without(exhausted, actionId);
  return new Map(exhausted).set(actionId, detail ?? verdict);
}

function asksAnew(run: RunState, { added, revisions }: BodyOf<'authority_changed'>): boolean {
  const { goal, auth } = run.revisions;
  return added !== undefined || revisions.goal !== goal || revisions.auth !== auth;
}
