import { holdfast } from 'holdfast/workflow';
import type { tools } from './tools.ts';

export { unknownAction } from 'holdfast/workflow'; // asks about what nobody knows

export const invoice = holdfast<typeof tools>().run(
  async ({ act }, order: { card: string; cents: number }) => {
    const charge = await act('charge_card', order, { onUnknown: 'continue' });
    if (charge.kind === 'executed') return `charged, receipt ${charge.result.receipt}`;
    if (charge.kind === 'unknown') return `nobody knows yet; see unknown.${charge.actionId}`;
    return `${charge.kind}: see run`; // not_executed, partial, accepted, …
  },
);
