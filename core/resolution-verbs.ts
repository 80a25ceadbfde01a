// What each answer of a person leads to, in the words that stand beside it (rule D13).

import type { ResolutionVerb, ResolveCommand } from './commands.ts';

export const followsTable: Readonly<Record<ResolutionVerb, string>> = {
  confirm_executed: 'the effect is on record; the run goes on with it, and never sends it again',
  confirm_not_executed:
    'on record as not executed; a new attempt only where oldRequestCannotArrive is true',
  authorize_retry:
    'one more attempt of the same action, under the same key; it may be a second effect ' +
    'where the receiver does not de-duplicate',
  abandon: 'unknown for ever; never sent again, and what builds on it stays blocked',
  confirm_distinct: 'it is sent although the other one, which looks the same, is in doubt',
  settle_dispute: 'what you state holds from here on; both outcomes stay on record',
};

export function followsOf(answers: readonly ResolveCommand[]): Readonly<Record<string, string>> {
  return Object.fromEntries(answers.map(({ verb }) => [verb, followsTable[verb]]));
}
