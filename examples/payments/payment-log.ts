// What the payment API has written down itself: what is counted in the end.

import type { ServiceProcess } from '../support-desk/receivers.ts';

export interface Charged {
  readonly id: number;
  readonly account: string;
  readonly key: string;
  readonly card: string;
  readonly cents: number;
}

/** One request that reached it. */
export interface Requested {
  readonly key: string;
  readonly body: string;
  /** What it was answered, whether that arrived or not; null while it is at work. */
  status: number | null;
}

export async function requestsFor(
  receiver: Pick<ServiceProcess, 'get'>,
  actionId: string,
): Promise<readonly Requested[]> {
  const { requests } = await receiver.get<{ requests: Requested[] }>('/requests');
  return requests.filter(({ key }) => key.endsWith(actionId));
}

export async function chargesFor(
  receiver: Pick<ServiceProcess, 'get'>,
  actionId: string,
): Promise<readonly Charged[]> {
  const { charges } = await receiver.get<{ charges: Charged[] }>('/charges');
  return charges.filter(({ key }) => key.endsWith(actionId));
}
