// What the job API has written down itself: what is counted in the end.

import type { ServiceProcess } from '../support-desk/receivers.ts';

export interface Job {
  readonly id: string;
  /** What the caller calls it. Searched for, never compared: the same one twice is two jobs. */
  readonly client_reference: string;
  readonly status: 'running' | 'done' | 'failed';
  readonly result: string | null;
}

export async function jobsFor(
  receiver: Pick<ServiceProcess, 'get'>,
  actionId: string,
): Promise<readonly Job[]> {
  const { jobs } = await receiver.get<{ jobs: Job[] }>('/jobs');
  return jobs.filter(({ client_reference }) => client_reference.endsWith(actionId));
}

/** The paths of the questions that reached it, in their order. */
export async function asksAbout(
  receiver: Pick<ServiceProcess, 'get'>,
  path: string,
): Promise<number> {
  const { asks } = await receiver.get<{ asks: string[] }>('/asks');
  return asks.filter((each) => each === path).length;
}
