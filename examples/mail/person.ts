// The person of the example: is asked whether a mail went out, looks it up in the gateway's own log
// by its Message-ID, and says what is there, no more.

import type { ResolveCommand } from '../../core/commands.ts';
import type { Question } from '../../core/question.ts';
import type { Sent } from '../../receiver/index.ts';
import type { StoryStage } from '../stories/stage.ts';
import { asked, clientCommand, questionScreens, resolveWords } from '../support-desk/answering.ts';
import type { ServiceProcess } from '../support-desk/receivers.ts';
import { messageIdOf } from './tools.ts';

/** The gateway's log lines that carry this Message-ID. */
export async function mailsWith(
  gateway: Pick<ServiceProcess, 'get'>,
  messageId: string,
): Promise<readonly Sent[]> {
  const { log } = await gateway.get<{ log: Sent[] }>('/log');
  return log.filter(({ mail }) => (mail as { message_id?: string }).message_id === messageId);
}

export async function lookItUp(stage: StoryStage, actionId: string): Promise<Question> {
  const { client, receiver, runId, say } = stage;
  const question = await asked(client, { runId, actionId });
  say(`a person is asked: ${question.question}`);
  for (const line of questionScreens(stage, actionId)) say(line);
  const messageId = messageIdOf(question.evidence.receiverKey);
  const [line] = await mailsWith(receiver, messageId);
  say(`the gateway's log has ${line === undefined ? 'no line' : `line ${line.seq}`}: ${messageId}`);
  const answer = line === undefined ? no(question, messageId) : yes(question, messageId, line);
  say(`answered with: ${clientCommand(stage, resolveWords(answer))}`);
  await client.resolve(runId, answer);
  return question;
}

const actor = 'ann@example.com';

function yes({ if_yes }: Question, messageId: string, { seq }: Sent): ResolveCommand {
  const source = `gateway log, line ${seq}: ${messageId}`;
  const reason = 'The gateway has sent it; only its reply was lost';
  return {
    ...if_yes,
    actor,
    reason,
    evidence: { kind: 'receiver_query', source },
  } as ResolveCommand;
}

/** Only whoever knows why nothing can come any more may say so: here, that nobody is left to. */
function no({ if_no }: Question, messageId: string): ResolveCommand {
  return {
    ...if_no,
    ...{ actor, reason: 'The gateway has never seen it' },
    evidence: { kind: 'receiver_query', source: `gateway log, whole, without ${messageId}` },
    coverage: 'all attempts: their worker process is gone, and nothing stands before the gateway',
    oldRequestCannotArrive: true,
  } as ResolveCommand;
}
