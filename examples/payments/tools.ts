// The payment API as a tool, from its documentation: what it promises, and what its answers mean.

import * as z from 'zod';
import { defineTool, KeyRefusedError, type Settlement } from '../../activities/index.ts';

const DAY_MS = 24 * 3_600_000;

const chargeSchema = z.strictObject({ card: z.string().min(1), cents: z.int().positive() });
type Charge = z.infer<typeof chargeSchema>;

/** Not listed, and so ambiguous: 500, 502, 504, whatever comes new, and no answer at all. */
const answers: Readonly<Record<number, 'executed' | 'refused' | 'not_taken' | 'key_refused'>> = {
  200: 'executed',
  400: 'refused',
  402: 'refused',
  401: 'not_taken',
  // Another request with this key is at work; nothing is said about what becomes of that one.
  409: 'not_taken',
  422: 'key_refused',
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
      const headers = {
        'Content-Type': 'application/json',
        Authorization: 'Bearer shop',
        'Idempotency-Key': encodeURIComponent(attempt.receiverKey),
      };
      const body = JSON.stringify(charge);
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      const signal = AbortSignal.any([attempt.signal, timeout]);
      const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const;
      attempt.beforeSend();
      return settlementOf(await fetch(`${settings.url}/v1/charges`, init));
    },
  });
  return { charge_card: chargeCard };
}

/** Throws where the answer settles nothing. */
async function settlementOf(response: Response): Promise<Settlement<{ charge: string }>> {
  const { status } = response;
  switch (answers[status]) {
    case 'executed': {
      const { id } = chargedSchema.parse(await response.json());
      return { kind: 'executed', externalId: id, result: { charge: id } };
    }
    case 'refused':
      return { kind: 'refused', ...refusedSchema.parse(await response.json()) };
    case 'not_taken':
      // Often said by a gateway in front, with a page of its own: the status is enough.
      return { kind: 'not_taken', code: String(status), message: '', ...againAfter(response) };
    case 'key_refused':
      throw new KeyRefusedError(await response.text());
    default:
      throw new Error(`${status} settles nothing`);
  }
}

function againAfter({ headers }: Response) {
  const seconds = Number(headers.get('Retry-After') ?? Number.NaN);
  return seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
}
