// The tools of the workflow stage: what they do at their receivers is a function of the test.

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import type { Attempt, Settlement } from '../../activities/tool.ts';
import type { Cost } from '../../core/cost.ts';
import type { Json } from '../../core/digest.ts';
import type { WorkflowStage } from './workflow-stage.ts';

export type Behave = (input: Record<string, Json>, attempt: Attempt) => Promise<Settlement<Json>>;

const dollar = { currency: 'USD', micros: 1_000_000 };
const estimate = { ...dollar, tableDate: '2026-11-01' };
const free = { requests: 0, inputTokens: 0, outputTokens: 0 };
const anyInput = z.record(z.string(), z.json());

export function toolsOf(stage: WorkflowStage) {
  const tool = (name: string, over: object = {}, cost?: Cost) =>
    defineTool<Record<string, Json>, Json>({
      name,
      version: '1',
      description: `${name} of the tests.`,
      input: anyInput,
      implementation: name,
      receiver: { inquiry: { consistency: 'strong', settleMs: 0 } },
      inquire: (inquiry) => stage.inquire(inquiry),
      ...over,
      execute: async (input, attempt) => {
        attempt.beforeSend();
        stage.effects.push(attempt.actionId);
        const behave = stage.behave[name];
        if (behave !== undefined) return behave(input, attempt);
        const externalId = `ext-${attempt.actionId}`;
        const done = { kind: 'executed', result: { ok: true }, externalId } as const;
        return cost === undefined ? done : { ...done, cost };
      },
    });
  const { inquire: _, ...mute } = tool('post_letter', { receiver: {} });
  return {
    charge_card: tool('charge_card'),
    post_letter: mute,
    read_note: tool('read_note', { replay: 'safe' }),
    look_up: tool('look_up', { replay: 'safe', attemptsMax: 6 }),
    sign_off: tool('sign_off', { approval: 'always' }),
    /** Costs a dollar. */
    paid: tool('paid', { reserve: { money: dollar } }, { kind: 'known', usage: free, estimate }),
    strict: tool('strict', { input: z.object({ n: z.number() }) }),
    elsewhere: tool('elsewhere', {
      taskQueue: 'nobody-polls-here',
      scheduleToStartMs: 1_000,
      attemptsMax: 2,
    }),
    slow: tool('slow', {
      startToCloseMs: 1_000,
      heartbeatTimeoutMs: 1_000,
      scheduleToStartMs: 1_000,
    }),
  };
}
