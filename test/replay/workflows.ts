// What the recorded histories ran through, and are replayed on for ever: the workflows of the
// project and one of the kind that users write.

import { sleep } from '@temporalio/workflow';
import { agentRun, holdfast } from '../../workflows/index.ts';
import type { AgentRunInput } from '../../workflows/messages.ts';
import type { ReplayTools } from './tools.ts';

export { agentRun, unknownAction } from '../../workflows/index.ts';

export interface Invoice {
  readonly title: string;
  readonly cents: number;
}

/** Its second step is independent of the first, and goes on although nobody knows about that. */
export const invoice = holdfast<ReplayTools>().run(
  async ({ act }, { title, cents }: Invoice): Promise<string> => {
    const input = { account: 'u7', amount: cents };
    const charged = await act('credit', input, { name: 'charge', onUnknown: 'continue' });
    const opened = await act('open_ticket', { subject: title }, { onUnknown: 'continue' });
    return `${charged.kind}, ${opened.kind}`;
  },
);

/** What a deployed version must not become: the same workflow with one command more. */
export async function agentRunAfterPause(input: AgentRunInput) {
  await sleep(1);
  return agentRun(input);
}
