// A mail gateway as a tool. It takes what it gets: no key, no question, no way to close the door.
// All that can be done for later is to make each mail findable (rule B12).

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';

const mailSchema = z.strictObject({ to: z.string().min(1), subject: z.string(), body: z.string() });
type Mail = z.infer<typeof mailSchema>;

/** What the left side of a Message-ID may not hold: a dot may stand between others only. */
const UNFIT = /[^A-Za-z0-9!#$&'*+/=?^_`{|}~.-]|^\.|\.$|\.(?=\.)/g;

/** The same for every attempt of one action, and for no other; a person finds the mail by it. */
export function messageIdOf(receiverKey: string): string {
  const local = receiverKey.replaceAll(UNFIT, (sign) => {
    const bytes = [...Buffer.from(sign, 'utf8')];
    return bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  });
  return `<${local}@shop.example>`;
}

export function mailTools(settings: { readonly url: string }) {
  const sendMail = defineTool<Mail, { messageId: string }>({
    name: 'send_mail',
    version: '1',
    description: 'Sends one mail.',
    input: mailSchema,
    // No `replay`: never repeated. The scope only names whom to look at; nothing is promised: L0.
    receiver: {
      scope: { receiver: 'mail-gateway', account: 'shop', workspace: 'live', region: 'eu' },
    },
    async execute(mail, attempt) {
      const messageId = messageIdOf(attempt.receiverKey);
      const body = JSON.stringify({ ...mail, message_id: messageId });
      attempt.beforeSend();
      const { signal } = attempt;
      const response = await fetch(`${settings.url}/send`, { method: 'POST', body, signal });
      // Any other answer leaves open whether it went out.
      if (response.status !== 200) throw new Error(`the gateway answered ${response.status}`);
      return { kind: 'executed', result: { messageId } };
    },
  });
  return { send_mail: sendMail };
}
