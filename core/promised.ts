// What a receiver promises, as far as whoever answers a question about it has to know.

import type { Contract, Level } from './contract.ts';

export interface Promised {
  readonly level: Level;
  readonly closing: Contract['closing'];
  readonly fencing: Contract['fencing'];
}

/** "None unless stated": where nobody knows the tool any more, nothing is promised. */
const nothing: Promised = { level: 'L0', closing: 'none', fencing: 'none' };

interface Promising {
  readonly level: Level;
  readonly contract: Pick<Contract, 'closing' | 'fencing'>;
}

export function promisedBy(policy: Promising | undefined): Promised {
  if (policy === undefined) return nothing;
  const { level, contract } = policy;
  return { level, closing: contract.closing, fencing: contract.fencing };
}
