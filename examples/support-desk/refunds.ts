// The other task of the desk, in which people decide: a refund that asks for approval, and a budget
// of model calls that does not reach to the end. The worker is the one of the demo.

import { setTimeout as pause } from 'node:timers/promises';
import type { GoalStart } from '../../client/start-request.ts';
import { clientCommand } from './answering.ts';
import type { Desk } from './settlement.ts';

const POLL_MS = 500;

export const refundTask = {
  goal:
    'Pay the refunds that customers ask for in the support mails, ' +
    'and send one notice to the support lead.',
  principal: { user: 'support-bot', workspace: 'example' },
  /** It takes four: reading, the refunds, the notice, the last words. */
  budget: { requests: 2 },
} as const satisfies GoalStart;

/** Starts the run and says what it waits for, as often as somebody has to decide. */
export async function payRefunds(desk: Desk): Promise<void> {
  const { client, runId, say } = desk;
  await client.start(runId, refundTask);
  say(`run ${runId} is started; what it waits for is for you to decide`);
  const told = new Set<string>();
  let isOver = false;
  const result = client.result(runId).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const line of await waitingLines(desk, told)) say(line);
    await Promise.race([result, pause(POLL_MS)]);
  }
  const { end, effectsCount } = await result;
  say(`the run's own word: ${end.kind}, with ${effectsCount} effects`);
}

async function waitingLines(desk: Desk, told: Set<string>): Promise<readonly string[]> {
  const { client, runId } = desk;
  const { approvals, exhausted } = await client.inbox();
  const asked = approvals.map(({ run, actionId, question }) => ({
    ...{ run, actionId, what: question },
    command: `approve ${actionId}`,
  }));
  const empty = exhausted.map(({ runId: run, actionId, why }) => ({
    ...{ run, actionId, what: `${actionId} waits for a top-up: ${why}` },
    command: `top-up ${run} --requests 2`,
  }));
  const news = [...asked, ...empty].filter(
    ({ run, actionId }) => run === runId && !told.has(actionId),
  );
  for (const { actionId } of news) told.add(actionId);
  return news.flatMap(({ what, command }) => [what, ...waysOf(desk, command)]);
}

function waysOf({ stage, runId }: Desk, command: string): readonly string[] {
  const { uiUrl, namespace } = stage.temporal;
  const path = `/namespaces/${namespace}/workflows/${encodeURIComponent(runId)}`;
  const words = `${command} --actor ann@example.com --reason 'looked at the mail'`;
  return [
    ...(uiUrl === null ? [] : [`in the Web UI, tab User Metadata: ${uiUrl}${path}`]),
    `or: ${clientCommand(stage, words)}`,
  ];
}
