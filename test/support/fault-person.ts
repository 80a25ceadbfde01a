// The person of the fault tests: looks at the gateway's own log and says what is there, no more.

import type { HoldfastClient } from '../../client/client.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import type { Question } from '../../core/question.ts';
import { asked, type FaultStage } from './fault-stage.ts';

/** Waits until somebody is asked about the action, looks, and answers. */
export async function answerTruly(stage: FaultStage, actionId: string): Promise<Question> {
  const question = await asked(stage.client, actionId);
  const log = await stage.gateway.log();
  const row = log.find(({ mail }) => digestOf(mail) === question.evidence.payloadDigest);
  const [answer, source] =
    row === undefined
      ? (['no', 'gateway log, whole'] as const)
      : (['yes', `gateway log, line ${row.seq}`] as const);
  await answerAs(stage.client, question, answer, source);
  return question;
}

/** `source`: where the person has looked. */
export async function answerAs(
  client: HoldfastClient,
  { run, if_yes, if_no }: Question,
  answer: 'yes' | 'no',
  source: string,
): Promise<void> {
  const filled = {
    actor: 'ann@example.com',
    reason: `looked it up: ${answer}`,
    evidence: { kind: 'receiver_query', source },
  };
  const command =
    answer === 'yes'
      ? { ...if_yes, ...filled }
      : {
          ...if_no,
          ...filled,
          coverage: 'all attempts; their worker is gone and the gateway has no queue',
          oldRequestCannotArrive: true,
        };
  await client.resolve(run, command as ResolveCommand);
}
