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
import type { ModelConfig } from '../../core/config.ts';
import { contractSchema } from '../../core/contract.ts';
import { digestOf } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';
import type { ToolPolicy } from '../../core/tool-policy.ts';
import { messageOf } from '../failures.ts';
import { MODEL_TOOL, type Registry, type ToolDefaults } from '../registry.ts';
import type { Attempt, Settlement } from '../tool.ts';
import type { ModelContext } from './model-context.ts';
import { messagesOf, type PayloadReader } from './model-messages.ts';
import { answerOf, type ModelAnswer } from './model-reply.ts';
import { retryAfterOf } from './retry-after.ts';

/** A model the AI SDK can call; a name alone would be looked up at a gateway. */
export type Model = Exclude<LanguageModel, string>;

export interface ModelPort {
  readonly policy: ToolPolicy;
  /** Throws where nobody knows whether the call was served; settles only what the answer says. */
  ask(context: ModelContext, attempt: Attempt, read: PayloadReader): Promise<ModelAnswer>;
}

export function modelPort(model: Model, registry: Registry, defaults: ToolDefaults): ModelPort {
  return {
    policy: modelPolicy(model, defaults),
    ask: (context, attempt, read) => askModel(model, { registry, read }, { context, attempt }),
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

async function askModel(
  model: Model,
  { registry, read }: { readonly registry: Registry; readonly read: PayloadReader },
  { context, attempt }: { readonly context: ModelContext; readonly attempt: Attempt },
): Promise<ModelAnswer> {
  const { system, messages } = await messagesOf(context, read);
  const tools = offeredTools(context, registry);
  const callIds: string[] = [];
  try {
    const reply = await generateText({
      model: watched(model, attempt, callIds),
      system,
      messages,
      maxRetries: 0,
      stopWhen: stepCountIs(1),
      abortSignal: attempt.signal,
      ...(Object.keys(tools).length === 0 ? {} : { tools }),
    });
    return answerOf(reply, callIds, attempt.signal);
  } catch (error) {
    return { settlement: notTaken(error), calls: [], payloads: [] };
  }
}

/**
 * The model with the send window's check before its first byte. Calls of one reply get ids of their
 * own: the AI SDK takes the first of equal ids for all, and some services repeat or omit theirs.
 * `callIds` receives the service's ids, in order.
 */
function watched(model: Model, attempt: Attempt, callIds: string[]) {
  return wrapLanguageModel({
    model: model as never,
    middleware: {
      specificationVersion: 'v3',
      async wrapGenerate({ doGenerate }) {
        attempt.beforeSend();
        const reply = await doGenerate();
        const content = reply.content.map((part) =>
          part.type === 'tool-call'
            ? { ...part, toolCallId: `call_${callIds.push(part.toolCallId)}` }
            : part,
        );
        return { ...reply, content };
      },
    },
  });
}

function offeredTools(context: ModelContext, registry: Registry): ToolSet {
  const tools: ToolSet = {};
  for (const binding of context.tools) {
    const found = registry.tools.get(binding.tool);
    if (found === undefined || found.policy.binding.digest !== binding.digest) continue;
    const { description } = found.policy;
    tools[binding.tool] = toolOf({
      description,
      inputSchema: jsonSchema(found.inputSchema as never),
    });
  }
  return tools;
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
