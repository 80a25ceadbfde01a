// The receiver's store in Postgres.
//
// Owns: a pool of connections, a schema of its own. Does not own: the database, its durability, its
// failover: what a server confirmed and lost again was never kept here.
//
// INV-1  READ COMMITTED: each statement sees what committed before it, so that whoever waited for a
//        lock reads what its holder left. Settings are SET LOCAL: a pooler in between does no harm.
// INV-2  Never sent a COMMIT: rolled back for certain. Sent and not answered: `commit_unknown`.
// INV-3  A connection on which anything but a plain error came up is not used again.

import pg from 'pg';
import { receiverLimits } from './limits.ts';
import type { SqlRow, SqlValue } from './operation.ts';
import { numberedPlaceholders } from './placeholders.ts';
import { commitFailure, isBusy, isPlainError } from './postgres-errors.ts';
import { postgresWords, SCHEMA_VERSION, schemaOf } from './schema.ts';
import { type Committed, type RawTx, runBody, type Store, type StoreSettings } from './store.ts';

export interface PostgresPlace {
  /** `postgres://user:password@host:port/database` */
  readonly postgres: string;
  /** Made when missing; `holdfast` when absent. Comes first on the search path of the effects. */
  readonly schema?: string;
  readonly connectionsMax?: number;
}

/** Any number: two openings at once take turns at making the tables. */
const OPENING_LOCK = 7_204_118_065;
const WRITING = 'READ COMMITTED';
const LOOKING = 'REPEATABLE READ READ ONLY';
const SERVER_VERSION_MIN = 130_000;

/** Rejects when the server is not to be had, too old, or the schema is of a newer version. */
export async function openPostgresStore(
  place: PostgresPlace,
  settings: StoreSettings,
): Promise<Store> {
  const { schema = 'holdfast' } = place;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new Error(`receiver: schema "${schema}" is no plain lower-case name`);
  const pool = poolOf(place, settings);
  const link: Link = { pool, settings, schema };
  const made = await inTransaction(link, WRITING, (raw) => prepare(raw, link));
  if (made.kind === 'committed') return storeOf(link);
  await pool.end();
  const why = made.kind === 'busy' ? 'somebody else holds it' : String(made.error);
  throw new Error(`receiver: the schema "${schema}" could not be opened: ${why}`);
}

interface Link {
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly settings: StoreSettings;
}

function poolOf(place: PostgresPlace, settings: StoreSettings): pg.Pool {
  const { postgres, connectionsMax = receiverLimits.connectionsMax } = place;
  const pool = new pg.Pool({
    connectionString: postgres,
    max: connectionsMax,
    connectionTimeoutMillis: Math.max(receiverLimits.connectMs, settings.busyTimeoutMs),
    // The server's own limit comes first; this one is for a server that says nothing any more.
    query_timeout: statementMs(settings) + settings.busyTimeoutMs,
    keepAlive: true,
    application_name: 'holdfast receiver',
    types: { getTypeParser: (type, format) => typeParser(type, format) },
  });
  // An idle connection that breaks is replaced when the next one is needed.
  pool.on('error', () => undefined);
  return pool;
}

function statementMs({ busyTimeoutMs }: StoreSettings): number {
  return receiverLimits.statementMs + busyTimeoutMs;
}

/** 64-bit integers as numbers, like SQLite gives them; a bigint where they would be rounded. */
function typeParser(type: number, format?: 'text' | 'binary') {
  if (type !== pg.types.builtins.INT8) return pg.types.getTypeParser(type, format);
  return (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text));
}

/** One round trip. `off` would answer before the commit is on the disk. */
function beginText(mode: string, { schema, settings }: Link): string {
  const { busyTimeoutMs, transactionMs } = settings;
  return `BEGIN ISOLATION LEVEL ${mode};
    SELECT set_config('search_path', '"${schema}", ' || current_setting('search_path'), true),
      set_config('lock_timeout', '${busyTimeoutMs}ms', true),
      set_config('statement_timeout', '${statementMs(settings)}ms', true),
      set_config('idle_in_transaction_session_timeout', '${transactionMs + busyTimeoutMs}ms', true),
      set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`;
}

