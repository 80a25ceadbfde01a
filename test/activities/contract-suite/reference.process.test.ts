// Catches: a suite that finds fault with a receiver that keeps its word, and one that does not
// count what a receiver without keys does twice. Real receivers, SIGKILL.

import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { assertContract, checkContract } from '../../../activities/contract-suite.ts';
import { defineTool } from '../../../activities/index.ts';
import { httpReceiver } from '../../../activities/tools/http-receiver.ts';
import type { Json } from '../../../core/digest.ts';
import { startReceiver } from '../../support/receiver-process.ts';
import { tempDir } from '../../support/temp-dir.ts';

const scope = { receiver: 'desk', account: 'acme', workspace: 'w1', region: 'eu' };
const principals = [
  { user: 'ada', workspace: 'w1' },
  { user: 'bob', workspace: 'w1' },
] as const;

test('R-030 R-102 A13 B9 the reference receiver, killed now and then, is L3', async () => {
  const store = join(tempDir(), 'store');
  let receiver = await startReceiver({ store });
  onTestFinished(() => receiver.kill());
  const report = await checkContract({
    adapter: (baseUrl) =>
      defineTool<{ subject: string }, Json>({
        name: 'open_ticket',
        version: '1',
        description: 'Opens a ticket.',
        input: z.object({ subject: z.string() }),
        replay: 'keyed',
        ...httpReceiver<{ subject: string }, Json>({
          ...{ baseUrl, operation: 'open_ticket', operationVersion: '1' },
          contract: { scope, retentionMs: 86_400_000, fencing: 'honoured' },
        }),
      }),
    endpoint: receiver.url,
    input: (n) => ({ subject: `printer ${n}` }),
    effects: async ({ receiverKey }) =>
      (await receiver.effects()).filter(({ key }) => key === receiverKey).length,
    principals,
    async restart() {
      await receiver.kill();
      receiver = await startReceiver({ store });
      return receiver.url;
    },
  });
  expect(report.problems).toEqual([]);
  expect(report).toMatchObject({ declaredLevel: 'L3', level: 'L3', notes: [] });
  expect(report.fields.map(({ field, found }) => `${field} ${found}`)).toMatchInlineSnapshot(`
    [
      "scope held",
      "identity held",
      "retentionMs held",
      "requestDelayMaxMs held",
      "inquiry held",
      "closing held",
      "fencing held",
      "continuing held",
    ]
  `);
  assertContract(report);
});

test('R-029 B9 a mail gateway that cannot be asked is L0, as declared, and not L2', async () => {
  const gateway = await startReceiver({ kind: 'dumb', store: join(tempDir(), 'mail.jsonl') });
  onTestFinished(() => gateway.kill());
  let mails = 0;
  const declaring = (receiver: object) =>
    checkContract({
      adapter: (baseUrl) =>
        defineTool<{ subject: string }, Json>({
          name: 'send_mail',
          version: '1',
          description: 'Sends a mail.',
          input: z.object({ subject: z.string() }),
          receiver,
          async execute({ subject }, { receiverKey, beforeSend }) {
            beforeSend();
            const response = await fetch(`${baseUrl}/send`, {
              method: 'POST',
              headers: { 'Idempotency-Key': receiverKey },
              body: JSON.stringify({ to: 'a@example.com', subject, body: '' }),
            });
            if (response.status !== 200) throw new Error(`status ${response.status}`);
            return { kind: 'executed', result: null };
          },
        }),
      endpoint: gateway.url,
      input: () => ({ subject: `mail ${++mails}` }),
      effects: async ({ input }) =>
        (await gateway.log()).filter(
          ({ mail }) =>
            (mail as { subject: string }).subject ===
            (input as typeof mail & { subject: string }).subject,
        ).length,
      principals,
    });
  const honest = await declaring({});
  expect(honest).toMatchObject({ declaredLevel: 'L0', level: 'L0', problems: [], notes: [] });
  assertContract(honest);
  const bold = await declaring({
    scope,
    identity: { travelsAs: 'header Idempotency-Key' },
    retentionMs: 86_400_000,
  });
  expect(bold).toMatchObject({ declaredLevel: 'L2', level: 'L0' });
  expect(bold.problems.map(({ field }) => field)).toEqual(['identity']);
  expect(() => assertContract(bold)).toThrow(/identity: declared .*; declare {"identity":"none"}/);
});
