// SQLite as the place of a test's receivers.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { tempFolder } from './open.ts';
import { type Open, opener, type Place } from './stage.ts';

export const openOnSqlite: Open = opener(async () => sqlitePlace(join(tempFolder(), 'store')));

export function sqlitePlace(path: string): Place {
  return {
    at: { path },
    async rows(sql) {
      const db = new Database(path, { readonly: true });
      const rows = db.prepare<[], Record<string, unknown>>(sql).all();
      db.close();
      return rows;
    },
    async hold() {
      const db = new Database(path);
      db.exec('BEGIN IMMEDIATE');
      return async () => {
        db.exec('ROLLBACK');
        db.close();
      };
    },
  };
}
