// The ledger over SQL.
// Owns: the order of one transaction, ledger time, the identity last seen.
// Does not own: what a decision decides; begin, commit and rollback (sql-store.ts); folded runs and
// the checks of stored facts (run-loader.ts); what a decision writes (sql-writes.ts).
//
// INV-1 The clock is read after the transaction has begun, so that waiting for a lock ages nothing.
// INV-2 Each transaction leaves its time behind, even one that wrote no fact: whatever was answered
//       under a time, no later answer is given under an earlier one.
// INV-3 A ledger that became another one (restored, taken over by a host, migrated) is noticed by
//       the next transaction, which reads the ledger's own row first.

import type { Kysely } from 'kysely';
import { genesisHead } from '../core/chain.ts';
import type { Decision, LedgerIdentity, LedgerView } from '../core/decision.ts';
import type { Digest } from '../core/digest.ts';
import type { Fact, Head } from '../core/facts.ts';
import type { RunState } from '../core/run-state.ts';
import { type Host, refuseLostPlace } from './host.ts';
import { identityOf, readMeta, updateMeta } from './meta.ts';
import { readPayload } from './payloads.ts';
import { type Committed, type Ledger, LedgerError, type Look, type RunLine } from './port.ts';
import { corruptRun, loadRun, RunCache, readFacts, storedHead } from './run-loader.ts';
import { readTransaction, type SqlStore, writeTransaction } from './sql-store.ts';
import { lookAround } from './sql-view.ts';
import { writeDecision } from './sql-writes.ts';
import type { MetaTable, Tables } from './tables.ts';

export class SqlLedger implements Ledger {
  readonly #store: SqlStore;
  readonly #host: Host;
  readonly #cache = new RunCache();
  #identity: LedgerIdentity;
  #isClosed = false;

  constructor(store: SqlStore, host: Host, identity: LedgerIdentity) {
    this.#store = store;
    this.#host = host;
    this.#identity = identity;
  }

  get identity(): LedgerIdentity {
    return this.#identity;
  }

  async transact<T>(look: Look, decide: (view: LedgerView) => Decision<T>): Promise<Committed<T>> {
    this.#refuseClosed();
    const committed = await writeTransaction(this.#store, async (db) => {
      const meta = await this.#meta(db);
      const clock = this.#host.clock();
      const now = Math.max(clock, meta.last_time);
      const ledger = identityOf(meta);
      const run = await this.#run(db, look.runId);
      const clockSteppedBack = clock < meta.last_time;
      const looked = await lookAround(db, look);
      const decision = decide({ ledger, now, clockSteppedBack, run, ...looked });
      const after = await writeDecision(db, { run, at: now, decision });
      const writer = { writer_boot: this.#host.bootId(), writer_seen_at: clock };
      await updateMeta(db, { last_time: now, ...writer });
      return { reply: decision.reply, head: after.head, ledger, run: after, at: now };
    });
    if (committed.head.count > 0) this.#cache.put(committed.run);
    return committed;
  }

  async read(runId: string): Promise<RunState> {
    return this.#reading((db) => this.#run(db, runId));
  }

  async facts(runId: string, range: { after: number; limit: number }): Promise<Fact[]> {
    return this.#reading(async (db) => {
      const head = await storedHead(db, runId);
      if (range.after >= head.count || range.limit < 1) return [];
      const from = await this.#headAt(db, runId, range.after);
      const endsEarly = range.after + range.limit < head.count;
      const found = await readFacts(db, {
        runId,
        from,
        head: endsEarly ? null : head,
        limit: range.limit,
      });
      if ('fault' in found) throw corruptRun(this.#store.place, runId, found);
      return found.map(({ fact }) => fact);
    });
  }

  async payload(digest: Digest): Promise<Uint8Array | null> {
    return this.#reading((db) => readPayload(db, this.#store.place, digest));
  }

  async runs(limit: number): Promise<RunLine[]> {
    const rows = await this.#reading((db) =>
      db
        .selectFrom('run')
        .selectAll()
        .orderBy('last_at', 'desc')
        .orderBy('run_id')
        .limit(limit)
        .execute(),
    );
    return rows.map((row) => ({
      runId: row.run_id,
      head: { count: row.count, hash: row.head_hash },
      lastFactAt: row.last_at,
      ended: row.ended === 1,
      inDoubt: row.in_doubt,
      disputed: row.disputed,
      waiting: row.waiting,
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#store.close();
  }

  async #reading<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    this.#refuseClosed();
    return readTransaction(this.#store, async (db) => {
      await this.#meta(db);
      return work(db);
    });
  }

  async #meta(db: Kysely<Tables>): Promise<MetaTable> {
    const meta = await readMeta(db, this.#store.place);
    refuseLostPlace(this.#host, this.#store.place, meta);
    this.#identity = identityOf(meta);
    return meta;
  }

  #run(db: Kysely<Tables>, runId: string): Promise<RunState> {
    return loadRun({ db, place: this.#store.place, cache: this.#cache, runId });
  }

  async #headAt(db: Kysely<Tables>, runId: string, count: number): Promise<Head> {
    if (count === 0) return genesisHead(runId);
    const row = await db
      .selectFrom('fact')
      .select('hash')
      .where('run_id', '=', runId)
      .where('seq', '=', count)
      .executeTakeFirst();
    if (row !== undefined) return { count, hash: row.hash };
    throw corruptRun(this.#store.place, runId, { fault: 'gap', seq: count, why: 'it is missing' });
  }

  #refuseClosed(): void {
    if (!this.#isClosed) return;
    throw new LedgerError('unavailable', `ledger ${this.#store.place}: it was closed; open it`, {
      nothingWritten: true,
    });
  }
}
