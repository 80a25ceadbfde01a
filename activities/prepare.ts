// `attempt.prepare`: marks into the ledger, or the attempt goes no further; nothing has left then.

import type { PerformCall } from '../core/activity-calls.ts';
import { marksSchema } from '../core/fact-fields.ts';
import { decidePrepare } from '../core/prepare.ts';
import { type Ledger, LedgerError } from '../ledger/port.ts';
import { messageOf } from './failures.ts';
import type { SendWindow } from './send-window.ts';
import { type Attempt, NotSentError } from './tool.ts';

export function prepareWith(
  ledger: Ledger,
  call: PerformCall,
  window: Pick<SendWindow, 'hasPassed'>,
): Attempt['prepare'] {
  const { runId, actionId, attemptId, pin } = call;
  return async (marks) => {
    // Whoever looks for an effect by marks takes their absence for a proof.
    if (window.hasPassed())
      throw new Error(`${attemptId}: prepare comes before beforeSend; change the tool`);
    const parsed = marksSchema.safeParse(marks);
    if (!parsed.success) throw notPrepared(attemptId, parsed.error.message);
    const decide = decidePrepare({ actionId, attemptId, marks: parsed.data, pin });
    const record = () => ledger.transact({ runId, actionId, attemptId, pin: pin.head }, decide);
    const { reply } = await record()
      // A lost reply: the same marks again change nothing.
      .catch((error: unknown) => {
        if (!(error instanceof LedgerError) || error.nothingWritten) throw error;
        return record();
      })
      .catch((error: unknown) => {
        throw notPrepared(attemptId, messageOf(error));
      });
    if (reply !== null) throw notPrepared(attemptId, reply);
  };
}

function notPrepared(attemptId: string, why: string): NotSentError {
  return new NotSentError(`${attemptId}: not prepared, so nothing was sent: ${why}`);
}
