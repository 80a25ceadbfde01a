// Postgres as the place of a test's receivers: a schema of its own on the shared test server.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { type Open, opener, type Place } from './stage.ts';

export const openOnPostgres: Open = opener(async () => postgresPlace());

/** Whole numbers as numbers, as in SQLite. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  type === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(type, format as 'text');

export interface PostgresTestPlace extends Place {
  readonly at: { readonly postgres: string; readonly schema: string };
  /** A connection of the test's own, in the schema; closed when the test is over. */
  connect(): Promise<pg.Client>;
}

export function postgresPlace(url: string = inject('postgres')): PostgresTestPlace {
  const schema = `t_${randomUUID().replaceAll('-', '')}`;
  const open = async () => {
    const client = new pg.Client({ connectionString: url, types: { getTypeParser } });
    // A backend that a test ends says so here; whoever uses it sees the error as well.
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`SET search_path = ${schema}`);
    return client;
  };
  return {
    at: { postgres: url, schema },
    async rows(sql) {
      const client = await open();
      const { rows } = await client.query<Record<string, unknown>>(sql);
      await client.end();
      return rows;
    },
    async hold() {
      const client = await open();
      await client.query('BEGIN; LOCK TABLE arrival, operation');
      return async () => {
        await client.query('ROLLBACK');
        await client.end();
      };
    },
    async connect() {
      const client = await open();
      onTestFinished(() => client.end());
      return client;
    },
  };
}
