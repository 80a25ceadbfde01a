// Whether an effect is what was wanted, bound to the version of its object. Checks, test runs and
// reviews judge an object at one version, by its digest for a file; any later change leaves the
// judgement behind. Derived from facts alone: nothing sets it.
//
// INV-1  What is not known to be judged as it stands is `not_evaluated`.
// INV-2  Every tool that has judged an object has a say: one that judged an earlier version is to
//        judge again, and a rejection stands until the same tool judges the same object again.

import type { Fact, FactBody } from './facts.ts';
import { hasEffectBy, objectVersionOf } from './finality.ts';
import type { ActionState, ObjectState, Objects, RunState } from './run-state.ts';

export type Acceptance = 'not_evaluated' | 'accepted' | 'rejected';

export function acceptanceOf(run: RunState, action: ActionState): Acceptance {
  const { final, disputed } = action;
  const version = objectVersionOf(action);
  if (final === null || final.externalId === null || version === null) return 'not_evaluated';
  if (disputed || !changesObjects(action)) return 'not_evaluated';
  const object = onlyOneOf(run.objects, final.externalId);
  if (object?.version !== version) return 'not_evaluated';
  if (object.domain !== domainOf(action) || final.seq < object.otherAt) return 'not_evaluated';
  return verdictOn(run.objects, object);
}

/** A judgement names no domain: of two objects with one name it is about neither. */
function onlyOneOf({ known }: Objects, externalId: string): ObjectState | undefined {
  const [only, ...others] = known.filter((each) => each.externalId === externalId);
  return others.length === 0 ? only : undefined;
}

function verdictOn({ judged }: Objects, { externalId, version, otherAt }: ObjectState): Acceptance {
  const all = judged.filter((each) => each.object === externalId);
  const holding = all.filter((each) => each.objectVersion === version && each.seq > otherAt);
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
}

/** The version that a fact tells of an object: by an effect, or by a look that found it. */
function namedIn(before: RunState, after: RunState, body: FactBody): Named | null {
  const action = 'actionId' in body && body.actionId && after.actions.get(body.actionId);
  if (!action) return null;
  const domain = domainOf(action);
  if ('objectVersion' in body && body.objectVersion !== null && body.externalId !== null)
    return { externalId: body.externalId, domain, version: body.objectVersion };
  if (!changesObjects(action)) return null;
  const { final } = action;
  const isNews = final !== null && final !== before.actions.get(action.actionId)?.final;
  if (isNews && hasEffectBy(final) && final.externalId !== null)
    return { externalId: final.externalId, domain, version: objectVersionOf(action) };
  const externalId = body.kind === 'attempt_settled' && !isNews ? body.externalId : null;
  return externalId === null ? null : { externalId, domain, version: null };
}

function knownAfter({ known }: Objects, named: Named, seq: number): readonly ObjectState[] {
  const { externalId, domain, version } = named;
  const isIt = (each: Named) => each.externalId === externalId && each.domain === domain;
  const before = known.find(isIt);
  const isOther = before !== undefined && (version === null || before.version !== version);
  const otherAt = isOther ? before.at : (before?.otherAt ?? 0);
  return [...known.filter((each) => !isIt(each)), { ...named, at: seq, otherAt }];
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

/** What has no effect is nothing that could be what was wanted. */
function changesObjects({ attempts }: ActionState): boolean {
  const replay = attempts[0]?.entry.replay;
  return replay === 'keyed' || replay === 'never';
}
