// holdfast resume: takes over a run whose workflow is closed without a recorded end.

import type { CommandContext, CommandOutput } from './command.ts';
import { followed, type RunFlags, startFrom } from './run.ts';

export interface ResumeFlags extends RunFlags {
  readonly actor: string;
  readonly reason: string;
  readonly id?: string;
}

export async function resume(
  context: CommandContext,
  runId: string,
  flags: ResumeFlags,
): Promise<CommandOutput> {
  const { actor, reason, id, wait: _wait, ...start } = flags;
  const given = Object.keys(start).length > 0;
  const handle = await context.client.resume(runId, {
    actor,
    reason,
    ...(id === undefined ? {} : { id }),
    ...(given ? { start: await startFrom(context, start) } : {}),
  });
  return followed(context, handle, flags.wait === true);
}
