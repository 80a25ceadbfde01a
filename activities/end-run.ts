// Ends a run: `run_ended` is durable before the result is returned. Passes the barrier.

import type { EndRunCall, EndRunReply } from '../core/activity-calls.ts';
import { canonicalBytes, digestOfBytes } from '../core/digest.ts';
import { decideEnd, type EndAsk } from '../core/end-run.ts';
import { limits } from '../core/limits.ts';
import { runResultOf } from '../core/run-result.ts';
import { headOf } from './answers.ts';
import { passBarrier } from './barrier.ts';
import { deliveryOf } from './delivery.ts';
import type { ActivityDeps } from './deps.ts';
import { viewOf } from './gate-entry.ts';
import { sendWindow } from './send-window.ts';

export function endRunWith(deps: ActivityDeps) {
  return async (call: EndRunCall): Promise<EndRunReply> => {
    const { runId, end, epoch, consumes, pin, goalRevision } = call;
    const delivery = deliveryOf(deps.clock, { runId, attemptId: null });
    const answer = answerOf(call.answer);
    const barrier = await passBarrier(
      { server: deps.barrier, clock: deps.clock, waitMs: deps.barrierWaitMs },
      delivery.target,
    );
    const window = sendWindow(deps.clock, barrier.askedAt, limits.barrierAgeMs);
    const committed = await deps.ledger.transact({ runId, pin: pin.head }, (view) =>
      decideEnd({
        ...{ end, epoch, consumes, pin, goalRevision, answer },
        barrier: viewOf(barrier, window),
      })(view),
    );
    const { reply, run } = committed;
    if (reply.kind === 'refused') return { ...reply, ...headOf(committed) };
    if (run.ended === null) throw new Error(`${runId}: ended without run_ended`);
    return { kind: 'ended', result: runResultOf(run, run.ended) };
  };
}

/** Throws NotCanonicalError where the workflow's value is no JSON. */
function answerOf(answer: EndRunCall['answer']): EndAsk['answer'] {
  switch (answer.kind) {
    case 'none':
      return { ref: null, payload: null };
    case 'stored':
      return { ref: answer.payload, payload: null };
    case 'inline': {
      const bytes = canonicalBytes(answer.value);
      const payload = { digest: digestOfBytes(bytes), bytes };
      return { ref: { digest: payload.digest, bytes: bytes.length }, payload };
    }
  }
}
