// The one question a person has to answer: whether the notice went out. The demo plays that person,
// and looks where a person would: into the mail gateway's own log.

import { setTimeout as pause } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/client.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { digestOf } from '../../core/digest.ts';
import { unknownIdOf } from '../../core/ids.ts';
import type { Question } from '../../core/question.ts';
import type { Sent } from '../../receiver/index.ts';
import type { Stage } from './stage.ts';

const ASKED_MS = 60_000;
const POLL_MS = 250;

export interface Desk {
  readonly client: HoldfastClient;
  readonly runId: string;
  readonly stage: Stage;
  readonly say: (line: string) => void;
}

/** Position of the notice: the only call of the third turn. */
const NOTICE = 't3.c1';

export async function settleNotice(desk: Desk): Promise<void> {
  const { client, runId, stage, say } = desk;
  const actionId = `${runId}.${NOTICE}`;
  const question = await asked(desk, actionId);
  say(`a person is asked: ${question.question}`);
  for (const line of screens(stage, actionId)) say(line);
  const evidence = evidenceIn(await stage.notices.sent(), question);
  if (evidence === null)
    throw new Error(`the mail gateway has no notice for ${actionId}: it should have one`);
  say(`the mail gateway's log says: ${JSON.stringify(evidence)}`);
  const command = answerTo(question, evidence);
  say(`answered with: ${clientCommand(stage, resolveWords(command))}`);
  await client.resolve(runId, command);
}

async function asked({ client, runId }: Desk, actionId: string): Promise<Question> {
  for (const deadline = Date.now() + ASKED_MS; Date.now() < deadline; await pause(POLL_MS)) {
    const { questions } = await client.inbox();
    const open = questions.find((each) => each.actionId === actionId && each.child === 'open');
    const question = open === undefined ? null : await client.question(runId, actionId);
    if (question !== null) return question;
  }
  throw new Error(`nobody was asked about ${actionId} within ${ASKED_MS} ms`);
}

function screens({ temporal }: Stage, actionId: string): readonly string[] {
  if (temporal.uiUrl === null) return [];
  const child = encodeURIComponent(unknownIdOf(actionId));
  const path = `/namespaces/${temporal.namespace}/workflows/${child}`;
  return [`the same question in the Web UI: ${temporal.uiUrl}${path}`];
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

/** What a reader of this clone can copy: nothing has to be built or installed for it. */
export function clientCommand({ settings }: Pick<Stage, 'settings'>, words: string): string {
  const names = [
    'HOLDFAST_ADDRESS',
    'HOLDFAST_NAMESPACE',
    'HOLDFAST_LEDGER_URL',
    'HOLDFAST_TASK_QUEUE_PREFIX',
  ];
  const shell = names.map((name) => `${name}=${settings[name]}`);
  return `${shell.join(' ')} npx tsx client/cli.ts ${words}`;
}

function resolveWords({ actionId, actor, reason, ...command }: ResolveCommand): string {
  const source = 'evidence' in command ? command.evidence.source : '';
  return [
    `resolve ${actionId} --confirm-executed`,
    `--actor ${actor} --reason ${quoted(reason)} --evidence ${quoted(`receiver_query:${source}`)}`,
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
