// Tools of the recorded runs, at a reference receiver.

import * as z from 'zod';
import { defineTool, httpReceiver } from '../../activities/index.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

export type ReplayTools = ReturnType<typeof replayTools>;

export function replayTools(baseUrl: string) {
  const at = <I>(operation: string, input: z.ZodType<I>) =>
    defineTool<I, Json>({
      name: operation,
      version: '1',
      description: `${operation} at the receiver.`,
      input,
      ...httpReceiver({
        baseUrl,
        operation,
        operationVersion: '1',
        contract: { scope: 'none', retentionMs: 'none' },
        // Longer than any attempt is waited for.
        timeoutMs: 120_000,
      }),
    });
  const notice = z.strictObject({ to: z.string() });
  const credit = z.strictObject({ account: z.string(), amount: z.int() });
  // Of these nobody can be asked whether they went out.
  const { inquire: _, receiver: __, ...mute } = at('send_notice', notice);
  return {
    send_notice: mute,
    slow_notice: {
      ...mute,
      name: 'slow_notice',
      startToCloseMs: 10_000,
      heartbeatTimeoutMs: 2_000,
      scheduleToStartMs: 5_000,
    },
    sign_off: {
      ...at('open_ticket', z.strictObject({ subject: z.string() })),
      name: 'sign_off',
      approval: 'always' as const,
      reserve: { tokens: 100 },
    },
    open_ticket: at('open_ticket', z.strictObject({ subject: z.string() })),
    keyed_credit: {
      ...at('credit', credit),
      name: 'keyed_credit',
      replay: 'keyed' as const,
      receiver: {
        scope: { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' },
        identity: { travelsAs: 'header Idempotency-Key' },
        retentionMs: limits.receiverRetentionMs,
        inquiry: { consistency: 'strong' as const, settleMs: 0 },
        closing: 'by_token' as const,
      },
    },
    credit: at('credit', credit),
  };
}
