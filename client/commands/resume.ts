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
  const { actor, reason, id } = flags;
  const given = [flags.plan, flags.goal, flags.user, flags.workspace].some((f) => f !== undefined);
  const handle = await context.client.resume(runId, {
    actor,
    reason,
    ...(id === undefined ? {} : { id }),
    ...(given ? { start: await startFrom(context, flags) } : {}),
  });
  return followed(context, handle, flags.wait === true);
}
