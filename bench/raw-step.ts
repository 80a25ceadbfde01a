// The raw side's activity: the same operation of the same receiver, with the same key header.

import { encodeKeyHeader, headerNames } from '../receiver/index.ts';

export interface Addition {
  readonly counter: string;
  readonly delta: number;
}

export interface RawActivities {
  rawStep(step: { readonly key: string; readonly input: Addition }): Promise<unknown>;
}

export const OPERATION = 'add';
export const OPERATION_VERSION = '1';

export function rawActivities(receiverUrl: string): RawActivities {
  return {
    async rawStep({ key, input }) {
      const response = await fetch(`${receiverUrl}/operations/${OPERATION}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          [headerNames.principal]: 'bench',
          [headerNames.version]: OPERATION_VERSION,
          [headerNames.key]: encodeKeyHeader(key),
        },
        body: JSON.stringify(input),
      });
      const answer: unknown = await response.json();
      if (!response.ok) throw new Error(`${key}: ${response.status} ${JSON.stringify(answer)}`);
      return answer;
    },
  };
}
