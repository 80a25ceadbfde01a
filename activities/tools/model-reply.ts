// A model's answer as it is stored: what was said, what was proposed, what it cost.

import type { generateText } from 'ai';
import type { Cost } from '../../core/cost.ts';
import type { NewPayload } from '../../core/decision.ts';
import { canonicalBytes, canonicalJson, digestOfBytes } from '../../core/digest.ts';
import type { ProposedCall } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import { boundedWords } from '../../core/words.ts';
import { messageOf } from '../failures.ts';
import type { Settlement } from '../tool.ts';
import type { ModelReply } from './model-messages.ts';

/** What came of a model call: its settlement, and the proposals with their stored inputs. */
export interface ModelAnswer {
  readonly settlement: Settlement<ModelReply>;
  readonly calls: readonly ProposedCall[];
  readonly payloads: readonly NewPayload[];
}

type Reply = Awaited<ReturnType<typeof generateText>>;

/** `signal`: of the attempt; what an aborted call says of its usage is not all of it. */
export function answerOf(
  reply: Reply,
  callIds: readonly string[],
  signal: AbortSignal,
): ModelAnswer {
  const calls: ProposedCall[] = [];
  const payloads: NewPayload[] = [];
  const parts: ModelReply['parts'] = [];
  for (const part of reply.content) {
    const provider = providerOf(part);
    if (part.type === 'text' || part.type === 'reasoning')
      parts.push({ kind: part.type, text: part.text.toWellFormed(), provider });
    if (part.type !== 'tool-call') continue;
    const bytes = inputBytes(part.input);
    const input = { digest: digestOfBytes(bytes), bytes: bytes.length };
    const callId = boundedWords(callIds[calls.length] ?? '', limits.labelCharsMax);
    const call = { callId, tool: boundedWords(part.toolName, limits.labelCharsMax), input };
    payloads.push({ digest: input.digest, bytes });
    calls.push(call);
    parts.push({ kind: 'call', ...call, provider });
  }
  const { text, finishReason: finish } = reply;
  const result: ModelReply = { text: text.toWellFormed(), finish, parts };
  return { settlement: { kind: 'executed', result, cost: costOf(reply, signal) }, calls, payloads };
}

/** Signatures and the like, which the service wants back; what is no JSON cannot be sent again. */
function providerOf(part: object): ModelReply['parts'][number]['provider'] {
  if (!('providerMetadata' in part) || part.providerMetadata === undefined) return null;
  try {
    return JSON.parse(canonicalJson(JSON.parse(JSON.stringify(part.providerMetadata))));
  } catch {
    // A reply is worth more than its metadata.
    return null;
  }
}

/** Input that has no canonical form is kept in words: no schema takes it, and the model is told. */
function inputBytes(input: unknown): Uint8Array {
  try {
    return canonicalBytes(input);
  } catch (error) {
    return canonicalBytes(`not usable as input: ${messageOf(error)}`);
  }
}

/** Some services answer with zeros where they counted nothing; that is unknown, not free. */
function costOf(reply: Reply, { aborted }: AbortSignal): Cost {
  if (aborted) return { kind: 'unknown', reason: 'the call was aborted before its answer' };
  const { inputTokens = 0, outputTokens = 0 } = reply.usage;
  const empty = reply.text === '' && reply.toolCalls.length === 0;
  if (inputTokens === 0 && outputTokens === 0 && !empty)
    return { kind: 'unknown', reason: 'the service reported no usage for its answer' };
  return { kind: 'known', usage: { requests: 1, inputTokens, outputTokens } };
}
