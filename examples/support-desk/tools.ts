// The tools of the support desk, and what each receiver really promises. One composition: the
// worker takes them as they are.

import { basename, dirname } from 'node:path';
import * as z from 'zod';
import { defineTool, type Tools } from '../../activities/index.ts';
import { createFileTool } from '../../activities/tools/files/create-file.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import { readFileTool } from '../../activities/tools/read-file.ts';
import { limits } from '../../core/limits.ts';
import { type Mail, mailsIn } from './mails.ts';

const settingsSchema = z
  .object({
    SUPPORT_DESK_BUNDLE: z.string().min(1),
    SUPPORT_DESK_KILL_POINTS: z.string().min(1),
    SUPPORT_DESK_MAILS: z.string().min(1),
    SUPPORT_DESK_OUTPUT: z.string().min(1),
    SUPPORT_DESK_TICKETS_URL: z.url(),
    SUPPORT_DESK_NOTICES_URL: z.url(),
  })
  .transform((env) => ({
    bundle: env.SUPPORT_DESK_BUNDLE,
    killPoints: env.SUPPORT_DESK_KILL_POINTS,
    mails: env.SUPPORT_DESK_MAILS,
    output: env.SUPPORT_DESK_OUTPUT,
    ticketsUrl: env.SUPPORT_DESK_TICKETS_URL,
    noticesUrl: env.SUPPORT_DESK_NOTICES_URL,
  }));
export type DeskSettings = z.infer<typeof settingsSchema>;

/** Throws naming every setting that is missing. */
export function deskSettings(env: NodeJS.ProcessEnv): DeskSettings {
  const parsed = settingsSchema.safeParse(env);
  if (parsed.success) return parsed.data;
  throw new Error(`settings of the example: ${z.prettifyError(parsed.error)}`);
}

export function supportDeskTools(settings: DeskSettings) {
  return {
    read_mails: readMails(settings.mails),
    open_ticket: openTicket(settings.ticketsUrl),
    credit_customer: creditCustomer(settings.ticketsUrl),
    send_notice: sendNotice(settings.noticesUrl),
    write_summary: {
      ...createFileTool({ root: settings.output }),
      name: 'write_summary',
      description: 'Writes the summary of the morning as a new text file.',
    },
  } satisfies Tools;
}

function readMails(path: string) {
  const file = readFileTool({ root: dirname(path) });
  return defineTool({
    name: 'read_mails',
    version: '1',
    description: 'Reads all support mails of the morning.',
    input: z.strictObject({}),
    replay: 'safe',
    async execute(_, attempt) {
      const read = await file.execute({ path: basename(path) }, attempt);
      if (read.kind !== 'executed') return read;
      const mails: Mail[] = [...mailsIn(read.result.text)];
      return { kind: 'executed', result: { mails } };
    },
  });
}

/** The mail's id is no part of a ticket: two mails with the same text give the same input. */
const ticketSchema = z.strictObject({
  from: z.string().min(1),
  subject: z.string(),
  body: z.string(),
});
type Ticket = z.infer<typeof ticketSchema>;

/** It also keeps what customers are owed. */
const ticketSystem = {
  scope: { receiver: 'ticket-system', account: 'example', workspace: 'support', region: 'local' },
  retentionMs: limits.receiverRetentionMs,
  fencing: 'honoured',
} as const;

function openTicket(baseUrl: string) {
  return defineTool<Ticket, { ticket: string }>({
    name: 'open_ticket',
    version: '1',
    description: 'Opens one ticket.',
    input: ticketSchema,
    replay: 'keyed',
    ...httpReceiver({
      baseUrl,
      operation: 'open_ticket',
      operationVersion: '1',
      contract: ticketSystem,
    }),
  });
}

const creditSchema = z.strictObject({
  account: z.string().min(1),
  amount: z.int().positive().describe('cents'),
});
type Credit = z.infer<typeof creditSchema>;

/** A refund of more than fifty euros is for a person to approve. */
function creditCustomer(baseUrl: string) {
  return defineTool<Credit, { balance: number }>({
    name: 'credit_customer',
    version: '1',
    description: "Credits a refund to a customer's account.",
    input: creditSchema,
    replay: 'keyed',
    approval: { when: ({ amount }) => amount > 5_000 },
    ...httpReceiver({
      baseUrl,
      operation: 'credit',
      operationVersion: '1',
      contract: ticketSystem,
    }),
  });
}

/** The gateway takes what it gets: no key, no question, no way to close. Level L0. */
function sendNotice(baseUrl: string) {
  return defineTool({
    name: 'send_notice',
    version: '1',
    description: 'Sends one notice by mail.',
    input: z.strictObject({ to: z.string().min(1), subject: z.string(), body: z.string() }),
    async execute(notice, attempt) {
      const body = JSON.stringify(notice);
      attempt.beforeSend();
      const response = await fetch(`${baseUrl}/send`, {
        method: 'POST',
        body,
        signal: attempt.signal,
      });
      // Any other answer leaves open whether it went out.
      if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
      return { kind: 'executed', result: { queued: true } };
    },
  });
}