async function prepare(raw: RawTx, { schema, settings }: Link): Promise<void> {
  await raw.exec(`SELECT pg_advisory_xact_lock(${OPENING_LOCK})`);
  const server = await raw.get(`SELECT current_setting('server_version_num')::int AS number`, []);
  if (Number(server?.['number']) < SERVER_VERSION_MIN)
    throw new Error(`Postgres ${String(server?.['number'])} is older than ${SERVER_VERSION_MIN}`);
  await raw.exec(`CREATE SCHEMA IF NOT EXISTS "${schema}";
    CREATE TABLE IF NOT EXISTS "${schema}".receiver_schema (version BIGINT NOT NULL)`);
  const [row] = await raw.all(`SELECT version FROM "${schema}".receiver_schema`, []);
  const version = Number(row?.['version'] ?? 0);
  if (version > SCHEMA_VERSION)
    throw new Error(`schema ${version} is newer than ${SCHEMA_VERSION}; upgrade`);
  if (version === 0) {
    await raw.exec(schemaOf(postgresWords));
    await raw.run('INSERT INTO receiver_schema (version) VALUES (?)', [SCHEMA_VERSION]);
  }
  for (const sql of settings.tables(postgresWords)) await raw.exec(sql);
}

function storeOf(link: Link): Store {
  const { pool, settings } = link;
  let closing: Promise<void> | null = null;
  return {
    locksRows: true,
    transaction: (body) =>
      inTransaction(link, WRITING, (raw) => runBody(raw, body, settings.transactionMs)),
    async read(body) {
      const seen = await inTransaction(link, LOOKING, (raw) =>
        runBody(raw, body, settings.transactionMs),
      );
      if (seen.kind === 'committed') return seen.value;
      throw seen.kind === 'busy' ? new Error('the store is busy; ask again') : seen.error;
    },
    close() {
      closing ??= pool.end();
      return closing;
    },
  };
}

/** Never rejects. */
async function inTransaction<T>(
  link: Link,
  mode: string,
  body: (raw: RawTx) => Promise<T>,
): Promise<Committed<T>> {
  let client: pg.PoolClient;
  try {
    client = await link.pool.connect();
  } catch (error) {
    return { kind: 'rolled_back', error };
  }
  // A connection that breaks between two statements says so here too; the next statement fails.
  const ignore = () => undefined;
  client.on('error', ignore);
  const release = (broken: boolean) => {
    client.off('error', ignore);
    client.release(broken);
  };
  const raw = rawOf(client, link.settings.trace);
  let value: T;
  try {
    await raw.exec(beginText(mode, link));
    value = await body(raw);
  } catch (error) {
    release(!(await rolledBack(raw, error)));
    return isBusy(error) ? { kind: 'busy' } : { kind: 'rolled_back', error };
  }
  return commit(raw, value, release);
}

/** False: this connection is not to be used again. The server ends its transaction by itself. */
async function rolledBack(raw: RawTx, error: unknown): Promise<boolean> {
  if (!isPlainError(error)) return false;
  try {
    await raw.exec('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

async function commit<T>(
  raw: RawTx,
  value: T,
  release: (broken: boolean) => void,
): Promise<Committed<T>> {
  try {
    const said = await raw.exec('COMMIT');
    release(false);
    if (said === 'COMMIT') return { kind: 'committed', value };
    const error = new Error('a statement had failed, so that the server rolled back');
    return { kind: 'rolled_back', error };
  } catch (error) {
    release(true);
    if (isBusy(error)) return { kind: 'busy' };
    return { kind: commitFailure(error), error };
  }
}

function rawOf(client: pg.PoolClient, trace: StoreSettings['trace']): RawTx {
  const numbered = new Map<string, string>();
  const query = async (sql: string, values: readonly SqlValue[]) => {
    const known = numbered.get(sql) ?? numberedPlaceholders(sql);
    numbered.set(sql, known);
    if (trace !== undefined) await trace(sql);
    return await client.query<Record<string, SqlValue>>(known, [...values]);
  };
  return {
    dialect: 'postgres',
    locks: { operation: ' FOR UPDATE', fence: ' FOR NO KEY UPDATE' },
    run: async (sql, values) => ({ changes: (await query(sql, values)).rowCount ?? 0 }),
    all: async (sql, values) => (await query(sql, values)).rows,
    get: async (sql, values): Promise<SqlRow | undefined> => (await query(sql, values)).rows[0],
    async exec(sql) {
      if (trace !== undefined) await trace(sql);
      // Several statements in one text give several results.
      const said: pg.QueryResult | readonly pg.QueryResult[] = await client.query(sql);
      return (Array.isArray(said) ? said.at(-1) : said)?.command ?? '';
    },
  };
}
