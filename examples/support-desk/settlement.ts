// The one question a person has to answer: whether the notice went out. The demo plays that person,
// and looks where a person would: into the mail gateway's own log.

import type { HoldfastClient } from '../../client/client.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import type { Question } from '../../core/question.ts';
import type { Sent } from '../../receiver/index.ts';
import { asked, clientCommand, questionScreens, resolveWords } from './answering.ts';
import type { Stage } from './stage.ts';

export interface Desk {
  readonly client: HoldfastClient;
  readonly runId: string;
  readonly stage: Stage;
  readonly say: (line: string) => void;
}

/** Position of the notice: the only call of the third turn. */
const NOTICE = 't3.c1';

export async function settleNotice({ client, runId, stage, say }: Desk): Promise<void> {
  const actionId = `${runId}.${NOTICE}`;
  const question = await asked(client, { runId, actionId });
  say(`a person is asked: ${question.question}`);
  for (const line of questionScreens(stage, actionId)) say(line);
  const evidence = evidenceIn(await stage.notices.sent(), question);
  if (evidence === null)
    throw new Error(`the mail gateway has no notice for ${actionId}: it should have one`);
  say(`the mail gateway's log says: ${JSON.stringify(evidence)}`);
  const command = answerTo(question, evidence);
  say(`answered with: ${clientCommand(stage, resolveWords(command))}`);
  await client.resolve(runId, command);
}

/** The gateway keeps no keys: the row is recognised by what was sent. */
function evidenceIn(log: readonly Sent[], question: Question): Sent | null {
  return log.find(({ mail }) => digestOf(mail) === question.evidence.payloadDigest) ?? null;
}

function answerTo(question: Question, { seq, at }: Sent): ResolveCommand {
  const when = new Date(at).toISOString();
  const evidence = {
    kind: 'receiver_query',
    source: `mail gateway, log line ${seq}, ${when}`,
  } as const;
  return {
    ...question.if_yes,
    actor: 'ann@example.com',
    reason: 'The gateway has sent it; only its reply was lost',
    ...(question.if_yes.verb === 'confirm_executed' ? { evidence } : {}),
  };
}
