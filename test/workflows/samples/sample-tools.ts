// Tools of the sample workflows; only their types reach the workflows.

import * as z from 'zod';
import { defineTool } from '../../../activities/index.ts';

const receiver = { inquiry: { consistency: 'strong', settleMs: 0 } } as const;

export const sampleTools = {
  charge_card: defineTool({
    name: 'charge_card',
    version: '1',
    description: 'Charges a card.',
    input: z.object({ amount: z.number() }),
    receiver,
    execute: async () => ({ kind: 'executed', result: { ok: true } }),
  }),
  read_note: defineTool({
    name: 'read_note',
    version: '1',
    description: 'Reads a note.',
    input: z.object({ about: z.string() }),
    replay: 'safe',
    execute: async () => ({ kind: 'executed', result: { text: 'hello' } }),
  }),
  post_letter: defineTool({
    name: 'post_letter',
    version: '1',
    description: 'Posts a letter.',
    input: z.object({ to: z.string() }),
    execute: async () => ({ kind: 'executed', result: null }),
  }),
};
