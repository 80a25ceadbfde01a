// What the checks within one process share: a fresh ledger each, and its first facts.

import { strict as assert } from 'node:assert';
import type { NewFact } from '../../core/facts.ts';
import type { Check, LedgerAdapter } from '../conformance.ts';
import { type Ledger, LedgerError, type LedgerErrorCode } from '../port.ts';
import * as sample from './sample-facts.ts';

export const runId = 'invoice-42';
export const one = { runId, step: 1 };
export const two = { runId, step: 2 };
/** Of another run, with the intent of `one`. */
export const other = { runId: 'invoice-43', step: 1 };

type Body = (ledger: Ledger, adapter: LedgerAdapter, location: string) => Promise<void>;

export function check(name: string, body: Body): Check {
  return {
    name,
    run: async (adapter) => {
      const location = await adapter.newLocation();
      const ledger = await adapter.open(location);
      try {
        await body(ledger, adapter, location);
      } finally {
        await ledger.close();
      }
    },
  };
}

export function write(ledger: Ledger, facts: readonly NewFact[], run = runId) {
  return ledger.transact({ runId: run }, () => ({ reply: null, facts }));
}

export async function enterOne(ledger: Ledger, step: sample.Step = one) {
  return ledger.transact({ runId: step.runId }, (view) => ({
    reply: null,
    facts: [sample.opened(view.ledger), sample.entered(step)],
    gateRows: [sample.enteredRow(step)],
    payloads: [sample.inputOf(step)],
  }));
}

export async function assertRefused(
  code: LedgerErrorCode,
  attempt: Promise<unknown>,
): Promise<void> {
  await assert.rejects(attempt, (error) => {
    assert(error instanceof LedgerError, `not a LedgerError: ${String(error)}`);
    assert.equal(error.code, code);
    assert.equal(error.nothingWritten, true);
    return true;
  });
}
