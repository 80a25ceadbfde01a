// The tools of the zombie tests, all on one queue that no other worker serves: by what their
// receiver can do about a request that comes late.

import * as z from 'zod';
import { createFileTool, defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

export const zombieSettingsSchema = z.strictObject({
  receiverUrl: z.url(),
  gatewayUrl: z.url(),
  bundlePath: z.string(),
  stands: z.string(),
  /** Task queue of the tools, and the one of `shelved_notice` alone. */
  toolQueue: z.string(),
  shelfQueue: z.string(),
  /** Where `create_file` writes. */
  files: z.string(),
  serves: z.array(z.string()).nonempty(),
  /** As many attempts at a time; one whose slots are all taken asks the server for nothing more. */
  slots: z.int().positive().optional(),
});
export type ZombieSettings = z.infer<typeof zombieSettingsSchema>;

const input = z.record(z.string(), z.json());
type Input = z.infer<typeof input>;
const notice = z.strictObject({ to: z.string(), subject: z.string(), body: z.string() });

/** An attempt may run no longer than this; its heartbeats change nothing about it. */
const BRIEF_MS = 3_000;
/** Long enough to see its heartbeats come one by one. */
export const STEADY_MS = 8_000;
const BUSY_MS = 600_000;
/** Longer than any test freezes a worker whose lease is to last. */
const PATIENT_MS = 30_000;

export function zombieTools(settings: ZombieSettings) {
  const { receiverUrl, gatewayUrl, toolQueue: taskQueue, shelfQueue, files } = settings;
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  const contract = { scope, retentionMs: limits.receiverRetentionMs, fencing: 'honoured' } as const;
  const at = (operation: string, over: Partial<ContractInput> = {}) =>
    httpReceiver<Input, Json>({
      ...{ baseUrl: receiverUrl, operation, operationVersion: '1' },
      contract: { ...contract, ...over },
    });
  const described = { version: '1', description: 'At the receiver.', input, taskQueue };
  const { inquire: _, ...mute } = at('credit', { inquiry: 'none', closing: 'none' });
  const asked = at('create_record', { closing: 'none' });
  return {
    /** Closes the door for old send tokens. */
    add: defineTool<Input, Json>({ name: 'add', ...described, replay: 'keyed', ...at('add') }),
    /** Knows keys, answers no questions: all that is left is the same key again. */
    credit: defineTool<Input, Json>({ name: 'credit', ...described, replay: 'keyed', ...mute }),
    /** Never repeated; its receiver can be asked. */
    record: defineTool<Input, Json>({ name: 'record', ...described, ...asked }),
    notice: noticeTool('notice', { gatewayUrl, taskQueue }),
    patient_notice: {
      ...noticeTool('patient_notice', { gatewayUrl, taskQueue }),
      heartbeatTimeoutMs: PATIENT_MS,
    },
    steady_notice: {
      ...noticeTool('steady_notice', { gatewayUrl, taskQueue }),
      heartbeatTimeoutMs: STEADY_MS,
    },
    brief_notice: {
      ...noticeTool('brief_notice', { gatewayUrl, taskQueue }),
      startToCloseMs: BRIEF_MS,
      heartbeatTimeoutMs: BRIEF_MS,
    },
    shelved_notice: {
      ...noticeTool('shelved_notice', { gatewayUrl, taskQueue: shelfQueue }),
      heartbeatTimeoutMs: PATIENT_MS,
    },
    lookup: lookupTool({ receiverUrl, taskQueue }),
    busy_lookup: busyLookupTool({ receiverUrl, taskQueue }),
    /** On the queue of the actions: it works while the tools' worker is frozen. */
    create_file: createFileTool({ root: files }),
  };
}

/** Nobody there knows keys or answers questions: each request is one more notice. */
export function noticeTool(
  name: string,
  at: { readonly gatewayUrl: string; readonly taskQueue: string },
) {
  return defineTool<z.infer<typeof notice>, Json>({
    ...{ name, version: '1', description: 'Sends one notice.', input: notice },
    taskQueue: at.taskQueue,
    async execute(mail, attempt) {
      const body = JSON.stringify(mail);
      attempt.beforeSend();
      const response = await fetch(`${at.gatewayUrl}/send`, { method: 'POST', body });
      if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
      return { kind: 'executed', result: { queued: true } };
    },
  });
}

/** A read, which its receiver logs as well; it has no result before there is a record. */
function lookupTool(at: { readonly receiverUrl: string; readonly taskQueue: string }) {
  return defineTool<{ key: string }, Json>({
    ...{ name: 'lookup', version: '1', description: 'Looks something up.' },
    input: z.strictObject({ key: z.string() }),
    replay: 'safe',
    taskQueue: at.taskQueue,
    async execute({ key }, attempt) {
      const url = `${at.receiverUrl}/operations/add/keys/${encodeURIComponent(key)}`;
      const headers = { 'Holdfast-Principal': 'w1/ada', 'Holdfast-Operation-Version': '1' };
      attempt.beforeSend();
      const response = await fetch(url, { headers });
      const said = (await response.json()) as { readonly [name: string]: Json };
      if (said['operation_state'] !== 'executed') throw new Error('there is no such record yet');
      return { kind: 'executed', result: said };
    },
  });
}

/** A read that its receiver puts off; after the second time for longer than any test takes. */
function busyLookupTool(at: { readonly receiverUrl: string; readonly taskQueue: string }) {
  return defineTool<{ key: string }, Json>({
    ...{ name: 'busy_lookup', version: '1', description: 'Looks something up.' },
    input: z.strictObject({ key: z.string() }),
    replay: 'safe',
    taskQueue: at.taskQueue,
    async execute({ key }, attempt) {
      const url = `${at.receiverUrl}/operations/add/keys/${encodeURIComponent(key)}`;
      const headers = { 'Holdfast-Principal': 'w1/ada', 'Holdfast-Operation-Version': '1' };
      attempt.beforeSend();
      await (await fetch(url, { headers })).json();
      const retryAfterMs = attempt.number < 2 ? 0 : BUSY_MS;
      return { kind: 'not_taken', code: 'busy', message: 'ask again later', retryAfterMs };
    },
  });
}
