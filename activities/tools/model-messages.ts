// From a stored context to the messages of a model request: replies and results by their digests,
// call pairs by our own ids, because providers repeat theirs or leave them empty.

import type { ModelMessage } from 'ai';
import * as z from 'zod';
import type { Digest, Json } from '../../core/digest.ts';
import { payloadRefSchema } from '../../core/fact-fields.ts';
import type { EarlierGoal, ModelContext } from './model-context.ts';
import type { Told } from './model-told.ts';

const provider = z.json().nullable();

/** A model's reply as it is stored. Inputs of calls are payloads of their own. */
const modelReplySchema = z.strictObject({
  text: z.string(),
  finish: z.string(),
  parts: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('text'), text: z.string(), provider }),
      z.strictObject({ kind: z.literal('reasoning'), text: z.string(), provider }),
      z.strictObject({
        kind: z.literal('call'),
        callId: z.string(),
        tool: z.string(),
        input: payloadRefSchema,
        provider,
      }),
    ]),
  ),
});
export type ModelReply = z.infer<typeof modelReplySchema>;

/** Throws naming the digest when the payload is not there (erased, or another ledger). */
export type PayloadReader = (digest: Digest) => Promise<Json>;

const goalSchema = z.object({ instructions: z.string() });
const planSchema = z.object({ kind: z.literal('plan') });

const RULES = [
  'You work through a task by calling tools; answer without a call when it is done.',
  'A call whose outcome is told as unknown may have happened: never repeat it, go on without it.',
].join('\n');

const CHANGED = [
  'The goal was changed. What was asked above no longer holds: of it, do nothing any more that is',
  'not done yet. What was done stays done and is not undone. The goal now:',
].join('\n');

export async function messagesOf(
  context: ModelContext,
  read: PayloadReader,
): Promise<{ system: string; messages: ModelMessage[] }> {
  const messages: ModelMessage[] = [];
  for (const earlier of context.earlier ?? [])
    messages.push(...(await earlierMessages(earlier, read)), note(CHANGED));
  const goal = goalSchema.parse(await read(context.goal));
  messages.push(note(goal.instructions), ...(await turnsMessages(context.turns, read)));
  if (context.repliesMissing > 0)
    messages.push(
      note(
        `${context.repliesMissing} earlier request(s) of this turn went out and the reply is ` +
          'missing. Nothing of it was used; decide anew.',
      ),
    );
  return { system: RULES, messages };
}

async function earlierMessages(
  { goal, turns, steps }: EarlierGoal,
  read: PayloadReader,
): Promise<ModelMessage[]> {
  const told = await read(goal);
  if (planSchema.safeParse(told).success) return [note(await planWords(steps, read))];
  return [note(goalSchema.parse(told).instructions), ...(await turnsMessages(turns, read))];
}

/** Steps that never came to the gate are not named: nobody is to take them for tasks. */
async function planWords(steps: EarlierGoal['steps'], read: PayloadReader): Promise<string> {
  const lines = ['The task was a plan of steps. What is known of those that were tried:'];
  for (const { position, tool, input, told } of steps) {
    const given = input === null ? '' : ` ${JSON.stringify(await read(input))}`;
    const came =
      told.kind === 'words' ? told.text : `Executed: ${JSON.stringify(await read(told.digest))}`;
    lines.push(`- ${position}: ${tool}${given}. ${came}`);
  }
  if (steps.length === 0) lines.push('none');
  return lines.join('\n');
}

async function turnsMessages(
  turns: ModelContext['turns'],
  read: PayloadReader,
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [];
  for (const turn of turns) {
    if (turn.reply === null) messages.push(note(`The reply of turn ${turn.turn} is missing.`));
    else messages.push(...(await turnMessages(turn.reply, turn.calls, read)));
  }
  return messages;
}

async function turnMessages(
  reply: Digest,
  calls: ModelContext['turns'][number]['calls'],
  read: PayloadReader,
): Promise<ModelMessage[]> {
  const { parts } = modelReplySchema.parse(await read(reply));
  const content: Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string> = [];
  const results: Extract<ModelMessage, { role: 'tool' }>['content'] = [];
  for (const part of parts) {
    const options = part.provider === null ? {} : { providerOptions: part.provider as never };
    if (part.kind !== 'call') {
      content.push({ type: part.kind, text: part.text, ...options });
      continue;
    }
    const call = calls[results.length];
    if (call === undefined) throw new Error(`reply ${reply} has more calls than were recorded`);
    const pair = { toolCallId: toolCallIdOf(call.position), toolName: part.tool };
    const input = await read(part.input.digest);
    content.push({ type: 'tool-call', ...pair, input, ...options });
    results.push({ type: 'tool-result', ...pair, output: await outputOf(call.told, read) });
  }
  const said: ModelMessage[] = content.length === 0 ? [] : [{ role: 'assistant', content }];
  return results.length === 0 ? said : [...said, { role: 'tool', content: results }];
}

async function outputOf(told: Told, read: PayloadReader) {
  if (told.kind === 'words') return { type: 'text' as const, value: told.text };
  return { type: 'json' as const, value: (await read(told.digest)) as never };
}

/** `call_t3_c1`: letters every provider takes. */
function toolCallIdOf(position: string): string {
  return `call_${position.replaceAll(/[^A-Za-z0-9]/g, '_')}`;
}

function note(content: string): ModelMessage {
  return { role: 'user', content };
}
