// The question about an action that is unknown or disputed, as the operator reads it: the single
// input of the child `unknown.<action id>`, pretty-printed by the Web UI, with complete answers to
// paste.

import { undecidedAttempts } from './action-status.ts';
import type { ResolveCommand } from './commands.ts';
import type { Level } from './contract.ts';
import type { Digest } from './digest.ts';
import { outcomesSaid, type Said } from './dispute.ts';
import type { Marks } from './fact-fields.ts';
import { unknownIdOf } from './ids.ts';
import type { Promised } from './promised.ts';
import { followsOf } from './resolution-verbs.ts';
import type { ActionState, AttemptState, RunState } from './run-state.ts';

export interface Question {
  /** One sentence: did what, where, happen? */
  readonly question: string;
  readonly run: string;
  /** Name of the signal (or update) that carries the answer. */
  readonly signal: 'resolve';
  readonly if_yes: ResolveCommand;
  readonly if_no: ResolveCommand;
  /** Further answers: retry, abandon. */
  readonly more: readonly ResolveCommand[];
  /** What each answer leads to, by its verb; questions of earlier versions do not say. */
  readonly follows?: Readonly<Record<string, string>> | undefined;
  /** Of a dispute: the outcomes that contradict each other, and who says so. */
  readonly outcomes?: readonly Said[] | undefined;
  readonly evidence: {
    readonly tool: string;
    readonly receiver: string | null;
    readonly receiverKey: string;
    readonly payloadDigest: Digest;
    readonly attempts: readonly string[];
    readonly enteredAt: string;
    readonly level: Level;
    /** Whether the receiver closes the door for old requests, and heeds send tokens. */
    readonly closing?: Promised['closing'] | undefined;
    readonly fencing?: Promised['fencing'] | undefined;
    /** Until then the same key may be sent again; null: no key is kept. */
    readonly resendUntil?: string | null | undefined;
    /** Tools that could undo its effect. */
    readonly compensation?: readonly string[] | undefined;
    /** By what the effect of the newest attempt can be recognised, where it has said so. */
    readonly marks?: Marks | undefined;
    readonly why: string;
    /** Why the newest attempt is in doubt, with what is known of a result that was not stored. */
    readonly doubt: string | null;
    readonly lastAnswer: string | null;
    readonly authRevision: number;
  };
  readonly action: {
    readonly runId: string;
    readonly actionId: string;
    readonly attemptIds: readonly string[];
  };
}

const FILL_IN = 'FILL IN';

/** Null while nothing of the action is undecided. Pure: run, activity and CLI build the same. */
export function questionOf(
  run: RunState,
  action: ActionState,
  promised: Promised,
): Question | null {
  const open = undecidedAttempts(action);
  const last = open.at(-1) ?? (action.disputed ? action.attempts.at(-1) : undefined);
  if (last === undefined) return null;
  const { tool } = last.entry.binding;
  const { actionId } = action;
  const asks = action.disputed
    ? `Two outcomes of ${tool} (${actionId}) contradict each other: did it take effect at`
    : `Did ${tool} (${actionId}) take effect at`;
  const answers = action.disputed ? answersToDispute(action) : answersToUnknown(action);
  return {
    question: `${asks} ${whereOf(last)}?`,
    run: run.runId,
    signal: 'resolve',
    ...answers,
    follows: followsOf([answers.if_yes, answers.if_no, ...answers.more]),
    ...(action.disputed ? { outcomes: outcomesSaid(action) } : {}),
    evidence: evidenceOf(action, last, { promised, open }),
    action: { runId: run.runId, actionId, attemptIds: open.map(({ attemptId }) => attemptId) },
  };
}

function whereOf({ entry: { domain } }: AttemptState): string {
  return domain === null ? 'its receiver' : decodeURIComponent(domain.replace(/\/.*/, ''));
}

type Answers = Pick<Question, 'if_yes' | 'if_no' | 'more'>;

const evidence = { kind: 'receiver_query', source: FILL_IN } as const;

function partsOf({ actionId, recordVersion }: ActionState) {
  return {
    base: { actor: FILL_IN, reason: FILL_IN, actionId, recordVersion },
    idOf: (answer: string) => `${unknownIdOf(actionId)}/${recordVersion}/${answer}`,
  };
}

function answersToUnknown(action: ActionState): Answers {
  const { base, idOf } = partsOf(action);
  return {
    if_yes: { ...base, id: idOf('yes'), verb: 'confirm_executed', evidence },
    if_no: {
      ...base,
      id: idOf('no'),
      verb: 'confirm_not_executed',
      evidence,
      coverage: FILL_IN,
      oldRequestCannotArrive: false,
    },
    more: [
      { ...base, id: idOf('retry'), verb: 'authorize_retry', acceptsPossibleDuplicate: false },
      { ...base, id: idOf('abandon'), verb: 'abandon' },
    ],
  };
}

function answersToDispute(action: ActionState): Answers {
  const { base, idOf } = partsOf(action);
  const verb = 'settle_dispute';
  return {
    if_yes: { ...base, id: idOf('yes'), verb, states: 'executed', evidence },
    if_no: { ...base, id: idOf('no'), verb, states: 'not_executed', evidence },
    more: [],
  };
}

interface About {
  readonly promised: Promised;
  readonly open: readonly AttemptState[];
}

function evidenceOf(
  { attempts, observations }: ActionState,
  { entry, enteredAt, prepared, doubtedWhy }: AttemptState,
  { promised, open }: About,
): Question['evidence'] {
  // Of the first attempt: from then on the receiver keeps the key.
  const until = attempts[0]?.entry.resendUntil ?? null;
  const { compensation } = entry;
  return {
    tool: `${entry.binding.tool} ${entry.binding.version}`,
    receiver: entry.domain,
    receiverKey: entry.receiverKey,
    payloadDigest: entry.payload.digest,
    attempts: (open.length > 0 ? open : attempts).map(({ attemptId }) => attemptId),
    enteredAt: new Date(enteredAt).toISOString(),
    ...promised,
    resendUntil: until === null ? null : new Date(until).toISOString(),
    ...(compensation === undefined ? {} : { compensation }),
    ...(prepared === null ? {} : { marks: prepared }),
    why: entry.verify.why,
    doubt: doubtedWhy,
    lastAnswer: observations.findLast(({ about }) => about !== 'note')?.detail ?? null,
    authRevision: entry.revisions.auth,
  };
}
