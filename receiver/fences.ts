// Rows of the fences. No decisions; always inside the caller's transaction.

import type { EffectTx } from './operation.ts';
import { number, type Tx } from './store.ts';

export interface FenceScope {
  readonly principal: string;
  readonly domain: string;
  readonly scope: string;
}

/** A row that holds nobody off, made so that there is something to lock. */
const FREE = 0;

const WHERE = 'principal = ? AND domain = ? AND scope = ?';

function scopeValues(of: FenceScope): readonly string[] {
  return [of.principal, of.domain, of.scope];
}

/** What it is now; null: no fence. Whoever acts on it needs `lockFence`. */
export async function readFence(tx: EffectTx, of: FenceScope): Promise<number | null> {
  const row = await tx.get(`SELECT epoch FROM fence WHERE ${WHERE}`, ...scopeValues(of));
  const epoch = row === undefined ? FREE : number(row, 'epoch');
  return epoch === FREE ? null : epoch;
}

/**
 * Nobody raises it until this transaction has ended (B3). Two statements: one that locked and read
 * would read what was there before it had waited.
 */
export async function lockFence(tx: Tx, of: FenceScope): Promise<number | null> {
  await tx.run(
    `INSERT INTO fence (principal, domain, scope, epoch) VALUES (?, ?, ?, ${FREE})
     ON CONFLICT DO NOTHING`,
    ...scopeValues(of),
  );
  const sql = `SELECT epoch FROM fence WHERE ${WHERE}${tx.locks.fence}`;
  const row = await tx.get(sql, ...scopeValues(of));
  if (row === undefined) throw new Error(`the fence of ${of.scope} vanished`);
  const epoch = number(row, 'epoch');
  return epoch === FREE ? null : epoch;
}

/** Raises, never lowers. */
export async function raiseFence(tx: Tx, of: FenceScope, epoch: number): Promise<void> {
  const sql = `UPDATE fence SET epoch = ? WHERE ${WHERE} AND epoch < ?`;
  await tx.run(sql, epoch, ...scopeValues(of), epoch);
}
