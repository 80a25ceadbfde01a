// A model service on this machine, as a process of its own:
//   node --import tsx examples/support-desk/model-server.ts <log file>
// It speaks the chat completions wire (JSON, not streamed), so a run takes the way to any provider.
// Prints READY {"port":n}. POST /drop {"replies":n}: the next n requests are logged, not answered.
//
// INV-1 A request is in the log (one JSON line) before it is answered.

import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { messageSchema, nextReply, type ScriptedReply } from './model-script.ts';

const requestSchema = z.looseObject({ model: z.string(), messages: z.array(messageSchema) });
const dropSchema = z.strictObject({ replies: z.int().nonnegative() });

/** One line of the log. */
export interface LoggedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  readonly answered: boolean;
}

const [logPath] = process.argv.slice(2);
if (logPath === undefined) throw new Error('name the log file as the only argument');
let dropping = 0;

const server = createServer((incoming, response) => {
  answer(incoming, response).catch((error: unknown) => {
    send(response, 400, { error: { message: String(error), type: 'invalid_request_error' } });
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`READY ${JSON.stringify({ port })}\n`);
});
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  const { url: path = '/', headers } = incoming;
  if (path === '/drop') {
    dropping = dropSchema.parse(body).replies;
    return send(response, 200, { dropping });
  }
  const answered = dropping === 0;
  const line: LoggedRequest = { path, headers, body, answered };
  appendFileSync(logPath ?? '', `${JSON.stringify(line)}\n`);
  if (!answered) {
    dropping -= 1;
    response.destroy();
    return;
  }
  const { model, messages } = requestSchema.parse(body);
  send(response, 200, completion(model, messages, nextReply(messages)));
}

function completion(model: string, messages: readonly unknown[], reply: ScriptedReply) {
  const called = reply.kind === 'calls';
  const message = called
    ? { role: 'assistant', content: null, tool_calls: reply.calls.map(toolCall) }
    : { role: 'assistant', content: reply.text };
  const [read, written] = [messages, message].map((part) => JSON.stringify(part).length);
  const usage = { prompt_tokens: read ?? 0, completion_tokens: written ?? 0 };
  return {
    id: `scripted-${messages.length}`,
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message, finish_reason: called ? 'tool_calls' : 'stop' }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}

function toolCall({ tool, input }: { tool: string; input: unknown }, index: number) {
  const call = { name: tool, arguments: JSON.stringify(input) };
  return { id: `scripted_${index}`, type: 'function', function: call };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
