// Jobs that a provider runs and bills: nothing aborts them, nobody can be asked about them, and
// what comes back says what it has cost. One of them is waited for only briefly.

import * as z from 'zod';
import { defineTool } from '../../activities/index.ts';
import { httpReceiver } from '../../activities/tools/http-receiver.ts';
import type { Json } from '../../core/digest.ts';
import { limits } from '../../core/limits.ts';

const input = z.strictObject({ name: z.string() });
type Input = z.infer<typeof input>;

/** What every job costs. */
export const JOB_USAGE = { requests: 1, inputTokens: 30, outputTokens: 12 } as const;

/** Long enough to arrive at the receiver; then nobody waits for it any more. */
const BRIEF_MS = 2_500;

export function billedTools(baseUrl: string) {
  const job = jobAt(baseUrl);
  const brief = { startToCloseMs: BRIEF_MS, heartbeatTimeoutMs: BRIEF_MS };
  return { rent: job('rent'), rent_briefly: { ...job('rent_briefly'), ...brief } };
}

function jobAt(baseUrl: string) {
  const scope = { receiver: 'reference', account: 'a1', workspace: 'w1', region: 'local' };
  const {
    execute,
    inquire: _,
    ...adapter
  } = httpReceiver<Input, Json>({
    baseUrl,
    operation: 'create_record',
    operationVersion: '1',
    contract: {
      ...{ scope, retentionMs: limits.receiverRetentionMs },
      ...{ inquiry: 'none', closing: 'none' },
    },
  });
  return (name: string) =>
    defineTool<Input, Json>({
      ...{ name, version: '1', description: 'Rents a machine and runs a job.', input },
      ...adapter,
      async execute(job, attempt) {
        const deaf = { ...attempt, signal: new AbortController().signal };
        const settlement = await execute(job, deaf);
        return settlement.kind === 'executed'
          ? { ...settlement, cost: { kind: 'known', usage: JOB_USAGE } }
          : settlement;
      },
    });
}
