// The payment API as a tool, from its documentation: what it promises, and what its answers mean.

import * as z from 'zod';
import { defineTool, type Settlement } from '../../activities/index.ts';
import { retryAfterOf } from '../../activities/tools/retry-after.ts';
import { canonicalJson } from '../../core/digest.ts';

const DAY_MS = 24 * 3_600_000;

const chargeSchema = z.strictObject({ card: z.string().min(1), cents: z.int().positive() });
type Charge = z.infer<typeof chargeSchema>;

/** Not listed, and so ambiguous: 500, 502, 504, whatever comes new, and no answer at all. */
const answers: Readonly<Record<number, 'executed' | 'refused' | 'not_taken'>> = {
  200: 'executed',
  400: 'refused',
  402: 'refused',
  401: 'not_taken',
  // Says that another request with this key is at work, and nothing about that one.
  409: 'not_taken',
  429: 'not_taken',
  503: 'not_taken',
};

const chargedSchema = z.looseObject({ id: z.string().min(1) });
const refusedSchema = z.object({ code: z.string().min(1), message: z.string() });

export function paymentTools(settings: { readonly url: string; readonly timeoutMs: number }) {
  const chargeCard = defineTool<Charge, { charge: string }>({
    name: 'charge_card',
    version: '1',
    description: 'Charges a card once.',
    input: chargeSchema,
    replay: 'keyed',
    // Level L2 for a day. It cannot be asked by key and cannot be closed: those parts are left out.
    receiver: {
      scope: { receiver: 'payments', account: 'shop', workspace: 'live', region: 'eu' },
      identity: { travelsAs: 'header Idempotency-Key' },
      retentionMs: DAY_MS,
    },
    async execute(charge, attempt) {
      const body = canonicalJson(charge);
      const headers = {
        'Content-Type': 'application/json',
        Authorization: 'Bearer shop',
        'Idempotency-Key': encodeURIComponent(attempt.receiverKey),
      };
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      const signal = AbortSignal.any([attempt.signal, timeout]);
      attempt.beforeSend();
      const url = `${settings.url}/v1/charges`;
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      return settlementOf(response);
    },
  });
  return { charge_card: chargeCard };
}

/** Throws where the answer settles nothing. */
async function settlementOf(response: Response): Promise<Settlement<{ charge: string }>> {
  const { status, headers } = response;
  switch (answers[status]) {
    case 'executed': {
      const { id } = chargedSchema.parse(await response.json());
      return { kind: 'executed', externalId: id, result: { charge: id } };
    }
    case 'refused':
      return { kind: 'refused', ...refusedSchema.parse(await response.json()) };
    case 'not_taken': {
      // Often said by a gateway in front, with a page of its own: the status is enough.
      const again = retryAfterOf(headers.get('Retry-After'));
      const told = { code: String(status), message: 'not considered' };
      return { kind: 'not_taken', ...told, ...(again === null ? {} : { retryAfterMs: again }) };
    }
    default:
      throw new Error(`${status} settles nothing: ${await response.text()}`);
  }
}
