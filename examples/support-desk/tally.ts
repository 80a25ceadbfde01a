// The count at the end: what the run meant to do (the ledger) against what happened (the receivers'
// own logs). Pure; nothing here asks the run for its opinion of itself.

import type { Digest } from '../../core/digest.ts';
import { openUnknowns } from '../../core/fact-rules.ts';
import type { Fact } from '../../core/facts.ts';
import type { RunState } from '../../core/run-state.ts';

/** One row of a receiver's log. */
export interface EffectRow {
  readonly receiver: string;
  /** As the receiver stored it; null where it keeps no keys. */
  readonly key: string | null;
  /** Digest of what it received; null where it stores only that it did. */
  readonly payload: Digest | null;
}

export interface Intent {
  readonly actionId: string;
  readonly tool: string;
  readonly receiverKey: string;
  readonly payload: Digest;
  /** The ledger says, with certainty, that there is no effect. */
  readonly excluded: boolean;
}

export interface Tally {
  /** Effects the run decided on: distinct actions that entered. */
  readonly intents: number;
  readonly effects: number;
  /** Effects beyond one per intent, and effects nobody intended. */
  readonly duplicates: number;
  /** Intents without an effect, although nothing says that there is none. */
  readonly lost: number;
  readonly settledByInquiry: number;
  readonly settledByPerson: number;
  readonly openUnknowns: number;
}

export interface TallyInput {
  readonly run: RunState;
  readonly facts: readonly Fact[];
  readonly effects: readonly EffectRow[];
}

export function tallyOf({ run, facts, effects }: TallyInput): Tally {
  const intents = intentsOf(run);
  const owners = effects.map((row) => ownerOf(row, intents)?.actionId ?? null);
  const counts = intents.map(({ actionId }) => owners.filter((owner) => owner === actionId).length);
  const surplus = counts.map((count) => Math.max(0, count - 1));
  return {
    intents: intents.length,
    effects: effects.length,
    duplicates: sum(surplus) + owners.filter((owner) => owner === null).length,
    lost: intents.filter(({ excluded }, index) => counts[index] === 0 && !excluded).length,
    settledByInquiry: actionsIn(facts, settledByReceiver),
    settledByPerson: actionsIn(facts, ({ body }) => body.kind === 'resolution'),
    openUnknowns: openUnknowns(run).length,
  };
}

export function intentsOf(run: RunState): readonly Intent[] {
  return [...run.actions.values()].flatMap(({ actionId, attempts, final }) => {
    const entry = attempts[0]?.entry;
    if (entry === undefined || entry.replay === 'safe' || entry.replay === 'rebuy') return [];
    const { receiverKey, payload, binding } = entry;
    const excluded = final?.kind === 'refused' || final?.kind === 'not_executed';
    return [{ actionId, tool: binding.tool, receiverKey, payload: payload.digest, excluded }];
  });
}

/** By key where the receiver keeps one, else by what it received. */
function ownerOf({ key, payload }: EffectRow, intents: readonly Intent[]): Intent | null {
  const owner =
    key !== null
      ? intents.find((intent) => intent.receiverKey === key)
      : intents.find((intent) => intent.payload === payload);
  return owner ?? null;
}

function settledByReceiver({ source, body }: Fact): boolean {
  if (source !== 'receiver_inquiry') return false;
  return body.kind === 'attempt_settled' || (body.kind === 'observation' && body.proof !== null);
}

function actionsIn(facts: readonly Fact[], counts: (fact: Fact) => boolean): number {
  const ids = facts.filter(counts).map(({ body }) => ('actionId' in body ? body.actionId : ''));
  return new Set(ids).size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
