// The tools of the fault tests: each operation of the reference receiver by a promise that is kept,
// and the mail gateway that promises nothing. One composition; the settings say where they are.

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { barrierWatchSchema } from './barrier-watch.ts';

export const faultSettingsSchema = z.strictObject({
  receiverUrl: z.url(),
  gatewayUrl: z.url(),
  /** Of the receiver; default: `local`. */
  region: z.string().optional(),
  bundlePath: z.string(),
  killPoints: z.string(),
  /** What the receiver keeps keys for, and how long before its end nothing is resent. */
  retentionMs: z.int().positive().optional(),
  retentionMarginMs: z.int().nonnegative().optional(),
  /** Task queue of `add_elsewhere`, whose workers are another process. */
  elsewhere: z.string(),
  /** Which task queues this process serves. */
  serves: z.enum(['all', 'not_elsewhere', 'elsewhere_only']),
  barrier: barrierWatchSchema.optional(),
  /** A model that proposes so many calls at once, and is then content. */
  callsAtOnce: z.int().positive().optional(),
});
export type FaultSettings = z.infer<typeof faultSettingsSchema>;

const input = z.record(z.string(), z.json());
type Input = z.infer<typeof input>;

export function faultTools(settings: FaultSettings) {
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  const contract = {
    scope,
    retentionMs: settings.retentionMs ?? limits.receiverRetentionMs,
    retentionMarginMs: settings.retentionMarginMs ?? limits.retentionMarginMs,
    fencing: 'honoured',
  } as const;
  const at = (operation: string, over: Partial<ContractInput> = {}) =>
    httpReceiver<Input, Json>({
      baseUrl: settings.receiverUrl,
      operation,
      operationVersion: '1',
      contract: { ...contract, ...over },
    });
  const tool = (name: string, receiver: ReturnType<typeof at>) =>
    defineTool<Input, Json>({
      name,
      version: '1',
      description: `${name} at the receiver.`,
      input,
      replay: 'keyed',
      ...receiver,
    });
  // De-duplicates by key and can be neither asked nor closed: all that is left is to send again.
  const { inquire: _, ...mute } = tool(
    'credit',
    at('credit', { inquiry: 'none', closing: 'none' }),
  );
  return {
    open_ticket: tool('open_ticket', at('open_ticket')),
    create_record: tool('create_record', at('create_record')),
    add: tool('add', at('add')),
    credit: mute,
    add_elsewhere: { ...tool('add_elsewhere', at('add')), taskQueue: settings.elsewhere },
    send_notice: sendNotice(settings.gatewayUrl),
  };
}

function sendNotice(gatewayUrl: string) {
  return defineTool({
    name: 'send_notice',
    version: '1',
    description: 'Sends one notice; nobody can ask whether it went out.',
    input: z.strictObject({ to: z.string(), subject: z.string(), body: z.string() }),
    async execute(notice, attempt) {
      const body = JSON.stringify(notice);
      attempt.beforeSend();
      const { signal } = attempt;
      const response = await fetch(`${gatewayUrl}/send`, { method: 'POST', body, signal });
      if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
      return { kind: 'executed', result: { queued: true } };
    },
  });
}
