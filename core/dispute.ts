// The outcomes that contradict each other, each with who says so, for the person who settles it.

import type { InquiryVerdict } from './fact-fields.ts';
import type { BodyOf } from './facts.ts';
import { limits } from './limits.ts';
import type { ActionState, AttemptState } from './run-state.ts';

export interface Said {
  readonly outcome: string;
  readonly source: string;
}

/** In the order of attempts, answers of the receiver, answers of people; at most a screenful. */
export function outcomesSaid(action: ActionState): readonly Said[] {
  return [
    ...action.attempts.flatMap(bySettlement),
    ...action.observations.flatMap(byObservation),
    ...action.resolutions.flatMap(byPerson),
  ].slice(-limits.outcomesShownMax);
}

function bySettlement({ attemptId, settled, settledBy }: AttemptState): Said[] {
  if (settled === null) return [];
  const outcome = named(settled.outcome, settled.externalId);
  return [{ outcome, source: `${settledBy}: attempt ${attemptId}` }];
}

const decisive: ReadonlySet<InquiryVerdict> = new Set(['executed', 'partial', 'not_executed']);

function byObservation(said: BodyOf<'observation'>): Said[] {
  if (said.verdict === null || !decisive.has(said.verdict)) return [];
  const outcome = named(said.verdict, said.externalId);
  const source = said.about === 'inquiry' ? 'receiver_inquiry' : said.about;
  return [{ outcome, source: `${source}: ${said.detail}` }];
}

/** Only who states an outcome names evidence. */
function byPerson({ verb, states, evidence, actor, externalId }: BodyOf<'resolution'>): Said[] {
  if (evidence === null) return [];
  const outcome = states ?? (verb === 'confirm_executed' ? 'executed' : 'not_executed');
  const source = `human: ${actor}, ${evidence.kind}: ${evidence.source}`;
  return [{ outcome: named(outcome, externalId), source }];
}

function named(outcome: string, externalId: string | null): string {
  return externalId === null ? outcome : `${outcome} (${externalId})`;
}
