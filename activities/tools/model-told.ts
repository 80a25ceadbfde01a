// What a model hears of an action: its stored result, or words. Unknown stays unknown: it is never
// told as a failure.

import * as z from 'zod';
import { outcomeOf } from '../../core/action-status.ts';
import { digestSchema } from '../../core/digest.ts';
import type { ActionState } from '../../core/run-state.ts';

export const toldSchema = z.discriminatedUnion('kind', [
  /** The stored result of the call. */
  z.strictObject({ kind: z.literal('result'), digest: digestSchema }),
  z.strictObject({ kind: z.literal('words'), text: z.string() }),
]);
export type Told = z.infer<typeof toldSchema>;

export const toldAsLate = words('Its outcome came late, and nothing may be built on it.');

export function toldOf(action: ActionState | undefined): Told {
  if (action === undefined) return words('Not executed: it was never tried.');
  const outcome = outcomeOf(action);
  switch (outcome?.kind) {
    case 'executed':
      return { kind: 'result', digest: outcome.result.digest };
    case 'executed_result_missing':
      return words('Executed; its result is missing.');
    case 'not_executed':
      return words(`Not executed (${outcome.reason}): ${outcome.message}`);
    case 'partial': {
      const parts = outcome.parts.map(({ name, state }) => `${name}: ${state}`).join(', ');
      return words(`Executed in part: ${parts}.`);
    }
    case 'accepted':
      return words('Accepted by the receiver; not finished yet.');
    default:
      return words('Outcome unknown: it may have happened. Do not repeat it.');
  }
}

function words(text: string): Told {
  return { kind: 'words', text };
}
