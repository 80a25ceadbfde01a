// Storing a result: tried again while the process lives. The run hears of a ledger that stays down
// just before start-to-close, with the receipt in the failure's details.

import { limits } from '../core/limits.ts';
import type { RunState } from '../core/run-state.ts';
import { decideSettlement, type SettleAsk, type SettleReply } from '../core/settle.ts';
import { type Committed, LedgerError } from '../ledger/port.ts';
import type { ActivityDeps } from './deps.ts';
import { errorTypeOf } from './failures.ts';
import { withoutResult } from './settlement.ts';

export interface Stored {
  readonly committed: Committed<SettleReply>;
  /** The run as it stood just before. */
  readonly before: RunState;
}

/**
 * Throws the last error while the run can still be told of it, which is until `closesAt` (monotonic
 * ms); past that only the ledger is left to tell, and it is tried on for long.
 */
export async function storeResult(
  deps: ActivityDeps,
  runId: string,
  { ask, closesAt }: { readonly ask: SettleAsk; readonly closesAt: number },
): Promise<Stored> {
  const { clock, log } = deps;
  let current = ask;
  for (let tries = 0; ; tries++) {
    try {
      return await storeOnce(deps, runId, current);
    } catch (error) {
      const code = error instanceof LedgerError ? error.code : null;
      log.warn('result could not be stored', {
        ...{ run: runId, action: ask.actionId, attempt: ask.attemptId },
        errorType: code ?? errorTypeOf(error),
      });
      if (code === 'payload_too_large' && current.payloads.length > 0) {
        current = withoutResult(current, 'the ledger does not take so many bytes');
        continue;
      }
      const pauseMs = pauseAfter(tries);
      const giveUpAt = lastTryAt(clock.now().monotonicMs, closesAt);
      if (!mayPass(code) || clock.now().monotonicMs + pauseMs > giveUpAt) throw error;
      await clock.sleep(pauseMs);
    }
  }
}

async function storeOnce({ ledger }: ActivityDeps, runId: string, ask: SettleAsk): Promise<Stored> {
  const decide = decideSettlement(ask);
  let before: RunState | null = null;
  const look = { runId, attemptId: ask.attemptId, actionId: ask.actionId };
  const committed = await ledger.transact(look, (view) => {
    before = view.run;
    return decide(view);
  });
  return { committed, before: before ?? committed.run };
}

/** The last try has to be over, lock and all, before the run hears of nothing any more. */
function lastTryAt(now: number, closesAt: number): number {
  return now <= closesAt - limits.resultTellMs
    ? closesAt - limits.resultMarginMs - limits.ledgerBusyMs
    : closesAt + limits.resultLateMs;
}

/** A store that is down, full or away may come back; a broken one needs people. */
function mayPass(code: LedgerError['code'] | null): boolean {
  return code !== null && ['unavailable', 'full', 'read_only', 'missing'].includes(code);
}

function pauseAfter(tries: number): number {
  return Math.min(limits.resultBackoffMaxMs, limits.resultBackoffBaseMs * 2 ** Math.min(tries, 20));
}
