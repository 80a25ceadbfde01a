// What a decision sees besides the folded run, read in its transaction.

import type { Kysely } from 'kysely';
import { genesisHead } from '../core/chain.ts';
import type { GateRow, LedgerView, Twin } from '../core/decision.ts';
import type { Head } from '../core/facts.ts';
import type { Look } from './port.ts';
import type { GateRowTable, Tables } from './tables.ts';

type Looked = Pick<LedgerView, 'gateRow' | 'unchained' | 'twins' | 'pinHolds'>;

export async function lookAround(db: Kysely<Tables>, look: Look): Promise<Looked> {
  return {
    gateRow: await gateRowOf(db, look),
    unchained: await unchainedOf(db, look),
    twins: await twinsOf(db, look),
    pinHolds: look.pin === undefined || (await containsHead(db, look.runId, look.pin)),
  };
}

async function gateRowOf(db: Kysely<Tables>, look: Look): Promise<GateRow | null> {
  if (look.attemptId === undefined) return null;
  const row = await db
    .selectFrom('gate_row')
    .selectAll()
    .where('attempt_id', '=', look.attemptId)
    .executeTakeFirst();
  return row === undefined ? null : gateRowFrom(row);
}

async function unchainedOf(db: Kysely<Tables>, look: Look): Promise<LedgerView['unchained']> {
  if (look.actionId === undefined) return null;
  const newest = await db
    .selectFrom('gate_row')
    .selectAll()
    .where('run_id', '=', look.runId)
    .where('action_id', '=', look.actionId)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  const row = newest === undefined ? null : gateRowFrom(newest);
  return row?.kind === 'closed' && !row.inChain ? row : null;
}

function gateRowFrom(row: GateRowTable): GateRow {
  const base = { attemptId: row.attempt_id, actionId: row.action_id };
  if (row.kind === 'entered' && row.entry_token !== null)
    return { ...base, kind: 'entered', entryToken: row.entry_token };
  if (row.kind === 'closed' && row.verdict !== null)
    return { ...base, kind: 'closed', verdict: row.verdict, inChain: row.in_chain === 1 };
  throw new Error(`gate row of ${row.attempt_id} is neither entered nor closed`);
}

async function twinsOf(db: Kysely<Tables>, look: Look): Promise<readonly Twin[]> {
  if (look.intentDigest === undefined) return [];
  const rows = await db
    .selectFrom('doubt')
    .select(['run_id', 'action_id', 'state'])
    .where('intent_digest', '=', look.intentDigest)
    .orderBy('run_id')
    .orderBy('action_id')
    .execute();
  return rows
    .filter((row) => row.run_id !== look.runId || row.action_id !== look.actionId)
    .map((row) => ({ runId: row.run_id, actionId: row.action_id, state: row.state }));
}

async function containsHead(db: Kysely<Tables>, runId: string, pin: Head): Promise<boolean> {
  if (pin.count === 0) return pin.hash === genesisHead(runId).hash;
  const row = await db
    .selectFrom('fact')
    .select('hash')
    .where('run_id', '=', runId)
    .where('seq', '=', pin.count)
    .executeTakeFirst();
  return row?.hash === pin.hash;
}
