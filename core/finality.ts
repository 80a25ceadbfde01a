// When an action's outcome is final: by the first `executed`, by a `partial` that cannot be
// continued, by the receiver's word on what it had accepted, by a resolution of the effect, by a
// burnt key, or by a refusal when no other attempt is open.

import { undecidedAttempts } from './action-status.ts';
import type { ResolutionVerb } from './commands.ts';
import type { PayloadRef } from './fact-fields.ts';
import type { BodyOf, Fact } from './facts.ts';
import { type FinalContent, outcomeDigest } from './outcome.ts';
import type { ActionState, AttemptState, FinalState } from './run-state.ts';

/** The first final outcome stays; what comes later is an observation. */
export function finalAfter(action: ActionState, fact: Fact): ActionState {
  if (action.final !== null) return action;
  const found =
    finalBySettlement(action) ??
    finalByObservation(action) ??
    finalByResolution(action) ??
    finalByBurntKey(action);
  return found === null ? action : { ...action, final: finalOf(action, found, fact) };
}

function finalOf({ actionId }: ActionState, found: Found, fact: Fact): FinalState {
  const { attempt, content, via, resultRef } = found;
  return {
    ...content,
    attemptId: attempt?.attemptId ?? null,
    via,
    seq: fact.seq,
    digest: outcomeDigest(actionId, content),
    resultRef,
    late: attempt?.late ?? false,
  };
}

/** Each was given while nobody knew the end; what is final since then is adopted, not repeated. */
export function permitsNow({ final, permits }: ActionState): ActionState['permits'] {
  return final === null ? permits : [];
}

/** What the receiver calls an effect. */
type Named = Pick<BodyOf<'attempt_settled'>, 'externalId' | 'objectVersion'>;

/** An effect is another one when the receiver names another object or version; a replay is none. */
export function isSecondEffect(action: ActionState, said: Named): boolean {
  const { final } = action;
  if (final === null) return false;
  if (!hasEffectBy(final)) return true;
  // Read twice, an object may well have another version.
  if (!actsOutside(action)) return false;
  return (
    areOthers(final.externalId, said.externalId) ||
    areOthers(objectVersionOf(action), said.objectVersion)
  );
}

/**
 * The receiver's record of the final effect, told again to an older request that it had let in no
 * more. Without an external id that cannot be told from an effect of its own.
 */
export function isReplay(action: ActionState, said: Named): boolean {
  const { final } = action;
  if (final === null || said.externalId === null) return false;
  return final.externalId === said.externalId && !isSecondEffect(action, said);
}

/** Whether it is there for an effect: what only reads, or asks a model, has none. */
export function actsOutside({ attempts }: ActionState): boolean {
  const replay = attempts[0]?.entry.replay;
  return replay === 'keyed' || replay === 'never';
}

function areOthers(left: string | null, right: string | null): boolean {
  return left !== null && right !== null && left !== right;
}

/** The version that its object had after the effect, where the receiver told it. */
export function objectVersionOf(action: ActionState): string | null {
  const { attempts, final } = action;
  const attempt = attempts.find((each) => each.attemptId === final?.attemptId);
  const told = attempt && endTold(action, attempt);
  return (told?.said ?? attempt?.settled)?.objectVersion ?? null;
}

/** Whether an answer says the opposite of what is recorded: of an effect, or of its absence. */
export function contradictsRecord(action: ActionState, verb: ResolutionVerb): boolean {
  const hasEffect = isHalfDone(action) || hasEffectBy(action.final);
  if (verb === 'confirm_not_executed') return hasEffect;
  if (verb !== 'confirm_executed') return false;
  const excluded = action.attempts.some((attempt) => attempt.exclusion !== 'none');
  return excluded || (action.final !== null && !action.final.kind.startsWith('executed'));
}

export function hasEffectBy(final: FinalState | null): boolean {
  return final !== null && final.kind !== 'refused' && final.kind !== 'not_executed';
}

/** By a settlement, or by what the receiver told later of what it had accepted. */
export function isHalfDone({ attempts, observations }: ActionState): boolean {
  return (
    attempts.some(({ settled }) => settled?.outcome === 'partial') ||
    observations.some(({ verdict }) => verdict === 'partial')
  );
}

interface Found {
  readonly attempt: AttemptState | null;
  readonly content: FinalContent;
  readonly via: FinalState['via'];
  readonly resultRef: FinalState['resultRef'];
}

/** An effect stands before a refusal, whichever of the two attempts came first. */
function finalBySettlement(action: ActionState): Found | null {
  const found = action.attempts.flatMap((attempt) => settledAs(action, attempt) ?? []);
  return found.find(({ content }) => content.kind !== 'refused') ?? found[0] ?? null;
}

