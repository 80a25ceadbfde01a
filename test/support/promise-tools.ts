// Tools at the reference receiver, each with another promise: what is done about an unknown must
// follow from that promise alone. Beside those of the fault tests.

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { type FaultSettings, faultTools } from './fault-tools.ts';

const input = z.record(z.string(), z.json());
type Input = z.infer<typeof input>;

/** Longer than any test waits: what settles by time alone does not settle there. */
const NEVER_SETTLES_MS = 600_000;

export function promiseTools(settings: FaultSettings) {
  const { receiverUrl: baseUrl, region = 'local' } = settings;
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region };
  const retentionMs = limits.receiverRetentionMs;
  const at = (operation: string, contract: Partial<ContractInput>) =>
    httpReceiver<Input, Json>({
      ...{ baseUrl, operation, operationVersion: '1', timeoutMs: 10_000 },
      contract: { scope, retentionMs, ...contract },
    });
  const described = { version: '1', description: 'At the receiver.', input };
  const asked = { closing: 'none' } as const;
  const boasting = at('create_record', {
    closing: 'none',
    inquiry: { consistency: 'lagging', settleMs: NEVER_SETTLES_MS },
  });
  return {
    ...faultTools(settings),
    /** Knows keys and can be asked; what it says of an absence proves nothing. */
    pay: defineTool<Input, Json>({
      ...{ name: 'pay', ...described, replay: 'keyed' },
      ...at('credit', asked),
    }),
    /** Refuses stale tokens, and closes no door for those that are not. */
    pay_fenced: defineTool<Input, Json>({
      ...{ name: 'pay_fenced', ...described, replay: 'keyed' },
      ...at('credit', { ...asked, fencing: 'honoured' }),
    }),
    /** Can close whole keys only. */
    pay_or_burn: defineTool<Input, Json>({
      ...{ name: 'pay_or_burn', ...described, replay: 'keyed' },
      ...at('credit', { closing: 'by_key' }),
    }),
    /** Never sent again, whatever the receiver says of it. */
    record_once: defineTool<Input, Json>({
      ...{ name: 'record_once', ...described },
      ...at('create_record', asked),
    }),
    /** It tells the truth in the end; before its window has passed an absence means nothing. */
    record_later: defineTool<Input, Json>({
      ...{ name: 'record_later', ...described },
      ...at('create_record', {
        ...asked,
        inquiry: { consistency: 'strong', settleMs: NEVER_SETTLES_MS },
        requestDelayMaxMs: 1_000,
      }),
    }),
    /** Its contract promises little, and its adapter says that all doors are closed. */
    record_boast: defineTool<Input, Json>({
      ...{ name: 'record_boast', ...described, ...boasting },
      async inquire(inquiry) {
        const answer = await boasting.inquire(inquiry);
        if (answer.verdict !== 'no_record') return answer;
        return { verdict: 'not_executed', proof: 'closed_token' };
      },
    }),
  };
}
