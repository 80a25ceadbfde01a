// The tools of the check: one reference receiver under contracts of every level, and a gateway that
// promises nothing. Each effect holds the id of its operation. A lie makes one of them break its
// word, so that the check can be seen to find it.

import * as z from 'zod';
import { type Attempt, defineTool, type Inquiry } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { noticeTool } from '../support/zombie-tools.ts';

export const lieKinds = [
  /** `closing_add` sends each attempt under a key of its own. */
  'new_key',
  /** `never_add` says "not executed" because it has just not found it. */
  'plain_look',
] as const;

export const claimSettingsSchema = z.strictObject({
  receiverUrl: z.url(),
  gatewayUrl: z.url(),
  bundlePath: z.string(),
  lies: z.array(z.enum(lieKinds)),
});
export type ClaimSettings = z.infer<typeof claimSettingsSchema>;

const input = z.record(z.string(), z.json());
type Input = z.infer<typeof input>;

/** Where a contract says so, no request is longer on its way; see `BRIEF_MS` of the wire. */
const REQUEST_DELAY_MS = 3_000;
/** Well before an attempt's own end, so that a request that never ends is seen to end here. */
const REQUEST_MS = 10_000;

export function claimTools({ receiverUrl, gatewayUrl, lies }: ClaimSettings) {
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  const strong = { consistency: 'strong', settleMs: 0 } as const;
  const none = { inquiry: 'none', closing: 'none', fencing: 'none' } as const;
  const keyed = { scope, retentionMs: limits.receiverRetentionMs };
  const at = (operation: string, contract: ContractInput) =>
    httpReceiver<Input, Json>({
      ...{ baseUrl: receiverUrl, operation, operationVersion: '1', timeoutMs: REQUEST_MS },
      contract: { ...keyed, ...contract },
    });
  const described = { version: '1', description: 'At the receiver.', input };
  const { inquire: _, ...mute } = at('credit', none);
  const closing = at('add', { closing: 'by_token', fencing: 'honoured' });
  const { taskQueue: __, ...notice } = noticeTool('dumb_notice', { gatewayUrl, taskQueue: 'any' });
  const looking = { ...none, identity: 'none', retentionMs: 'none' } as const;
  return {
    closing_add: defineTool<Input, Json>({
      ...{ name: 'closing_add', ...described, replay: 'keyed', ...closing },
      ...(lies.includes('new_key') ? underNewKeys(closing) : {}),
    }),
    never_add: defineTool<Input, Json>({
      ...{ name: 'never_add', ...described, ...closing },
      ...(lies.includes('plain_look')
        ? believingALook(at('add', { ...none, inquiry: strong }))
        : {}),
    }),
    burning_add: defineTool<Input, Json>({
      ...{ name: 'burning_add', ...described, replay: 'keyed' },
      ...at('add', { closing: 'by_key', fencing: 'none' }),
    }),
    asked_add: defineTool<Input, Json>({
      ...{ name: 'asked_add', ...described, replay: 'keyed' },
      ...at('add', { ...none, inquiry: strong }),
    }),
    mute_credit: defineTool<Input, Json>({
      ...{ name: 'mute_credit', ...described, replay: 'keyed', ...mute },
    }),
    lagging_add: defineTool<Input, Json>({
      ...{ name: 'lagging_add', ...described },
      ...perRequest(at('add', { ...looking, inquiry: { consistency: 'lagging', settleMs: 0 } })),
    }),
    settling_add: defineTool<Input, Json>({
      ...{ name: 'settling_add', ...described },
      ...perRequest(
        at('add', { ...looking, inquiry: strong, requestDelayMaxMs: REQUEST_DELAY_MS }),
      ),
    }),
    dumb_notice: notice,
  };
}

type Tool = ReturnType<typeof httpReceiver<Input, Json>>;
type Calls = Pick<Tool, 'execute' | 'inquire'>;

/** A receiver that knows requests and no wishes: whatever is sent again is one more effect. */
function perRequest({ execute, inquire, ...rest }: Tool): Tool {
  return {
    ...rest,
    ...underNewKeys({ execute, inquire }),
    inquire: (inquiry: Inquiry) =>
      inquire({ ...inquiry, receiverKey: `${inquiry.receiverKey}#${inquiry.sendToken.number}` }),
  };
}

function underNewKeys({ execute }: Calls): Pick<Calls, 'execute'> {
  return {
    execute: (given, attempt: Attempt) =>
      execute(given, { ...attempt, receiverKey: `${attempt.receiverKey}#${attempt.number}` }),
  };
}

function believingALook({ inquire }: Calls): Pick<Calls, 'inquire'> {
  return {
    async inquire(inquiry: Inquiry) {
      const answer = await inquire(inquiry);
      if (answer.verdict !== 'no_record') return answer;
      return { verdict: 'not_executed', proof: 'settled' };
    },
  };
}
