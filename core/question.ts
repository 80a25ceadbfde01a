// The question about an unknown action, as the operator reads it: the single input of the child
// `unknown.<action id>`, pretty-printed by the Web UI, with complete answers to paste.

import { undecidedAttempts } from './action-status.ts';
import type { ResolveCommand } from './commands.ts';
import type { Level } from './contract.ts';
import type { Digest } from './digest.ts';
import { unknownIdOf } from './ids.ts';
import type { ActionState, RunState } from './run-state.ts';

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
  readonly evidence: {
    readonly tool: string;
    readonly receiver: string | null;
    readonly receiverKey: string;
    readonly payloadDigest: Digest;
    readonly attempts: readonly string[];
    readonly enteredAt: string;
    readonly level: Level;
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
export function questionOf(run: RunState, action: ActionState, level: Level): Question | null {
  const open = undecidedAttempts(action);
  const last = open.at(-1);
  if (last === undefined) return null;
  const { entry } = last;
  const where =
    entry.domain === null ? 'its receiver' : decodeURIComponent(entry.domain.replace(/\/.*/, ''));
  const base = {
    actor: FILL_IN,
    reason: FILL_IN,
    actionId: action.actionId,
    recordVersion: action.recordVersion,
  };
  const idOf = (answer: string) =>
    `${unknownIdOf(action.actionId)}/${action.recordVersion}/${answer}`;
  const evidence = { kind: 'receiver_query', source: FILL_IN } as const;
  return {
    question: `Did ${entry.binding.tool} (${action.actionId}) take effect at ${where}?`,
    run: run.runId,
    signal: 'resolve',
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
    evidence: {
      tool: `${entry.binding.tool} ${entry.binding.version}`,
      receiver: entry.domain,
      receiverKey: entry.receiverKey,
      payloadDigest: entry.payload.digest,
      attempts: open.map((attempt) => attempt.attemptId),
      enteredAt: new Date(last.enteredAt).toISOString(),
      level,
      why: entry.verify.why,
      doubt: last.doubtedWhy,
      lastAnswer: action.observations.at(-1)?.detail ?? null,
      authRevision: entry.revisions.auth,
    },
    action: {
      runId: run.runId,
      actionId: action.actionId,
      attemptIds: open.map((attempt) => attempt.attemptId),
    },
  };
}
