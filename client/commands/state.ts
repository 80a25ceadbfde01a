// holdfast state: what is known about a run.

import { viewLines } from '../run-text.ts';
import type { CommandContext, CommandOutput } from './command.ts';

export async function state({ client }: CommandContext, runId: string): Promise<CommandOutput> {
  const view = await client.state(runId);
  return { json: view, lines: viewLines(view), exit: 'ok' };
}
