// What the agent can do: input, what the receiver promises, and how it is called.

import { defineTool, httpReceiver } from 'holdfast/activities';
import * as z from 'zod';

const WEEK_MS = 7 * 24 * 3_600_000;

const chargeCard = defineTool<{ card: string; cents: number }, { receipt: string }>({
  name: 'charge_card',
  version: '1',
  description: 'Charges a card once.',
  input: z.strictObject({ card: z.string().min(1), cents: z.int().positive() }),
  replay: 'keyed',
  ...httpReceiver({
    baseUrl: process.env['CARD_SERVICE_URL'] ?? 'http://127.0.0.1:8088',
    operation: 'charge_card',
    operationVersion: '1',
    // Only what the service really promises; whatever is left out is `none`.
    contract: {
      scope: { receiver: 'cards', account: 'shop', workspace: 'default', region: 'local' },
      retentionMs: WEEK_MS,
    },
  }),
});

export const tools = { charge_card: chargeCard };
