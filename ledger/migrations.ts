// The ledger's schema, version by version. A version that was released is never edited: the next
// change is the next entry. A ledger newer than this list is refused, never guessed at.

import type { Kysely } from 'kysely';
import type { SqlDialect } from './sql-store.ts';
import type { Tables } from './tables.ts';

export type Migration = (db: Kysely<Tables>, dialect: SqlDialect) => Promise<void>;

export const migrations: readonly Migration[] = [createTables, countDisputes, countWaiting];
export const SCHEMA_VERSION = migrations.length;

/** From `version` (0: an empty store) to the newest; inside the caller's transaction. */
export async function migrate(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  version: number,
): Promise<void> {
  for (const migration of migrations.slice(version)) await migration(db, dialect);
}

async function createTables(db: Kysely<Tables>, dialect: SqlDialect): Promise<void> {
  await createMeta(db);
  await createRuns(db);
  await createGateRows(db);
  await db.schema
    .createTable('payload')
    .addColumn('digest', 'text', (column) => column.primaryKey().notNull())
    .addColumn('bytes', dialect.bytesType, (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('doubt')
    .addColumn('intent_digest', 'text', (column) => column.notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('action_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('doubt_key', ['intent_digest', 'run_id', 'action_id'])
    .execute();
  await db.schema
    .createIndex('doubt_action')
    .on('doubt')
    .columns(['run_id', 'action_id'])
    .execute();
  for (const table of ['fact', 'gate_row'] as const)
    for (const statement of dialect.appendOnly(table)) await statement.execute(db);
}

/** Runs of before are counted again with their next fact. */
async function countDisputes(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('run')
    .addColumn('disputed', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}

/** Runs of before are counted again with their next fact. */
async function countWaiting(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('run')
    .addColumn('waiting', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
}

async function createMeta(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('meta')
    .addColumn('one', 'integer', (column) => column.primaryKey().notNull())
    .addColumn('schema_version', 'integer', (column) => column.notNull())
    .addColumn('ledger_id', 'text', (column) => column.notNull())
    .addColumn('incarnation', 'integer', (column) => column.notNull())
    .addColumn('last_time', 'bigint', (column) => column.notNull())
    .addColumn('writer_boot', 'text')
    .addColumn('writer_seen_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function createRuns(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('run')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('count', 'integer', (column) => column.notNull())
    .addColumn('head_hash', 'text', (column) => column.notNull())
    .addColumn('last_at', 'bigint', (column) => column.notNull())
    .addColumn('ended', 'integer', (column) => column.notNull())
    .addColumn('in_doubt', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('run_last_at').on('run').column('last_at').execute();
  await db.schema
    .createTable('fact')
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('action_id', 'text')
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('fact_key', ['run_id', 'seq'])
    .execute();
}

async function createGateRows(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('gate_row')
    .addColumn('attempt_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('action_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('entry_token', 'text')
    .addColumn('verdict', 'text')
    .addColumn('in_chain', 'integer', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addUniqueConstraint('gate_row_order', ['run_id', 'position'])
    .execute();
  await db.schema
    .createIndex('gate_row_action')
    .on('gate_row')
    .columns(['run_id', 'action_id', 'position'])
    .execute();
}
