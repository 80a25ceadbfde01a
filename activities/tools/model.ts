// Model calls, through the AI SDK: one request, no retries, tools without `execute`. What the model
// proposes is stored; calling is decided elsewhere.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  stepCountIs,
  type ToolSet,
  tool as toolOf,
  wrapLanguageModel,
} from 'ai';
import type { Reserve } from '../../core/budget-limits.ts';
import type { ModelConfig } from '../../core/config.ts';
import { contractSchema } from '../../core/contract.ts';
import { digestOf } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import { MODEL_TOOL, type ToolPolicy } from '../../core/tool-policy.ts';
import { messageOf } from '../failures.ts';
import type { RegisteredTool, Registry, ToolDefaults } from '../registry.ts';
import type { Attempt, Settlement } from '../tool.ts';
import type { ModelContext } from './model-context.ts';
import { type ModelSpending, requestReserve } from './model-cost.ts';
import { messagesOf, type PayloadReader } from './model-messages.ts';
import { answerOf, type ModelAnswer } from './model-reply.ts';
import { retryAfterOf } from './retry-after.ts';

/** A model the AI SDK can call; a name alone would be looked up at a gateway. */
export type Model = Exclude<LanguageModel, string>;

export interface ModelPort {
  readonly policy: ToolPolicy;
  /** The most that a request of this context may cost. */
  reserve(context: ModelContext, read: PayloadReader): Promise<Reserve>;
  /** Throws where nobody knows whether the call was served; settles only what the answer says. */
  ask(context: ModelContext, attempt: Attempt, read: PayloadReader): Promise<ModelAnswer>;
}

export interface ModelPortOptions {
  readonly registry: Registry;
  readonly defaults: ToolDefaults;
  readonly spending: ModelSpending;
}

export function modelPort(model: Model, options: ModelPortOptions): ModelPort {
  const { registry, defaults, spending } = options;
  return {
    policy: modelPolicy(model, defaults),
    reserve: async (context, read) => {
      const { system, messages } = await messagesOf(context, read);
      const tools = toolsOf(context, registry).map(
        ({ policy: { binding, description }, inputSchema }) => ({
          ...{ name: binding.tool, description, inputSchema },
        }),
      );
      return requestReserve(model.modelId, { system, messages, tools }, spending);
    },
    ask: (context, attempt, read) =>
      askModel(model, { registry, spending, read }, { context, attempt }),
  };
}

/** Null where none is configured. Throws when the key's variable is gone. */
export function modelFrom(
  config: ModelConfig,
  env: Readonly<Record<string, string | undefined>>,
): Model | null {
  if (config.provider === 'none') return null;
  const apiKey = config.apiKeyEnv === null ? undefined : env[config.apiKeyEnv];
  if (config.apiKeyEnv !== null && apiKey === undefined)
    throw new Error(`${config.apiKeyEnv} is not set; it should hold the model service's key`);
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: config.baseURL,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  return provider.chatModel(config.name);
}

/** The pseudo tool `model` in the catalog. Another model is another binding. */
function modelPolicy(model: Model, defaults: ToolDefaults): ToolPolicy {
  const { provider, modelId } = model;
  const contract = contractSchema.parse({});
  const { startToCloseMs, heartbeatTimeoutMs, scheduleToStartMs } = defaults;
  return {
    binding: {
      tool: MODEL_TOOL,
      version: '1',
      digest: digestOf({ tool: MODEL_TOOL, version: '1', provider, modelId }),
    },
    description: `${modelId} at ${provider}`,
    replay: 'rebuy',
    contract,
    level: 'L0',
    inquirable: false,
    taskQueue: null,
    // Named one by one: a wider object fits the type, and its other fields are no policy.
    ...{ startToCloseMs, heartbeatTimeoutMs, scheduleToStartMs },
    attemptsMax: limits.attemptsMax,
    attemptsDeadlineMs: limits.attemptsDeadlineMs,
  };
}

/** What the service calls the call and what it proposes, in order. */
interface ServiceIds {
  call: string;
  readonly proposals: string[];
}

async function askModel(
  model: Model,
  { registry, spending, read }: Omit<ModelPortOptions, 'defaults'> & { read: PayloadReader },
  { context, attempt }: { readonly context: ModelContext; readonly attempt: Attempt },
): Promise<ModelAnswer> {
  const { system, messages } = await messagesOf(context, read);
  const tools = offeredTools(context, registry);
  const ids: ServiceIds = { call: '', proposals: [] };
  try {
    const reply = await generateText({
      model: watched(model, attempt, ids),
      system,
      messages,
      maxOutputTokens: spending.maxOutputTokens,
      maxRetries: 0,
      stopWhen: stepCountIs(1),
      abortSignal: attempt.signal,
      ...(Object.keys(tools).length === 0 ? {} : { tools }),
    });
    const { prices } = spending;
    const { signal } = attempt;
    const answered = { reply, callId: ids.call, signal, model: model.modelId, prices };
    return answerOf(answered, ids.proposals);
  } catch (error) {
    return { settlement: notTaken(error), calls: [], payloads: [] };
  }
}

/**
 * The model with the send window's check before its first byte. Calls of one reply get ids of their
 * own: the AI SDK takes the first of equal ids for all, and some services repeat or omit theirs.
 * `ids` receives the service's; the AI SDK makes up one for the call where there is none.
 */
function watched(model: Model, attempt: Attempt, ids: ServiceIds) {
  return wrapLanguageModel({
    model: model as never,
    middleware: {
      specificationVersion: 'v3',
      async wrapGenerate({ doGenerate }) {
        attempt.beforeSend();
        const reply = await doGenerate();
        ids.call = reply.response?.id ?? '';
        const content = reply.content.map((part) =>
          part.type === 'tool-call'
            ? { ...part, toolCallId: `call_${ids.proposals.push(part.toolCallId)}` }
            : part,
        );
        return { ...reply, content };
      },
    },
  });
}

function offeredTools(context: ModelContext, registry: Registry): ToolSet {
  return Object.fromEntries(
    toolsOf(context, registry).map(({ policy: { binding, description }, inputSchema }) => [
      binding.tool,
      toolOf({ description, inputSchema: jsonSchema(inputSchema as never) }),
    ]),
  );
}

function toolsOf(context: ModelContext, registry: Registry): RegisteredTool[] {
  return context.tools.flatMap((binding) => {
    const found = registry.tools.get(binding.tool);
    return found?.policy.binding.digest === binding.digest ? [found] : [];
  });
}

/** Answers that say the request was not considered. Everything else is thrown on: ambiguous. */
export const notTakenStatuses: readonly {
  readonly status: number;
  readonly needsRetryAfter: boolean;
}[] = [
  { status: 401, needsRetryAfter: false },
  { status: 429, needsRetryAfter: false },
  { status: 503, needsRetryAfter: true },
];

function notTaken(error: unknown): Settlement<never> {
  if (!APICallError.isInstance(error)) throw error;
  const { statusCode } = error;
  const retryAfterMs = retryAfterOf(error.responseHeaders?.['retry-after']);
  const row = notTakenStatuses.find(({ status }) => status === statusCode);
  if (row === undefined || (row.needsRetryAfter && retryAfterMs === null)) throw error;
  const told = { code: String(row.status), message: messageOf(error) };
  return { kind: 'not_taken', ...told, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}
