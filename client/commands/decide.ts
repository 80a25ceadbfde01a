// holdfast approve, holdfast deny: shows what an action waits to be allowed to do, or decides it.

import { type ApprovalCommand, approvalSchema } from '../../core/commands.ts';
import { approvalTo } from '../../core/paste.ts';
import { approvalLines } from '../approval-text.ts';
import type { ApprovalQuestion } from '../approvals.ts';
import { ClientError } from '../errors.ts';
import { checked } from '../goal.ts';
import { sentLines } from '../question-text.ts';
import { runOf } from '../resolution.ts';
import { changed, howOf } from './authority.ts';
import type { CommandContext, CommandOutput } from './command.ts';

export interface DecideFlags {
  readonly actor?: string;
  readonly reason?: string;
  readonly bound?: string;
  readonly id?: string;
  readonly update?: boolean;
}

export const approve = deciding('approve');
export const deny = deciding('deny');

function deciding(verb: 'approve' | 'deny') {
  return async (
    context: CommandContext,
    actionId: string,
    flags: DecideFlags,
  ): Promise<CommandOutput> => {
    const runId = runOf(actionId);
    const question = await context.client.approval(runId, actionId);
    if (Object.keys(flags).length === 0) return shown(context, question ?? nothingAsked(actionId));
    const command = commandFrom(actionId, question, flags);
    const reply = await context.client[verb](runId, command, howOf(flags));
    return changed(verb, { reply, commandId: command.id, subject: actionId });
  };
}

async function shown(
  { client }: CommandContext,
  question: ApprovalQuestion,
): Promise<CommandOutput> {
  const sent = await client.sent(question);
  return {
    json: { ...question, sent },
    lines: approvalLines(question, sentLines(sent, 'to be sent')),
    exit: 'ok',
  };
}

function nothingAsked(actionId: string): never {
  throw new ClientError(
    'question_not_found',
    `nothing of ${actionId} waits for an approval: it was decided on, or it does not ask; ` +
      `see: holdfast state ${runOf(actionId)}`,
  );
}

/** What the person has looked at is better than the newest: name it with `--bound`. */
function commandFrom(
  actionId: string,
  question: ApprovalQuestion | null,
  { actor, reason, bound, id }: DecideFlags,
): ApprovalCommand {
  const asked = question?.answer;
  const looked = bound ?? (asked ?? nothingAsked(actionId)).bound;
  const proposed = asked?.bound === looked ? asked.id : approvalTo(actionId, looked).id;
  const given = { id: id ?? proposed, actor, reason, actionId, bound: looked };
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  const blame = { code: 'bad_input', what: `the decision on ${actionId}` } as const;
  return checked(approvalSchema, Object.fromEntries(stated), blame);
}
