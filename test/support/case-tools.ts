// Tools of the cases from the field, beside those of the fault tests: ones that can only be asked
// about, one that works in two parts, one on files, and one that kills its own worker.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { createFileTool, defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { billedTools } from './billed-tools.ts';
import { type FaultSettings, faultTools } from './fault-tools.ts';
import { publishOn } from './publish-on.ts';
import { undoTools } from './undo-tools.ts';

const anyInput = z.record(z.string(), z.json());

/** `directory`: of files, and of the host's count of its starts. */
export function caseTools(settings: FaultSettings, directory: string) {
  const { add_elsewhere: _, ...others } = faultTools(settings);
  return {
    ...others,
    ...billedTools(settings.receiverUrl),
    create_once: createOnce(settings.receiverUrl),
    publish: publish(settings.gatewayUrl),
    create_file: createFileTool({ root: directory }),
    restart_worker: restartWorker(directory),
    ...undoTools(settings.gatewayUrl, directory),
    publish_on: publishOn(settings.gatewayUrl),
  };
}

/** Never repeated; a look at the receiver proves an effect, and no absence. */
function createOnce(baseUrl: string) {
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  return defineTool<Record<string, Json>, Json>({
    name: 'create_once',
    version: '1',
    description: 'Creates a record; the receiver can be asked, and closes no door.',
    input: anyInput,
    replay: 'never',
    ...httpReceiver<Record<string, Json>, Json>({
      baseUrl,
      operation: 'create_record',
      operationVersion: '1',
      contract: { scope, retentionMs: limits.receiverRetentionMs, closing: 'none' },
    }),
  });
}

/** First the file, then its registration; each is a line in the gateway's log. */
function publish(gatewayUrl: string) {
  const send = (to: 'file' | 'registry', name: string) =>
    fetch(`${gatewayUrl}/send`, {
      method: 'POST',
      body: JSON.stringify({ to, subject: `${to} ${name}`, body: '' }),
    });
  const partsOf = (registered: boolean) => [
    { name: 'file', state: 'confirmed' as const },
    { name: 'registration', state: registered ? ('confirmed' as const) : ('unconfirmed' as const) },
  ];
  return defineTool({
    name: 'publish',
    version: '1',
    description: 'Writes a file and registers it.',
    input: z.strictObject({ name: z.string() }),
    receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
    async execute({ name }, attempt) {
      attempt.beforeSend();
      await send('file', name);
      const registered = await send('registry', name).catch(() => null);
      return registered?.status === 200
        ? { kind: 'executed', result: { name }, externalId: name }
        : { kind: 'partial', parts: partsOf(false), externalId: name };
    },
    async inquire({ input }) {
      const { name } = z.object({ name: z.string() }).parse(input);
      const said = await (await fetch(`${gatewayUrl}/log`)).text();
      if (!said.includes(`"file ${name}"`)) return { verdict: 'no_record' };
      const registered = said.includes(`"registry ${name}"`);
      return registered
        ? { verdict: 'executed', result: { name }, externalId: name }
        : { verdict: 'partial', parts: partsOf(false), externalId: name };
    },
  });
}

/** The host counts its starts; the worker that asked for one does not live to hear of it. */
function restartWorker(directory: string) {
  const counter = join(directory, 'starts');
  const starts = () => Number(readFileSync(counter, 'utf8'));
  return defineTool({
    name: 'restart_worker',
    version: '1',
    description: 'Restarts the worker.',
    input: z.strictObject({ startsBefore: z.number() }),
    receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
    async execute(_input, attempt) {
      attempt.beforeSend();
      writeFileSync(counter, String(starts() + 1));
      process.kill(process.pid, 'SIGKILL');
      return new Promise<never>(() => undefined);
    },
    async inquire({ input }) {
      const { startsBefore } = z.object({ startsBefore: z.number() }).parse(input);
      const now = starts();
      return now > startsBefore
        ? { verdict: 'executed', result: { starts: now } }
        : { verdict: 'no_record' };
    },
  });
}
