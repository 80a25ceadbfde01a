// After an attempt that proved nothing: if it never entered, close it (a proof that nothing was
// submitted); if it is settled after all, say so; else put the action in doubt.

import { refusalFacts } from './closing.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import type { Revisions } from './fact-fields.ts';
import type { BodyOf, NewFact } from './facts.ts';
import { limits } from './limits.ts';
import { boundedWords } from './words.ts';

export interface DoubtAsk {
  readonly actionId: string;
  readonly attemptId: string;
  readonly why: string;
  /** Known from the failure when the result could not be stored. */
  readonly externalId: string | null;
  readonly receiptDigest: string | null;
  /** Left out where the run has not scheduled it itself. */
  readonly scheduled?: ScheduledAs | undefined;
}

/** what stays unsent is kept, under the revision that it was decided under. */
export interface ScheduledAs {
  readonly position: string;
  readonly tool: string;
  readonly revisions: Revisions;
  readonly payload: NewPayload | null;
}

export type DoubtReply = 'closed' | 'settled' | 'in_doubt';

export function decideDoubt(ask: DoubtAsk): (view: LedgerView) => Decision<DoubtReply> {
  return (view) => {
    const { actionId, attemptId } = ask;
    const attempt = view.run.actions
      .get(actionId)
      ?.attempts.find((each) => each.attemptId === attemptId);
    if (attempt === undefined) return { reply: 'closed', ...closed(view, ask) };
    if (attempt.settled !== null || attempt.exclusion !== 'none')
      return { reply: 'settled', facts: [] };
    if (attempt.doubted) return { reply: 'in_doubt', facts: [] };
    const why = whyOf(ask);
    const { revisions } = attempt.entry;
    const kind = 'action_in_doubt' as const;
    const body = { kind, actionId, attemptIds: [attemptId], why, revisions };
    const facts: NewFact[] = [{ source: 'history', body }, ...namedBy(ask)];
    return { reply: 'in_doubt', facts };
  };
}

/** By that name the receiver is asked from then on (K-019). */
function namedBy({ actionId, attemptId, externalId: said }: DoubtAsk): NewFact[] {
  if (!said) return [];
  const externalId = boundedWords(said, limits.idCharsMax);
  const body: BodyOf<'observation'> = {
    ...{ kind: 'observation', actionId, attemptId, externalId },
    ...{ about: 'note', verdict: null, proof: null, objectVersion: null, cost: { kind: 'none' } },
    detail: 'the receiver had named it before its result was lost',
  };
  return [{ source: 'history', body }];
}

/** Name and receipt are worth more than the words, which are cut to make room for them. */
function whyOf({ why, externalId, receiptDigest }: DoubtAsk): string {
  const name = externalId === null ? '' : boundedWords(externalId, limits.idCharsMax);
  const receipt = receiptDigest === null ? '' : boundedWords(receiptDigest, limits.labelCharsMax);
  const known = (name && `; the receiver named ${name}`) + (receipt && `; receipt ${receipt}`);
  return `${boundedWords(why, limits.noteCharsMax - known.length)}${known}`;
}

/** Closing an attempt that has not entered is always safe; one already closed stays as it is. */
export function decideClosing(ask: {
  readonly actionId: string;
  readonly attemptId: string;
}): (view: LedgerView) => Decision<'closed' | 'entered'> {
  return (view) => {
    if (view.gateRow?.kind === 'entered') return { reply: 'entered', facts: [] };
    return { reply: 'closed', ...closed(view, ask) };
  };
}

function closed(
  view: LedgerView,
  { actionId, attemptId, scheduled }: Pick<DoubtAsk, 'actionId' | 'attemptId' | 'scheduled'>,
): Omit<Decision<unknown>, 'reply'> {
  if (view.gateRow?.kind === 'closed') return { facts: [] };
  const { position = null, tool = null, payload = null } = scheduled ?? {};
  const written = refusalFacts(view, {
    ...{ actionId, attemptId, position, tool },
    verdict: 'closed_by_inquiry',
    detail: 'no gate row: it never entered, and now never can',
    payload: payload && { digest: payload.digest, bytes: payload.bytes.length },
    revisions: scheduled?.revisions ?? view.run.revisions,
  });
  return { ...written, payloads: payload === null ? [] : [payload] };
}
