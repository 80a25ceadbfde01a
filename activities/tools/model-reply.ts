// A model's answer as it is stored: what was said, what was proposed, what it cost.

import type { NewPayload } from '../../core/decision.ts';
import { canonicalBytes, canonicalJson, digestOfBytes } from '../../core/digest.ts';
import type { ProposedCall } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import { boundedWords } from '../../core/words.ts';
import { messageOf } from '../failures.ts';
import type { Settlement } from '../tool.ts';
import { type Answered, costOf } from './model-cost.ts';
import type { ModelReply } from './model-messages.ts';

/** What came of a model call: its settlement, and the proposals with their stored inputs. */
export interface ModelAnswer {
  readonly settlement: Settlement<ModelReply>;
  readonly calls: readonly ProposedCall[];
  readonly payloads: readonly NewPayload[];
}

/** `callIds`: what the service calls its proposals, in their order. */
export function answerOf(answered: Answered, callIds: readonly string[]): ModelAnswer {
  const { reply } = answered;
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
  return { settlement: { kind: 'executed', result, cost: costOf(answered) }, calls, payloads };
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
