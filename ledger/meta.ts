// The ledger's own row: which ledger, which incarnation, which schema, whose host, what time.

import type { Kysely } from 'kysely';
import type { Host } from './host.ts';
import { SCHEMA_VERSION } from './migrations.ts';
import { LedgerError, type LedgerIdentity } from './port.ts';
import type { MetaTable, Tables } from './tables.ts';

/** Throws `newer_schema` and `corrupt`. */
export async function readMeta(db: Kysely<Tables>, place: string): Promise<MetaTable> {
  const meta = await db.selectFrom('meta').selectAll().executeTakeFirst();
  if (meta === undefined)
    throw new LedgerError('corrupt', `ledger ${place}: its identity row is gone; restore a copy`, {
      nothingWritten: true,
    });
  if (meta.schema_version > SCHEMA_VERSION)
    throw new LedgerError(
      'newer_schema',
      `ledger ${place}: it has schema version ${meta.schema_version} and this program knows ` +
        `${SCHEMA_VERSION}; use the newer program`,
      { nothingWritten: true },
    );
  return meta;
}

export function identityOf(meta: MetaTable): LedgerIdentity {
  return { id: meta.ledger_id, incarnation: meta.incarnation };
}

export async function insertMeta(db: Kysely<Tables>, host: Host): Promise<void> {
  await db
    .insertInto('meta')
    .values({
      one: 1,
      schema_version: SCHEMA_VERSION,
      ledger_id: host.newId(),
      incarnation: 1,
      last_time: host.clock(),
      writer_boot: null,
      writer_seen_at: host.clock(),
    })
    .execute();
}

export async function updateMeta(db: Kysely<Tables>, change: Partial<MetaTable>): Promise<void> {
  await db.updateTable('meta').set(change).where('one', '=', 1).execute();
}
