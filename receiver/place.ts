// Where a receiver keeps what it knows: a SQLite file or a Postgres database.

import { openPostgresStore, type PostgresPlace } from './postgres-store.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { Store, StoreSettings } from './store.ts';

export interface SqlitePlace {
  /** SQLite file on a local disk; made when missing. Several processes may share it. */
  readonly path: string;
}

export type StorePlace = SqlitePlace | PostgresPlace;

/** Rejects when it cannot be opened or is of a newer schema. */
export async function openStore(place: StorePlace, settings: StoreSettings): Promise<Store> {
  if ('postgres' in place) return await openPostgresStore(place, settings);
  return openSqliteStore(place.path, settings);
}
