// A receiver that can go on with what it has half done: a file, then its registration, each a line
// in the gateway's log. What is written is never written again.

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import type { Settlement } from '../../activities/tool.ts';
import { limits } from '../../core/limits.ts';

const scope = { receiver: 'press', account: 'a1', workspace: 'w1', region: 'local' };
const half = [
  { name: 'file', state: 'confirmed' as const },
  { name: 'registration', state: 'unconfirmed' as const },
];

export function publishOn(gatewayUrl: string) {
  const send = (to: 'file' | 'registry', name: string, key: string) =>
    fetch(`${gatewayUrl}/send`, {
      method: 'POST',
      body: JSON.stringify({ to, subject: `${to} ${name}`, body: key }),
    });
  /** Its connection is cut: the registry does not have it. */
  const register = async (name: string, key: string): Promise<Settlement<{ name: string }>> => {
    const answer = await send('registry', name, key).catch(() => null);
    return answer?.status === 200
      ? { kind: 'executed', result: { name }, externalId: name }
      : { kind: 'partial', parts: half, externalId: name };
  };
  return defineTool({
    name: 'publish_on',
    version: '1',
    description: 'Writes a file and registers it; goes on where it was cut off.',
    input: z.strictObject({ name: z.string() }),
    replay: 'keyed',
    receiver: {
      ...{ scope, continuing: 'own_protocol' },
      identity: { travelsAs: 'body' },
      retentionMs: limits.receiverRetentionMs,
      inquiry: { consistency: 'strong', settleMs: 0 },
    },
    async execute({ name }, attempt) {
      attempt.beforeSend();
      await send('file', name, attempt.receiverKey);
      return register(name, attempt.receiverKey);
    },
    async continue({ name }, attempt) {
      attempt.beforeSend();
      return register(name, attempt.receiverKey);
    },
    async inquire({ input }) {
      const { name } = z.object({ name: z.string() }).parse(input);
      const said = await (await fetch(`${gatewayUrl}/log`)).text();
      if (!said.includes(`"file ${name}"`)) return { verdict: 'no_record' };
      return said.includes(`"registry ${name}"`)
        ? { verdict: 'executed', result: { name }, externalId: name }
        : { verdict: 'partial', parts: half, externalId: name };
    },
  });
}