function settledAs(action: ActionState, attempt: AttemptState): Found | null {
  const kind = finalKindOf(action, attempt);
  const { settled } = attempt;
  if (kind === null || settled === null) return null;
  const content: FinalContent = {
    kind,
    result: settled.result?.digest ?? null,
    parts: settled.parts,
    externalId: settled.externalId,
  };
  return { attempt, content, via: 'settlement', resultRef: settled.result };
}

function finalKindOf(action: ActionState, attempt: AttemptState): FinalContent['kind'] | null {
  const { settled, entry } = attempt;
  if (settled === null) return null;
  if (settled.outcome === 'refused') return othersAreOpen(action, attempt) ? null : 'refused';
  const { outcome: word, result } = settled;
  return effectKindOf({ word, result, continuing: entry.continuing });
}

/** What another attempt started may still have its effect: no refusal can end the action then. */
function othersAreOpen(action: ActionState, attempt: AttemptState): boolean {
  return undecidedAttempts(action).some((other) => other !== attempt);
}

/** An attempt settles once, so the end of what the receiver had accepted is an observation. */
function finalByObservation(action: ActionState): Found | null {
  for (const { attemptId } of action.observations) {
    const attempt = action.attempts.find((each) => each.attemptId === attemptId);
    const told = attempt && endTold(action, attempt);
    if (attempt === undefined || told == null) continue;
    const { kind, said } = told;
    const { result = null, parts = [], externalId } = said;
    const content: FinalContent = {
      kind,
      result: result?.digest ?? null,
      parts,
      externalId: externalId ?? attempt.settled?.externalId ?? null,
    };
    return { attempt, content, via: 'settlement', resultRef: result };
  }
  return null;
}

interface EndTold {
  readonly kind: FinalContent['kind'];
  readonly said: BodyOf<'observation'>;
}

/** The first word on how it ended, of what had settled as going on at the receiver. */
function endTold({ observations }: ActionState, { settled, ...of }: AttemptState): EndTold | null {
  if (settled === null || !goesOn.has(settled.outcome)) return null;
  const { attemptId, entry } = of;
  const { continuing } = entry;
  const { outcome: word, result } = settled;
  if (effectKindOf({ word, result, continuing }) !== null) return null;
  for (const said of observations) {
    if (said.attemptId !== attemptId) continue;
    const kind = effectKindOf({ word: said.verdict, result: said.result ?? null, continuing });
    if (kind !== null) return { kind, said };
  }
  return null;
}

const goesOn: ReadonlySet<string> = new Set(['accepted', 'partial']);

interface Effect {
  readonly word: string | null;
  readonly result: PayloadRef | null;
  readonly continuing: AttemptState['entry']['continuing'];
}

function effectKindOf({ word, result, continuing }: Effect): FinalContent['kind'] | null {
  if (word === 'executed') return result === null ? 'executed_result_missing' : 'executed';
  return word === 'partial' && continuing === 'none' ? 'partial' : null;
}

function finalByResolution(action: ActionState): Found | null {
  const answer = action.resolutions.find((each) => each.verb === 'confirm_executed');
  return answer === undefined ? null : executedBy(answer);
}

function executedBy({ result, externalId }: BodyOf<'resolution'>): Found {
  const content: FinalContent = {
    kind: result === null ? 'executed_result_missing' : 'executed',
    result: result?.digest ?? null,
    parts: [],
    externalId,
  };
  return { attempt: null, content, via: 'resolution', resultRef: result };
}

/**
 * A dispute ends with what a person states. An outcome that says the same stays as it is: what
 * consumed it is not to be stopped for a word that changed nothing.
 */
export function finalAsStated(
  action: ActionState,
  body: BodyOf<'resolution'>,
  fact: Fact,
): ActionState {
  const { final } = action;
  const executed = body.states === 'executed';
  if (final !== null && executed === hasEffectBy(final) && !namesAnother(final, body))
    return action;
  return { ...action, final: finalOf(action, executed ? executedBy(body) : noEffect, fact) };
}

function namesAnother(final: FinalState, { externalId, result }: BodyOf<'resolution'>): boolean {
  return (
    (result !== null && result.digest !== final.result) ||
    (externalId !== null && externalId !== final.externalId)
  );
}

function finalByBurntKey(action: ActionState): Found | null {
  const isBurnt = action.observations.some((each) => each.proof === 'closed_key');
  return isBurnt && !isHalfDone(action) ? burnt : null;
}

const none: FinalContent = { kind: 'not_executed', result: null, parts: [], externalId: null };
const burnt: Found = { attempt: null, content: none, via: 'settlement', resultRef: null };
const noEffect: Found = { attempt: null, content: none, via: 'resolution', resultRef: null };
