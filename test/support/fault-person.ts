// The person of the fault tests: looks at the gateway's own log and says what is there, nothing else.

import type { ResolveCommand } from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import type { Question } from '../../core/question.ts';
import { asked, type FaultStage } from './fault-stage.ts';

const actor = 'ann@example.com';

/** Waits until somebody is asked about the action, looks, and answers. */
export async function answerTruly(stage: FaultStage, actionId: string): Promise<Question> {
  const question = await asked(stage.client, actionId);
  const log = await stage.gateway.log();
  const row = log.find(({ mail }) => digestOf(mail) === question.evidence.payloadDigest);
  await stage.client.resolve(
    question.run,
    row === undefined ? no(question) : yes(question, row.seq),
  );
  return question;
}

function yes({ if_yes }: Question, line: number): ResolveCommand {
  const evidence = { kind: 'receiver_query', source: `gateway log, line ${line}` } as const;
  return { ...if_yes, actor, reason: 'it is in the log', ...{ evidence } } as ResolveCommand;
}

function no({ if_no }: Question): ResolveCommand {
  const evidence = { kind: 'receiver_query', source: 'gateway log, whole' } as const;
  return {
    ...if_no,
    actor,
    reason: 'it is not in the log',
    ...{ evidence },
    coverage: 'all attempts; their worker is gone and the gateway has no queue',
    oldRequestCannotArrive: true,
  } as ResolveCommand;
}
