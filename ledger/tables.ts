// The ledger's tables, as every SQL dialect has them. `migrations.ts` makes them.

import type { Digest } from '../core/digest.ts';
import type { Refusal } from '../core/verdict.ts';

/** One row. */
export interface MetaTable {
  one: 1;
  schema_version: number;
  ledger_id: string;
  incarnation: number;
  /** Ledger time of the newest transaction, ms. */
  last_time: number;
  /** Boot id of the host that writes; null after a restore: whoever comes first. */
  writer_boot: string | null;
  /** That host's own clock, ms. */
  writer_seen_at: number;
}

export interface RunTable {
  run_id: string;
  count: number;
  head_hash: Digest;
  last_at: number;
  ended: 0 | 1;
  in_doubt: number;
  disputed: number;
  waiting: number;
}

export interface FactTable {
  run_id: string;
  seq: number;
  kind: string;
  action_id: string | null;
  /** The exact bytes that `hash` and the chain are taken of. */
  text: string;
  hash: Digest;
}

export interface GateRowTable {
  attempt_id: string;
  run_id: string;
  action_id: string;
  kind: 'entered' | 'closed';
  entry_token: string | null;
  verdict: Refusal | null;
  in_chain: 0 | 1;
  /** 1, 2, 3 … per run: which of an action's rows is the newest. */
  position: number;
}

export interface PayloadTable {
  digest: Digest;
  bytes: Uint8Array;
}

/** Actions in doubt or abandoned, by intent: what makes another action a twin. */
export interface DoubtTable {
  intent_digest: Digest;
  run_id: string;
  action_id: string;
  state: 'in_doubt' | 'abandoned';
}

export interface Tables {
  meta: MetaTable;
  run: RunTable;
  fact: FactTable;
  gate_row: GateRowTable;
  payload: PayloadTable;
  doubt: DoubtTable;
}
