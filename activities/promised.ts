// What the receiver promises, as a question shows it: of the tool that made the action's last
// attempt.

import { type Promised, promisedBy } from '../core/promised.ts';
import type { ActionState } from '../core/run-state.ts';
import type { Registry } from './registry.ts';

/** Nothing where the tool is not registered here. */
export function promisedOf({ tools }: Registry, action: ActionState): Promised {
  const tool = action.attempts.at(-1)?.entry.binding.tool;
  return promisedBy(tool === undefined ? undefined : tools.get(tool)?.policy);
}
