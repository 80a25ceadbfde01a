// A model of the fault workers: proposes many calls in its first reply, and is content with
// whatever becomes of them.

import type { LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { MockLanguageModelV3 } from 'ai/test';
import type { Model } from '../../activities/index.ts';
import { HELD } from './barrier-watch.ts';

/** How many of its calls wait before the barrier: the first ones. */
export const HELD_CALLS = 3;

export const instructionsFor = (runId: string) => `Count for ${runId}, all at once.`;
export const heldCounters = (runId: string) =>
  Array.from({ length: HELD_CALLS }, (_, index) => `${HELD}-${runId}-${index}`);

/** Each call adds 1 to a counter of its own: no two of them are the same intent. */
export function callsAtOnce(count: number): Model {
  return new MockLanguageModelV3({
    async doGenerate({ prompt }) {
      if (prompt.some(({ role }) => role === 'tool'))
        return reply([{ type: 'text', text: 'That is all.' }], 'stop');
      const [, runId = ''] = /Count for ([\w-]+), all/.exec(JSON.stringify(prompt)) ?? [];
      const held = heldCounters(runId);
      const free = Array.from({ length: count - held.length }, (_, index) => `${runId}-${index}`);
      return reply([...held, ...free].map(addTo), 'tool-calls');
    },
  });
}

function addTo(counter: string) {
  return {
    type: 'tool-call' as const,
    toolCallId: counter,
    toolName: 'add',
    input: JSON.stringify({ counter, delta: 1 }),
  };
}

function reply(
  content: LanguageModelV3GenerateResult['content'],
  reason: 'stop' | 'tool-calls',
): LanguageModelV3GenerateResult {
  const none = { cacheRead: 0, cacheWrite: 0 };
  return {
    content,
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: 20, noCache: 20, ...none },
      outputTokens: { total: 8, text: 8, reasoning: 0 },
    },
    warnings: [],
  };
}
