// The tool for a receiver of the zoo, and all that the suite wants to know of the two.

import * as z from 'zod';
import type { ContractReport } from '../../activities/contract-suite.ts';
import { checkContract } from '../../activities/contract-suite.ts';
import { type AnyTool, defineTool } from '../../activities/index.ts';
import type { Attempt, InquiryAnswer, Settlement, ToolDefinition } from '../../activities/tool.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import type { Answer, Habits } from './zoo.ts';
import { openZoo } from './zoo.ts';

const DAY_MS = 86_400_000;

export const fullContract: ContractInput = {
  scope: { receiver: 'zoo', account: 'a1', workspace: 'w1', region: 'local' },
  identity: { travelsAs: 'header Idempotency-Key' },
  retentionMs: DAY_MS,
  inquiry: { consistency: 'strong', settleMs: 0 },
  closing: 'by_token',
  fencing: 'honoured',
};

type ZooInput = { readonly name: string; readonly slow?: boolean | undefined };

export interface ZooSetUp {
  readonly habits?: Partial<Habits>;
  readonly contract?: ContractInput;
  /** What is different about the adapter. */
  readonly tool?: (tool: AnyTool, baseUrl: string) => AnyTool;
}

export async function checkZoo({ habits, contract, tool }: ZooSetUp): Promise<ContractReport> {
  const zoo = await openZoo(habits);
  const declared = contract ?? fullContract;
  return checkContract({
    adapter: (baseUrl) => {
      const plain = zooTool(baseUrl, declared) as AnyTool;
      return tool === undefined ? plain : tool(plain, baseUrl);
    },
    endpoint: zoo.url,
    input: (n) => ({ name: `thing ${n}` }),
    slowInput: (n) => ({ name: `slow thing ${n}`, slow: true }),
    effects: async ({ input }) => zoo.count(input),
    principals: [
      { user: 'ada', workspace: 'w1' },
      { user: 'bob', workspace: 'w1' },
    ],
    restart: async () => {
      await zoo.kill();
      return undefined;
    },
    kills: 4,
    passTime: zoo.passTime,
    patienceMs: 20_000,
  });
}

export function sendThing(
  baseUrl: string,
  input: unknown,
  { receiverKey, principal, runId, sendToken, beforeSend }: Attempt,
): Promise<Answer> {
  beforeSend();
  const body = { principal: principal.user, run: runId, token: sendToken, input };
  return post(`${baseUrl}/execute`, { 'Idempotency-Key': receiverKey }, body);
}

async function post(url: string, headers: Record<string, string>, body: unknown): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

export function zooTool(baseUrl: string, receiver: ContractInput): ToolDefinition<ZooInput, Json> {
  return defineTool<ZooInput, Json>({
    ...{ name: 'make_thing', version: '1', description: 'Makes a thing.', receiver },
    input: z.object({ name: z.string(), slow: z.boolean().optional() }),
    execute: async (input, attempt) => settled(await sendThing(baseUrl, input, attempt)),
    async inquire({ receiverKey, principal, sendToken, input }) {
      const path = receiver.closing === 'none' ? '/ask' : '/close';
      const body = { principal: principal.user, run: '', token: sendToken, input };
      const headers = { 'Idempotency-Key': receiverKey };
      return answered(await post(`${baseUrl}${path}`, headers, body), receiver);
    },
    async fence({ runId, principal, sendToken }) {
      const body = { principal: principal.user, run: runId, token: sendToken, input: {} };
      await post(`${baseUrl}/fence`, {}, body);
    },
  });
}

export function settled(answer: Answer): Settlement<Json> {
  const code = String(answer['code']);
  if (answer.state === 'executed' && answer['keyed'] === true)
    return { kind: 'executed', result: null, externalId: String(answer['id']) };
  if (answer.state === 'declined') return { kind: 'not_taken', code, message: code };
  throw new Error(`${answer.state} settles nothing`);
}

function answered(answer: Answer, { closing }: ContractInput): InquiryAnswer<Json> {
  switch (answer.state) {
    case 'executed':
      return { verdict: 'executed', result: null, externalId: String(answer['id']) };
    case 'closed':
      return {
        verdict: 'not_executed',
        proof: closing === 'by_key' ? 'closed_key' : 'closed_token',
      };
    case 'processing':
      return { verdict: 'processing' };
    default:
      return { verdict: 'no_record' };
  }
}
