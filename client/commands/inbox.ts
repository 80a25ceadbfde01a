// holdfast inbox: what waits for a person.

import { counted } from '../lines.ts';
import { outcomeLines } from '../question-text.ts';
import type { CommandContext, CommandOutput } from './command.ts';

export async function inbox({ client }: CommandContext): Promise<CommandOutput> {
  const box = await client.inbox();
  return {
    json: box,
    lines: [
      counted(box.questions.length, 'open question'),
      ...box.questions.flatMap(({ actionId, question, child }) => [
        `  ${question?.question ?? `${actionId}: its question cannot be read here`}`,
        `    since ${question?.evidence.enteredAt ?? '(not known)'}` +
          `${child === 'gone' ? ', nobody polls the receiver any more' : ''}` +
          `; see: holdfast resolve ${actionId}`,
      ]),
      ...box.disputed.flatMap(({ actionId, question }) => [
        `  ${actionId} is disputed: two outcomes contradict each other; ` +
          `see: holdfast resolve ${actionId}`,
        ...(question === null ? [] : outcomeLines(question).map((line) => `  ${line}`)),
      ]),
      ...box.twins.map(
        ({ question, actionId }) => `  ${question} see: holdfast resolve ${actionId}`,
      ),
      ...box.approvals.map(
        ({ question, actionId }) => `  ${question} see: holdfast approve ${actionId}`,
      ),
      ...box.exhausted.flatMap(({ runId, actionId, why }) => [
        `  ${actionId} waits for a top-up: ${why}`,
        `    see: holdfast state ${runId}`,
      ]),
      ...box.needResume.map((runId) => `run ${runId} needs: holdfast resume ${runId}`),
      ...(box.truncated ? ['there is more than is listed here'] : []),
    ],
    exit: 'ok',
  };
}
