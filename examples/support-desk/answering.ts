// How a person meets a question in the examples: waits until it is open, is told where it is seen,
// and answers in words that a reader can copy.

import { setTimeout as pause } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/client.ts';
import type { ResolveCommand } from '../../core/commands.ts';
import { unknownIdOf } from '../../core/ids.ts';
import type { Question } from '../../core/question.ts';
import type { TemporalPlace } from './place.ts';

const ASKED_MS = 60_000;
const POLL_MS = 250;

/** The question as a person sees it, once its child is open. */
export async function asked(
  client: HoldfastClient,
  { runId, actionId }: { readonly runId: string; readonly actionId: string },
): Promise<Question> {
  for (const deadline = Date.now() + ASKED_MS; Date.now() < deadline; await pause(POLL_MS)) {
    const { questions } = await client.inbox();
    const open = questions.find((each) => each.actionId === actionId && each.child === 'open');
    const question = open === undefined ? null : await client.question(runId, actionId);
    if (question !== null) return question;
  }
  throw new Error(`nobody was asked about ${actionId} within ${ASKED_MS} ms`);
}

export function questionScreens(
  { temporal }: { readonly temporal: TemporalPlace },
  actionId: string,
): readonly string[] {
  if (temporal.uiUrl === null) return [];
  const child = encodeURIComponent(unknownIdOf(actionId));
  const path = `/namespaces/${temporal.namespace}/workflows/${child}`;
  return [`the same question in the Web UI: ${temporal.uiUrl}${path}`];
}

/** What a reader of this clone can copy: nothing has to be built or installed for it. */
export function clientCommand(
  { settings }: { readonly settings: Readonly<Record<string, string>> },
  words: string,
): string {
  const names = [
    'HOLDFAST_ADDRESS',
    'HOLDFAST_NAMESPACE',
    'HOLDFAST_LEDGER_URL',
    'HOLDFAST_TASK_QUEUE_PREFIX',
  ];
  const shell = names.map((name) => `${name}=${settings[name]}`);
  return `${shell.join(' ')} npx tsx client/cli.ts ${words}`;
}

/** Of the answers that say what became of it. */
export function resolveWords({ actionId, actor, reason, ...command }: ResolveCommand): string {
  const evidence = 'evidence' in command ? command.evidence : { kind: '', source: '' };
  const yes = command.verb === 'confirm_executed';
  return [
    `resolve ${actionId} --confirm-${yes ? 'executed' : 'not-executed'}`,
    `--actor ${actor} --reason ${quoted(reason)}`,
    `--evidence ${quoted(`${evidence.kind}:${evidence.source}`)}`,
    ...(command.verb === 'confirm_not_executed' ? [`--coverage ${quoted(command.coverage)}`] : []),
    ...('oldRequestCannotArrive' in command && command.oldRequestCannotArrive
      ? ['--old-request-cannot-arrive']
      : []),
  ].join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
