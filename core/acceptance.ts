// Whether an effect is what was wanted, bound to the version of its object. Checks, test runs and
// reviews judge an object at one version, by its digest for a file; any later change leaves the
// judgement behind. Derived from facts alone: nothing sets it.
//
// INV-1  What is not known to be judged as it stands is `not_evaluated`.
// INV-2  Every tool that has judged an object has a say: one that judged an earlier version is to
//        judge again, and a rejection stands until the same tool judges the same object again.

import type { Fact, FactBody } from './facts.ts';
import { actsOutside, hasEffectBy, objectVersionOf } from './finality.ts';
import type { ActionState, ObjectState, Objects, RunState } from './run-state.ts';

export type Acceptance = 'not_evaluated' | 'accepted' | 'rejected';

export function acceptanceOf({ objects }: RunState, action: ActionState): Acceptance {
  const { final, disputed } = action;
  const version = objectVersionOf(action);
  if (final === null || final.externalId === null || version === null) return 'not_evaluated';
  if (disputed || !actsOutside(action)) return 'not_evaluated';
  const object = onlyOneOf(objects, final.externalId);
  if (object?.domain !== domainOf(action)) return 'not_evaluated';
  const others = object.versions.filter((each) => each.version !== version);
  if (others.some(({ changedAt }) => changedAt > final.seq)) return 'not_evaluated';
  const otherAt = Math.max(0, ...others.map(({ namedAt }) => namedAt));
  return verdictOn(objects, { object: final.externalId, version, after: otherAt });
}

/** A judgement names no domain: of two objects with one name it is about neither. */
function onlyOneOf({ known }: Objects, externalId: string): ObjectState | undefined {
  const [only, ...others] = known.filter((each) => each.externalId === externalId);
  return others.length === 0 ? only : undefined;
}

interface Standing {
  readonly object: string;
  readonly version: string;
  /** Number of the last fact by which it had another version. */
  readonly after: number;
}

function verdictOn({ judged }: Objects, { object, version, after }: Standing): Acceptance {
  const all = judged.filter((each) => each.object === object);
  const holding = all.filter((each) => each.objectVersion === version && each.seq > after);
  if (holding.some((each) => each.verdict === 'rejected')) return 'rejected';
  return all.length > 0 && holding.length === all.length ? 'accepted' : 'not_evaluated';
}

/** `before` and `after` it, but for the objects themselves. */
export function objectsAfter(before: RunState, after: RunState, { body, seq }: Fact): Objects {
  const named = namedIn(before, after, body);
  const known = named === null ? before.objects.known : knownAfter(before.objects, named, seq);
  return { known, judged: judgedAfter(before, after, { body, seq }) };
}

interface Named {
  readonly externalId: string;
  readonly domain: string | null;
  /** Null: it was changed, and nobody said to what. */
  readonly version: string | null;
  /** By an effect; else a look found it so. */
  readonly isChange: boolean;
}

/** The version that a fact tells of an object. */
function namedIn(before: RunState, after: RunState, body: FactBody): Named | null {
  const action = 'actionId' in body && body.actionId && after.actions.get(body.actionId);
  if (!action) return null;
  const { final } = action;
  const isNews = hasEffectBy(final) && final !== before.actions.get(action.actionId)?.final;
  const isSettled = body.kind === 'attempt_settled' && (final === null || hasEffectBy(final));
  const isSecond = body.kind === 'observation' && body.about === 'second_effect';
  const isChange = actsOutside(action) && (isNews || isSettled || isSecond);
  const said = 'externalId' in body ? body : null;
  const externalId = said?.externalId ?? (isNews ? final?.externalId : null) ?? null;
  const version = isNews ? objectVersionOf(action) : objectVersionIn(body);
  if (externalId === null || (version === null && !isChange)) return null;
  return { externalId, domain: domainOf(action), version, isChange };
}

function objectVersionIn(body: FactBody): string | null {
  return 'objectVersion' in body ? body.objectVersion : null;
}

function knownAfter({ known }: Objects, named: Named, seq: number): readonly ObjectState[] {
  const { externalId, domain, version, isChange } = named;
  const isIt = (each: ObjectState) => each.externalId === externalId && each.domain === domain;
  const versions = known.find(isIt)?.versions ?? [];
  const before = versions.find((each) => each.version === version);
  const now = { version, namedAt: seq, changedAt: isChange ? seq : (before?.changedAt ?? 0) };
  const object = { externalId, domain, versions: [...versions.filter((v) => v !== before), now] };
  return [...known.filter((each) => !isIt(each)), object];
}

/** The newest word of each tool on each object. */
function judgedAfter(
  before: RunState,
  after: RunState,
  { body, seq }: Pick<Fact, 'body' | 'seq'>,
): Objects['judged'] {
  const { judged } = before.objects;
  if (body.kind !== 'attempt_settled' || body.evaluates === undefined) return judged;
  const attempts = after.actions.get(body.actionId)?.attempts;
  const attempt = attempts?.find(({ attemptId }) => attemptId === body.attemptId);
  const by = attempt?.entry.binding.tool;
  const words = body.evaluates.map((each) => ({ ...each, by, seq }));
  const isOld = (each: Objects['judged'][number]) =>
    each.by === by && words.some(({ object }) => object === each.object);
  return [...judged.filter((each) => !isOld(each)), ...words];
}

function domainOf({ attempts }: ActionState): string | null {
  return attempts[0]?.entry.domain ?? null;
}
