// An attempt that no ledger knows, for tests of what a tool does with a file and not of what a run
// makes of it. Each is of an action of its own.

import { randomUUID } from 'node:crypto';
import type { Attempt } from '../../activities/tool.ts';
import { digestOfBytes } from '../../core/digest.ts';

export function looseAttempt(over: Partial<Attempt> = {}): Attempt {
  const actionId = randomUUID();
  return {
    runId: 'run',
    actionId,
    attemptId: `${actionId}~1`,
    number: 1,
    receiverKey: `test/${actionId}`,
    sendToken: { epoch: 1, number: 1 },
    firstSentAt: 0,
    payloadDigest: digestOfBytes(Buffer.from(actionId)),
    principal: { user: 'ada', workspace: 'w1' },
    signal: new AbortController().signal,
    prepare: async () => undefined,
    beforeSend: () => undefined,
    ...over,
  };
}
