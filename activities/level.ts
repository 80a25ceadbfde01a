// The capability level shown in a question: of the tool that made the action's last attempt.

import type { Level } from '../core/contract.ts';
import type { ActionState } from '../core/run-state.ts';
import type { Registry } from './registry.ts';

/** L0 where the tool is not registered here: then nothing can be promised. */
export function levelOfAction(registry: Registry, action: ActionState): Level {
  const tool = action.attempts.at(-1)?.entry.binding.tool;
  return (tool === undefined ? undefined : registry.tools.get(tool)?.policy.level) ?? 'L0';
}
