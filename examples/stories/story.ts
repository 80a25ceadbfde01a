// A story: a run that meets one receiver, with what goes wrong, and the receiver's own count.

import type { Fact } from '../../core/facts.ts';
import type { Cast, StoryStage } from './stage.ts';

/** One action, and what its receiver has to show for it. */
export interface Counted {
  readonly actionId: string;
  /** In the receiver's own log. */
  readonly effects: number;
  /** What became of the doubt. */
  readonly settled: string;
}

export interface Story {
  readonly cast: Cast;
  readonly title: string;
  /** Starts the first worker itself, and the run; resolves when the run has ended. */
  play(stage: StoryStage): Promise<readonly Counted[]>;
}

export const principal = { user: 'examples', workspace: 'example' } as const;

/** How an action got its end, from the ledger: by whom, after how many attempts. */
export async function settledBy(
  { ledger, runId }: Pick<StoryStage, 'ledger' | 'runId'>,
  actionId: string,
): Promise<string> {
  const facts = await ledger.facts(runId, { after: 0, limit: 1_000 });
  const own = facts.filter(({ body }) => 'actionId' in body && body.actionId === actionId);
  const attempts = own.filter(({ body }) => body.kind === 'attempt_entered').length;
  const under = attempts === 1 ? '1 attempt' : `${attempts} attempts under one key`;
  return `${under}, settled by ${sourceOf(own)}`;
}

function sourceOf(facts: readonly Fact[]): string {
  if (facts.some(({ body }) => body.kind === 'resolution')) return 'a person';
  const told = ({ source }: Fact) => source === 'receiver_inquiry';
  const knows = ({ body }: Fact) => 'verdict' in body && body.verdict === 'executed';
  const settles = (fact: Fact) => fact.body.kind === 'attempt_settled' || knows(fact);
  return facts.some((fact) => told(fact) && settles(fact))
    ? 'asking the receiver'
    : "the receiver's reply";
}
