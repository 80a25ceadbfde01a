// What an attempt had received before it was decided on, as a rolling digest.
//
// `base` stands for everything consumed earlier: it is the genesis of the run or the `rolled`
// digest of an attempt that entered. `pairs` are the outcomes received since. So one attempt's
// record does not grow with the run, and the gate can still check every returned value against the
// ledger.

import { type Digest, digestOf } from './digest.ts';
import type { Consumes, Pair } from './fact-fields.ts';
import type { Outcome } from './outcome.ts';

export function genesisBase(runId: string): Digest {
  return digestOf({ consumes: 'genesis', runId });
}

export function rolledOf(consumes: Consumes): Digest {
  return digestOf({ consumes: 'rolled', base: consumes.base, pairs: consumes.pairs });
}

/** How an outcome that the workflow received is consumed by what it decides next. */
export function pairOf(outcome: Outcome): Pair {
  const { actionId } = outcome;
  switch (outcome.kind) {
    case 'executed':
    case 'executed_result_missing':
    case 'partial':
      return { actionId, outcome: outcome.digest };
    case 'not_executed':
      return { actionId, outcome: outcome.digest ?? 'not_executed' };
    case 'accepted':
    case 'unknown':
      return { actionId, outcome: 'open' };
  }
}
