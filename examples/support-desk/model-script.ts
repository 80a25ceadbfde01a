// What the scripted model says next: a pure function of the conversation. It keeps no count of
// requests, so a request that is sent again gets the same reply.

import * as z from 'zod';

export const messageSchema = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.null(), z.array(z.unknown())]).optional(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        function: z.looseObject({ name: z.string(), arguments: z.string() }),
      }),
    )
    .optional(),
  tool_call_id: z.string().optional(),
});
export type Message = z.infer<typeof messageSchema>;

export interface ScriptedCall {
  readonly tool: string;
  readonly input: unknown;
}

/** Calls, or the final words. */
export type ScriptedReply =
  | { readonly kind: 'calls'; readonly calls: readonly ScriptedCall[] }
  | { readonly kind: 'text'; readonly text: string };

/** Name of the file that the summary is written to. */
export const SUMMARY = 'summary.txt';

const mailsSchema = z.object({
  mails: z.array(z.object({ from: z.string(), subject: z.string(), body: z.string() })),
});
type Mails = z.infer<typeof mailsSchema>['mails'];
const ticketSchema = z.object({ ticket: z.string() });
const creditSchema = z.object({ balance: z.number() });

export function nextReply(messages: readonly Message[]): ScriptedReply {
  const told = toldByTool(messages);
  const read = told.get('read_mails');
  if (read === undefined) return calls({ tool: 'read_mails', input: {} });
  const { mails } = mailsSchema.safeParse(jsonOf(read.at(-1))).data ?? {};
  if (mails === undefined)
    return { kind: 'text', text: `The mails could not be read: ${read.at(-1)}` };
  return isAboutRefunds(messages) ? nextRefund(mails, told) : nextTicket(mails, told);
}

function nextTicket(mails: Mails, told: Told): ScriptedReply {
  const tickets = told.get('open_ticket');
  if (tickets === undefined && mails.length > 0)
    return calls(...mails.map((input) => ({ tool: 'open_ticket', input })));
  const ids = (tickets ?? []).map((words) => ticketSchema.safeParse(jsonOf(words)).data?.ticket);
  const opened = ids.filter((id) => id !== undefined);
  const words = `${mails.length} mails, ${opened.length} tickets opened`;
  if (!told.has('send_notice'))
    return calls({ tool: 'send_notice', input: noticeOf(`${words}. The summary follows.`) });
  if (!told.has('write_summary'))
    return calls({
      tool: 'write_summary',
      input: { path: SUMMARY, content: summaryOf(mails, ids, words) },
    });
  return { kind: 'text', text: `${words}; the summary is written.` };
}

/** The goal asks for refunds, not for tickets. */
function isAboutRefunds(messages: readonly Message[]): boolean {
  return messages.some((each) => each.role === 'user' && textOf(each).includes('refund'));
}

const ASKED = /\brefund (\d+)\.(\d\d) EUR\b/;

function nextRefund(mails: Mails, told: Told): ScriptedReply {
  const asked = mails.flatMap(({ from, body }) => {
    const [, euros, cents] = ASKED.exec(body) ?? [];
    return euros === undefined ? [] : [{ account: from, amount: Number(`${euros}${cents}`) }];
  });
  const credits = told.get('credit_customer');
  if (credits === undefined && asked.length > 0)
    return calls(...asked.map((input) => ({ tool: 'credit_customer', input })));
  const paid = (credits ?? []).filter((words) => creditSchema.safeParse(jsonOf(words)).success);
  const words = `${asked.length} refunds asked for, ${paid.length} paid`;
  if (!told.has('send_notice')) return calls({ tool: 'send_notice', input: noticeOf(words) });
  return { kind: 'text', text: `${words}; the notice is sent.` };
}

function noticeOf(body: string) {
  return { to: 'support-lead@example.com', subject: 'The morning mail is done', body };
}

/** A ticket without an id is one whose outcome is not known: said so, and not opened again. */
function summaryOf(
  mails: readonly { readonly from: string; readonly subject: string }[],
  ids: readonly (string | undefined)[],
  words: string,
): string {
  const lines = mails.map(
    ({ from, subject }, index) => `${ids[index] ?? 'not known'}\t${from}\t${subject}`,
  );
  return `${words}\n${lines.join('\n')}\n`;
}

function calls(...list: readonly ScriptedCall[]): ScriptedReply {
  return { kind: 'calls', calls: list };
}

type Told = ReadonlyMap<string, string[]>;

/** What came of the calls of each tool, in the order of the calls. */
function toldByTool(messages: readonly Message[]): Told {
  const answers = new Map(messages.map((each) => [each.tool_call_id, textOf(each)]));
  const told = new Map<string, string[]>();
  for (const call of messages.flatMap((each) => each.tool_calls ?? [])) {
    const { name } = call.function;
    told.set(name, [...(told.get(name) ?? []), answers.get(call.id) ?? '']);
  }
  return told;
}

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/** Words that are no JSON are words, e.g. that the outcome is unknown. */
function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}
