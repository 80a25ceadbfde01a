// A fault stage whose worker has a ledger that breaks by plan.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Child } from '../../examples/support-desk/child.ts';
import { type LedgerPlan, type Moment, PLAN_FILE, planLedger } from './broken-ledger.ts';
import {
  type FaultOptions,
  type FaultServer,
  type FaultStage,
  openFaultStage,
} from './fault-stage.ts';

export interface StorageStage extends FaultStage {
  plan(plan: Partial<LedgerPlan>): void;
  /** Holds the write lock as another process would; returns what lets it go, once. */
  lock(): () => void;
}

export async function openStorageStage(
  server: FaultServer,
  options: Pick<FaultOptions, 'settings' | 'ledgerDirectory'> = {},
): Promise<StorageStage> {
  const program = 'test/support/storage-worker.ts';
  const stage = await openFaultStage(server, { program, ...options });
  const path = join(stage.killPoints, PLAN_FILE);
  return {
    ...stage,
    plan: (plan) => planLedger(path, plan),
    lock() {
      const other = new Database(stage.ledgerPath);
      other.exec('begin immediate');
      return () => {
        if (!other.open) return;
        other.exec('rollback');
        other.close();
      };
    },
  };
}

const SAID_MS = 60_000;

/** The error code that came with it; `-` for HELD. */
export function said(worker: Child, word: 'HELD' | 'STRUCK' | 'LOST', moment: Moment) {
  return worker.line(`${word} ${moment.phase} ${moment.id} `, SAID_MS);
}
