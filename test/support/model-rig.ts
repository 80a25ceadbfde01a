// An activity rig with a model: what it answers is a function of the test, through the real AI SDK.

import type { LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { MockLanguageModelV3 } from 'ai/test';
import { createRegistry } from '../../activities/index.ts';
import { modelPort } from '../../activities/tools/model.ts';
import type { ModelSpending } from '../../activities/tools/model-cost.ts';
import type { PerformCall } from '../../core/activity-calls.ts';
import type { Json } from '../../core/digest.ts';
import { branchPosition, modelPosition } from '../../core/ids.ts';
import {
  activityRig,
  chargeCard,
  defaults,
  type Rig,
  type RigOptions,
  RUN,
} from './activity-rig.ts';

export type Generate = () => Promise<LanguageModelV3GenerateResult>;
type Tokens = number | undefined;
const noCache = { cacheRead: 0, cacheWrite: 0 };

export function reply(
  content: LanguageModelV3GenerateResult['content'],
  [input, output]: readonly [Tokens, Tokens] = [12, 5],
  id?: string,
): LanguageModelV3GenerateResult {
  return {
    content,
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: input, noCache: input, ...noCache },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
    warnings: [],
    ...(id === undefined ? {} : { response: { id } }),
  } as LanguageModelV3GenerateResult;
}

export const text = (said: string) => ({ type: 'text' as const, text: said });

export const toolCall = (input: string, toolName = 'charge_card') => ({
  type: 'tool-call' as const,
  toolCallId: 'call_same_for_all',
  toolName,
  input,
});

export interface ModelRigOptions extends RigOptions {
  readonly spending?: ModelSpending;
  readonly modelId?: string;
  /** Of the opening. */
  readonly open?: object;
}

export async function modelRig(generate: Generate, options: ModelRigOptions = {}) {
  const current = { generate };
  const { modelId = 'mock-model', spending = { prices: null, maxOutputTokens: 256 } } = options;
  const model = new MockLanguageModelV3({ modelId, doGenerate: () => current.generate() });
  const rig = await activityRig(options);
  const registry = createRegistry({ charge_card: chargeCard(rig.receiver) }, defaults);
  const port = modelPort(model, { registry, defaults, spending });
  Object.assign(rig.deps, { registry, model: port });
  const opened = await rig.open({
    goal: { kind: 'model', instructions: 'Charge Ada’s card.' },
    ...options.open,
  });
  /** Of the turn under the goal of that revision. */
  const callOf = (turn = 1, over: Partial<PerformCall> = {}, goal = 1) =>
    rig.call(opened, {
      position: branchPosition(goal, modelPosition(turn)),
      binding: port.policy.binding,
      replay: 'rebuy',
      input: { kind: 'model_context', turn },
      ...over,
    });
  const ask = (turn = 1, over: Partial<PerformCall> = {}, goal = 1) =>
    rig.perform(callOf(turn, over, goal));
  return { rig, opened, ask, callOf, current, model };
}

/** A stored payload's value. */
export async function stored(rig: Rig, digest: string): Promise<Json> {
  return JSON.parse(Buffer.from((await rig.ledger.payload(digest as never)) ?? []).toString());
}

export const settled = async (rig: Rig, actionId = `${RUN}.t1.m`) =>
  (await rig.ledger.read(RUN)).actions.get(actionId)?.attempts.at(-1)?.settled;
