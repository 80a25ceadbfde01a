// Tools that ask for approval, cost money, or depend on versions, as a worker declares them. What
// another worker declares otherwise is in `DECLARED`: withdrawn tools, a policy that is tighter.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { ContractInput } from '../../core/contract.ts';
import type { Cost } from '../../core/cost.ts';
import type { Json } from '../../core/digest.ts';
import type { Versions } from '../../core/fact-fields.ts';
import { limits } from '../../core/limits.ts';
import { noticeTool, type ZombieSettings } from './zombie-tools.ts';

export const declaredSchema = z.strictObject({
  withdrawn: z.array(z.string()).default([]),
  /** `sign_large` asks for less, too. */
  tighter: z.boolean().default(false),
  /** Of a declaration that no worker starts with. */
  broken: z.boolean().default(false),
});
export type Declared = z.input<typeof declaredSchema>;

/** How long an approval of `sign_briefly` holds. */
export const BRIEFLY_MS = 3_000;
/** Longest that anything of `sign` may last or wait, besides a person. */
export const LEASE_MS = 2_000;
const USD = 'USD';
/** What `paid` reserves, and costs; and what `unbilled` reserves. */
export const PAID_MICROS = 600_000;
export const UNBILLED_MICROS = 300_000;

/** What the versioned tools depend on, and what changes while an attempt of theirs is answered. */
export const versionsFile = (files: string, account: string) => join(files, `${account}.versions`);
export interface Meanwhile {
  readonly versions: Versions;
  /** `lost`: the receiver has answered, and nobody hears it. */
  readonly answer: 429 | 503 | 'lost';
}
export const meanwhileFile = (files: string, account: string) => join(files, `${account}.then`);

const anyInput = z.record(z.string(), z.json());
type Input = z.infer<typeof anyInput>;

export function authorityTools(settings: ZombieSettings, declared: Declared) {
  const { withdrawn, tighter, broken } = declaredSchema.parse(declared);
  const { toolQueue: taskQueue, shelfQueue, gatewayUrl, files } = settings;
  const at = receiverAt(settings.receiverUrl);
  const described = { version: '1', description: 'At the receiver.', taskQueue };
  const record = { ...described, input: anyInput, ...at('create_record', { closing: 'none' }) };
  const add = { ...described, input: anyInput, ...at('add') };
  const { inquire: _, ...mute } = at('credit', { inquiry: 'none', closing: 'none' });
  const brief = { startToCloseMs: LEASE_MS, heartbeatTimeoutMs: LEASE_MS };
  const sign = defineTool<Input, Json>({
    ...{ name: 'sign', ...record, ...brief, scheduleToStartMs: LEASE_MS },
    approval: broken ? ({ sometimes: true } as never) : 'always',
  });
  const tools = {
    sign,
    stamp: defineTool<Input, Json>({ name: 'stamp', ...record, approval: 'always' }),
    shelved_sign: { ...sign, name: 'shelved_sign', taskQueue: shelfQueue },
    sign_briefly: defineTool<Input, Json>({
      ...{ name: 'sign_briefly', ...record },
      approval: { always: true, validForMs: BRIEFLY_MS },
    }),
    sign_large: defineTool<Input, Json>({
      ...{ name: 'sign_large', ...record },
      approval: tighter
        ? { when: ({ amount }) => Number(amount) > 10 }
        : { when: ({ amount }) => Number(amount) > 100 },
    }),
    create: defineTool<Input, Json>({ name: 'create', ...record }),
    add: defineTool<Input, Json>({ name: 'add', ...add, replay: 'keyed' }),
    mail: noticeTool('mail', { gatewayUrl, taskQueue }),
    paid: billed('paid', add, { reserve: PAID_MICROS, cost: PAID_MICROS }),
    unbilled: billed('unbilled', add, { reserve: UNBILLED_MICROS, cost: null }),
    versioned: versioned('versioned', add, files),
    /** Its receiver can be asked nothing. */
    mute_versioned: versioned('mute_versioned', { ...described, input: anyInput, ...mute }, files),
  };
  const kept = Object.entries(tools).filter(([name]) => !withdrawn.includes(name));
  return Object.fromEntries(kept) as typeof tools;
}

function receiverAt(baseUrl: string) {
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  const contract = { scope, retentionMs: limits.receiverRetentionMs, fencing: 'honoured' } as const;
  return (operation: string, over: Partial<ContractInput> = {}) =>
    httpReceiver<Input, Json>({
      ...{ baseUrl, operation, operationVersion: '1' },
      contract: { ...contract, ...over },
    });
}

interface Bill {
  readonly reserve: number;
  /** Null: nobody says. */
  readonly cost: number | null;
}

type Adding = Omit<ReturnType<ReturnType<typeof receiverAt>>, 'inquire'> & {
  readonly version: string;
  readonly description: string;
  readonly taskQueue: string;
  readonly input: typeof anyInput;
};

function billed(name: string, add: Adding, { reserve, cost }: Bill) {
  const usage = { requests: 0, inputTokens: 0, outputTokens: 0 };
  const known = (micros: number): Cost => ({
    ...{ kind: 'known', usage },
    estimate: { currency: USD, micros, tableDate: '2026-11-01' },
  });
  return defineTool<Input, Json>({
    ...{ name, ...add, replay: 'keyed' },
    reserve: { money: { currency: USD, micros: reserve } },
    async execute(input, attempt) {
      const settlement = await add.execute(input, attempt);
      return settlement.kind === 'executed' && cost !== null
        ? { ...settlement, cost: known(cost) }
        : settlement;
    },
  });
}

/** Before its receiver stands one that turns away or loses a request, where a test says so. */
function versioned(name: string, adding: Adding, files: string) {
  const subject = ({ account, counter }: Input) => String(account ?? counter);
  const settlements = {
    429: { kind: 'not_taken', code: '429', message: 'too many requests' },
    503: { kind: 'not_taken', code: '503', message: 'come back later' },
  } as const;
  return defineTool<Input, Json>({
    ...{ name, ...adding, replay: 'keyed' },
    versions: async (input) =>
      JSON.parse(readFileSync(versionsFile(files, subject(input)), 'utf8')),
    async execute(input, attempt) {
      const path = meanwhileFile(files, subject(input));
      if (!existsSync(path)) return adding.execute(input, attempt);
      const { versions, answer } = JSON.parse(readFileSync(path, 'utf8')) as Meanwhile;
      rmSync(path);
      if (answer === 'lost') await adding.execute(input, attempt);
      writeFileSync(versionsFile(files, subject(input)), JSON.stringify(versions));
      if (answer === 'lost') throw new Error('the connection broke');
      return settlements[answer];
    },
  });
}
