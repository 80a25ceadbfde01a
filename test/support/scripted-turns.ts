// A model whose replies are a function of the turn, behind the port the activities use.

import type { ModelPort } from '../../activities/tools/model.ts';
import { contractSchema } from '../../core/contract.ts';
import type { NewPayload } from '../../core/decision.ts';
import { canonicalBytes, digestOf, digestOfBytes, type Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

export interface Turn {
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: Json }[];
}

interface Times {
  readonly startToCloseMs: number;
  readonly heartbeatTimeoutMs: number;
  readonly scheduleToStartMs: number;
}

/** `turns` may throw: then the reply is lost. */
export function scriptedModel(
  turns: (turn: number) => Turn | Promise<Turn>,
  times: Times,
): ModelPort {
  return {
    policy: {
      binding: { tool: 'model', version: '1', digest: digestOf('scripted turns') },
      description: 'scripted',
      replay: 'rebuy',
      contract: contractSchema.parse({}),
      level: 'L0',
      inquirable: false,
      taskQueue: null,
      ...times,
      attemptsMax: limits.attemptsMax,
      attemptsDeadlineMs: limits.attemptsDeadlineMs,
    },
    reserve: async () => ({ requests: 1, tokens: 100, money: null }),
    async ask(context, attempt) {
      attempt.beforeSend();
      const { text, calls } = await turns(context.turn);
      const payloads: NewPayload[] = calls.map(({ input }) => {
        const bytes = canonicalBytes(input);
        return { digest: digestOfBytes(bytes), bytes };
      });
      const proposed = calls.map(({ tool }, index) => {
        const payload = payloads[index] as NewPayload;
        const input = { digest: payload.digest, bytes: payload.bytes.length };
        return { callId: `call-${index}`, tool, input };
      });
      const parts = proposed.map((call) => ({ kind: 'call' as const, ...call, provider: null }));
      const usage = { requests: 1, inputTokens: 10, outputTokens: 5 };
      return {
        settlement: {
          kind: 'executed',
          result: { text, finish: calls.length === 0 ? 'stop' : 'tool-calls', parts },
          cost: { kind: 'known', usage },
        },
        calls: proposed,
        payloads,
      };
    },
  };
}
