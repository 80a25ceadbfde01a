// holdfast resolve: shows the question about an action that is unknown, disputed or held back by a
// twin, or answers it.

import {
  type ResolutionVerb,
  type ResolveCommand,
  resolveSchema,
  type StatedOutcome,
} from '../../core/commands.ts';
import { unknownIdOf } from '../../core/ids.ts';
import { distinctTo } from '../../core/paste.ts';
import { ClientError } from '../errors.ts';
import { checked, jsonFrom } from '../goal.ts';
import { answerLines, distinctLines, questionLines, sentLines } from '../question-text.ts';
import { type ResolveReply, runOf } from '../resolution.ts';
import type { CommandContext, CommandOutput } from './command.ts';

export interface ResolveFlags {
  readonly confirmExecuted?: boolean;
  readonly confirmNotExecuted?: boolean;
  readonly authorizeRetry?: boolean;
  readonly abandon?: boolean;
  /** The action in doubt that looks the same. */
  readonly confirmDistinct?: string;
  readonly settleDispute?: StatedOutcome;
  readonly actor?: string;
  readonly reason?: string;
  readonly evidence?: string;
  readonly detail?: string;
  readonly coverage?: string;
  readonly externalId?: string;
  readonly result?: string;
  readonly oldRequestCannotArrive?: boolean;
  readonly acceptPossibleDuplicate?: boolean;
  readonly recordVersion?: number;
  readonly id?: string;
  readonly jsonCommand?: string;
  readonly update?: boolean;
}

const verbs = [
  { flag: 'confirmExecuted', verb: 'confirm_executed', short: 'yes' },
  { flag: 'confirmNotExecuted', verb: 'confirm_not_executed', short: 'no' },
  { flag: 'authorizeRetry', verb: 'authorize_retry', short: 'retry' },
  { flag: 'abandon', verb: 'abandon', short: 'abandon' },
  { flag: 'confirmDistinct', verb: 'confirm_distinct', short: 'distinct' },
  { flag: 'settleDispute', verb: 'settle_dispute', short: 'settled' },
] as const satisfies readonly { flag: keyof ResolveFlags; verb: ResolutionVerb; short: string }[];

export async function resolve(
  context: CommandContext,
  actionId: string,
  flags: ResolveFlags,
): Promise<CommandOutput> {
  const runId = runOf(actionId);
  const command = await commandFrom(context, { runId, actionId }, flags);
  if (command === null) return shown(context, runId, actionId);
  const by = flags.update === true ? 'update' : 'signal';
  return answered(await context.client.resolve(runId, command, { by }), command);
}

async function shown(
  { client }: CommandContext,
  runId: string,
  actionId: string,
): Promise<CommandOutput> {
  const question = await client.question(runId, actionId);
  if (question === null) return shownTwin(client, runId, actionId);
  const sent = await client.sent(question);
  return {
    json: { ...question, sent },
    lines: [...questionLines(question), ...sentLines(sent), ...answerLines(question)],
    exit: 'ok',
  };
}

async function shownTwin(
  client: CommandContext['client'],
  runId: string,
  actionId: string,
): Promise<CommandOutput> {
  const question = await client.distinction(runId, actionId);
  if (question === null) throw noQuestion(actionId);
  const sent = await client.sent(question);
  const lines = distinctLines(question, sentLines(sent, 'to be sent'));
  return { json: { ...question, sent }, lines, exit: 'ok' };
}

function noQuestion(actionId: string): ClientError {
  return new ClientError(
    'question_not_found',
    `nothing is asked about ${actionId}: it is settled, or there is no such action; ` +
      `see: holdfast state ${runOf(actionId)}`,
  );
}

/** Null: no answer was given, so the question is wanted. */
async function commandFrom(
  context: CommandContext,
  ids: { readonly runId: string; readonly actionId: string },
  flags: ResolveFlags,
): Promise<ResolveCommand | null> {
  const chosen = verbs.filter(({ flag }) => flags[flag] !== undefined);
  const [verb, second] = chosen;
  if (flags.jsonCommand !== undefined) {
    const others = Object.keys(flags).filter((key) => !['jsonCommand', 'update'].includes(key));
    if (others.length > 0)
      throw new ClientError(
        'bad_input',
        '--json-command is the whole answer; drop the other flags',
      );
    return jsonCommand(context, ids.actionId, flags.jsonCommand);
  }
  if (second !== undefined)
    throw new ClientError('bad_input', 'give one of the answers, not two that contradict');
  if (verb !== undefined) return flagCommand(context, { ...ids, ...verb }, flags);
  if (Object.keys(flags).length > 0)
    throw new ClientError(
      'bad_input',
      'say which answer: --confirm-executed, --confirm-not-executed, --authorize-retry, ' +
        '--abandon, --confirm-distinct, --settle-dispute',
    );
  return null;
}

