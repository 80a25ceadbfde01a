// What this run has received so far, as the next attempt states it (`core/consumes.ts`).
//
// Owns: the base, and the outcomes received since. Does not own: what the ledger makes of them.
// INV-1 The base is always the genesis or the rolled digest of an attempt known to have entered.
// INV-2 What was received after an attempt was decided on is not part of what it consumes.

import { pairOf, rolledOf } from '../core/consumes.ts';
import type { Digest } from '../core/digest.ts';
import type { Consumes, Pair } from '../core/fact-fields.ts';
import type { Outcome } from '../core/outcome.ts';

/** A decision on an action, or on a batch of siblings; all their attempts consume the same. */
export interface Decided {
  readonly consumes: Consumes;
  /** How many outcomes had been received, over the whole run. */
  readonly at: number;
}

export interface Consumption {
  decide(): Decided;
  /** An attempt under this decision is known to have entered. `rolled`: as recorded. */
  entered(decided: Decided, rolled?: Digest): void;
  receive(outcome: Outcome): void;
  /** The same decision, after some of what it consumed as open has been settled. */
  refreshed(decided: Decided): Decided;
  /** Action ids received as open and not settled since. */
  open(): readonly string[];
}

export function consumptionFrom(genesis: Digest): Consumption {
  let base = genesis;
  /** Number of outcomes that `base` stands for. */
  let from = 0;
  let since: Pair[] = [];
  const open = new Set<string>();
  const newest = new Map<string, Pair>();
  return {
    decide: () => ({ consumes: { base, pairs: [...since] }, at: from + since.length }),
    entered({ consumes, at }, rolled = rolledOf(consumes)) {
      if (at < from || (at === from && base !== consumes.base)) return;
      since = since.slice(at - from);
      from = at;
      base = rolled;
    },
    receive(outcome) {
      const pair = pairOf(outcome);
      if (pair.outcome === 'open') open.add(pair.actionId);
      else if (open.delete(pair.actionId)) newest.set(pair.actionId, pair);
      const index = since.findIndex((each) => each.actionId === pair.actionId);
      if (index === -1) since.push(pair);
      else since[index] = pair;
    },
    refreshed({ consumes, at }) {
      const pairs = consumes.pairs.map((pair) => newest.get(pair.actionId) ?? pair);
      return { consumes: { base: consumes.base, pairs }, at };
    },
    open: () => [...open],
  };
}
