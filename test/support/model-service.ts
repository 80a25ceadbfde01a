// A model service of the test's own process, on the chat completions wire: what it replies is a
// function of the test, and what it was told can be read afterwards.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../core/digest.ts';

export interface ModelCall {
  readonly tool: string;
  readonly input: Json;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

export interface ModelService {
  /** What a worker has to be configured with. */
  readonly settings: Readonly<Record<string, string>>;
  /** Messages of each request about these instructions, oldest first. */
  asked(instructions: string): readonly (readonly Message[])[];
  /** How many of them were given up by their caller before there was a reply. */
  abandoned(instructions: string): number;
  close(): Promise<void>;
}

/** A promise: the reply is as long in coming. */
export type ModelCalls = (
  instructions: string,
  turn: number,
) => readonly ModelCall[] | Promise<readonly ModelCall[]>;

/** No calls: the reply that ends the run. Every call of every turn is named `call_1`. */
export async function startModelService(calls: ModelCalls): Promise<ModelService> {
  const requests: Message[][] = [];
  const givenUp: string[] = [];
  const server = createServer(async (incoming, response) => {
    const { messages } = JSON.parse(await textOf(incoming)) as { messages: Message[] };
    requests.push(messages);
    const turn = 1 + messages.filter(({ role }) => role === 'assistant').length;
    response.once('close', () => {
      if (!response.writableEnded) givenUp.push(instructionsIn(messages));
    });
    const proposed = await calls(instructionsIn(messages), turn);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(completion(proposed)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      HOLDFAST_MODEL_PROVIDER: 'openai-compatible',
      HOLDFAST_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1`,
      HOLDFAST_MODEL_NAME: 'scripted',
    },
    asked: (instructions) => requests.filter((each) => instructionsIn(each) === instructions),
    abandoned: (instructions) => givenUp.filter((each) => each === instructions).length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function instructionsIn(messages: readonly Message[]): string {
  const content = messages.find(({ role }) => role === 'user')?.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function completion(proposed: readonly ModelCall[]) {
  const calls = proposed.map(({ tool, input }) => ({
    id: 'call_1',
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  const message =
    calls.length === 0
      ? { role: 'assistant', content: 'Done.' }
      : { role: 'assistant', content: null, tool_calls: calls };
  return {
    id: 'scripted',
    object: 'chat.completion',
    created: 0,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 },
  };
}