async function jsonCommand(
  { read }: CommandContext,
  actionId: string,
  path: string,
): Promise<ResolveCommand> {
  const blame = { code: 'bad_input', what: `the answer in ${path}` } as const;
  const command = checked(resolveSchema, jsonFrom(await read(path), blame), blame);
  if (command.actionId !== actionId)
    throw new ClientError(
      'bad_input',
      `the answer in ${path} is about ${command.actionId}, not about ${actionId}`,
    );
  return command;
}

interface Chosen {
  readonly runId: string;
  readonly actionId: string;
  readonly verb: ResolutionVerb;
  readonly short: string;
}

async function flagCommand(
  context: CommandContext,
  { runId, actionId, verb, short }: Chosen,
  flags: ResolveFlags,
): Promise<ResolveCommand> {
  const recordVersion =
    flags.recordVersion ?? (await versionOf(context, { runId, actionId, verb }));
  const blame = { code: 'bad_input', what: `the answer about ${actionId}` } as const;
  const given = {
    id: flags.id ?? idOf(actionId, { recordVersion, short, flags }),
    actor: flags.actor,
    reason: flags.reason,
    actionId,
    recordVersion,
    verb,
    evidence: evidenceFrom(flags),
    distinctFrom: flags.confirmDistinct,
    states: flags.settleDispute,
    coverage: flags.coverage,
    externalId: flags.externalId,
    result:
      flags.result === undefined
        ? undefined
        : jsonFrom(await context.read(flags.result), {
            ...blame,
            what: `the result in ${flags.result}`,
          }),
    oldRequestCannotArrive:
      verb === 'confirm_not_executed'
        ? flags.oldRequestCannotArrive === true
        : flags.oldRequestCannotArrive,
    acceptsPossibleDuplicate:
      verb === 'authorize_retry'
        ? flags.acceptPossibleDuplicate === true
        : flags.acceptPossibleDuplicate,
  };
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return checked(resolveSchema, Object.fromEntries(stated), blame);
}

interface Answering {
  readonly recordVersion: number;
  readonly short: string;
  readonly flags: ResolveFlags;
}

/** As the question proposes it: the same answer again counts once. */
function idOf(actionId: string, { recordVersion, short, flags }: Answering): string {
  const { confirmDistinct, settleDispute } = flags;
  if (confirmDistinct !== undefined) return distinctTo(actionId, confirmDistinct, recordVersion).id;
  const answer = settleDispute === undefined ? short : answerTo[settleDispute];
  return `${unknownIdOf(actionId)}/${recordVersion}/${answer}`;
}

const answerTo = { executed: 'yes', not_executed: 'no' } as const;

/** The version the person has looked at is better than the newest one: name it with the flag. */
async function versionOf(
  { client }: CommandContext,
  { runId, actionId, verb }: Pick<Chosen, 'runId' | 'actionId' | 'verb'>,
): Promise<number> {
  if (verb === 'confirm_distinct') {
    const asked = await client.distinction(runId, actionId);
    if (asked === null) throw noQuestion(actionId);
    return asked.answer.recordVersion;
  }
  const question = await client.question(runId, actionId);
  if (question === null) throw noQuestion(actionId);
  return question.if_yes.recordVersion;
}

function evidenceFrom({ evidence, detail }: ResolveFlags): object | undefined {
  if (evidence === undefined && detail === undefined) return undefined;
  const colon = (evidence ?? '').indexOf(':');
  if (evidence === undefined || colon < 1)
    throw new ClientError(
      'bad_input',
      '--evidence is kind:source, e.g. "receiver_query:GET /charges?key=…"; kinds: ' +
        'receiver_query, object_observation, human_attestation',
    );
  return {
    kind: evidence.slice(0, colon),
    source: evidence.slice(colon + 1).trim(),
    ...(detail === undefined ? {} : { detail }),
  };
}

function answered(reply: ResolveReply, command: ResolveCommand): CommandOutput {
  const { actionId, by, answer } = reply;
  const json = { ...reply, commandId: command.id, recordVersion: command.recordVersion };
  const about = `${command.verb} for ${actionId} (record version ${command.recordVersion})`;
  if (answer === null)
    return {
      json,
      lines: [`${about} was sent as a signal`, `what became of it: holdfast resolve ${actionId}`],
      exit: 'ok',
    };
  const why = answer.why === null ? '' : `: ${answer.why}`;
  return {
    json,
    lines: [`${about}: ${answer.what}${why}${by === 'ledger' ? ', written to the ledger' : ''}`],
    exit: answer.what === 'applied' || answer.what === 'duplicate' ? 'ok' : 'refused',
  };
}
