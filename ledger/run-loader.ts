// The folded state of runs, read from their facts.
// Owns: the cache of folded runs, and every check between a stored fact and the state built on it.
// Does not own: transactions (the caller's), nor what is written.
//
// INV-1 Only committed facts are folded into a cached state: what a transaction adds enters the
//       cache after its COMMIT has returned.
// INV-2 A cached state is a prefix of the run: each use reads the facts after it and checks them
//       against the head. One that does not fit is thrown away and the run is read from its start.
// INV-3 A run that does not check out is refused as `corrupt`, with its number, and left untouched.

import type { Kysely } from 'kysely';
import { type ChainProblem, genesisHead, readChain } from '../core/chain.ts';
import type { Digest } from '../core/digest.ts';
import { factProblem } from '../core/fact-rules.ts';
import type { Fact, Head } from '../core/facts.ts';
import { emptyRun, foldFact } from '../core/fold.ts';
import { limits } from '../core/limits.ts';
import type { RunState } from '../core/run-state.ts';
import { LedgerError } from './port.ts';
import type { Tables } from './tables.ts';

export class RunCache {
  readonly #runs = new Map<string, RunState>();

  get(runId: string): RunState | undefined {
    return this.#runs.get(runId);
  }

  /** The oldest used goes when there are too many. */
  put(run: RunState): void {
    this.#runs.delete(run.runId);
    this.#runs.set(run.runId, run);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > limits.ledgerCacheRuns && oldest !== undefined) this.#runs.delete(oldest);
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
  }
}

interface Loading {
  readonly db: Kysely<Tables>;
  readonly place: string;
  readonly cache: RunCache;
  readonly runId: string;
}

/** Throws `corrupt`. */
export async function loadRun(loading: Loading): Promise<RunState> {
  const { db, cache, runId, place } = loading;
  const head = await storedHead(db, runId);
  const cached = cache.get(runId);
  if (cached !== undefined) {
    const grown = await extend(db, cached, head);
    if (!('fault' in grown)) return keep(cache, grown);
    cache.drop(runId);
  }
  const run = await extend(db, emptyRun(runId), head);
  if ('fault' in run) throw corruptRun(place, runId, run);
  return keep(cache, run);
}

function keep(cache: RunCache, run: RunState): RunState {
  if (run.head.count > 0) cache.put(run);
  return run;
}

export async function storedHead(db: Kysely<Tables>, runId: string): Promise<Head> {
  const row = await db
    .selectFrom('run')
    .select(['count', 'head_hash'])
    .where('run_id', '=', runId)
    .executeTakeFirst();
  return row === undefined ? genesisHead(runId) : { count: row.count, hash: row.head_hash };
}

export type Damage = Omit<ChainProblem, 'fault'> & { readonly fault: string };

/** Asks for facts even where the heads are equal: there must be none after the head. */
async function extend(db: Kysely<Tables>, run: RunState, head: Head): Promise<RunState | Damage> {
  const read = await readFacts(db, { runId: run.runId, from: run.head, head });
  if ('fault' in read) return read;
  let state = run;
  for (const { fact, hash } of read) {
    const broken = factProblem(state, fact);
    if (broken !== null) return { fault: 'rule', seq: fact.seq, why: broken };
    state = foldFact(state, fact, hash);
  }
  return state;
}

interface FactRange {
  readonly runId: string;
  readonly from: Head;
  /** Null: the range ends before the run does. */
  readonly head: Head | null;
  readonly limit?: number;
}

export interface StoredFact {
  readonly fact: Fact;
  readonly hash: Digest;
}

/** Facts after `from`, checked against their links, their columns and the head. */
export async function readFacts(
  db: Kysely<Tables>,
  { runId, from, head, limit }: FactRange,
): Promise<readonly StoredFact[] | Damage> {
  const query = db
    .selectFrom('fact')
    .select(['seq', 'text', 'hash'])
    .where('run_id', '=', runId)
    .where('seq', '>', from.count)
    .orderBy('seq');
  const rows = await (limit === undefined ? query : query.limit(limit)).execute();
  const reading = readChain({ runId, texts: rows.map((row) => row.text), from, head });
  if (reading.kind === 'broken') return reading.problem;
  // Each text was checked against the link that follows it; the columns must say the same.
  const stored = reading.facts.map((fact, index) => ({
    fact,
    hash: reading.facts[index + 1]?.prev ?? reading.head.hash,
  }));
  const odd = rows.find(
    (row, index) => row.seq !== stored[index]?.fact.seq || row.hash !== stored[index]?.hash,
  );
  if (odd === undefined) return stored;
  return { fault: 'edited', seq: odd.seq, why: 'its columns do not say what its text says' };
}

export function corruptRun(place: string, runId: string, damage: Damage): LedgerError {
  return new LedgerError(
    'corrupt',
    `ledger ${place}: run ${runId}, fact ${damage.seq}: ${damage.why} (${damage.fault}); nothing ` +
      'was changed: keep the ledger for inspection, and restore a copy or end the run',
    { nothingWritten: true },
  );
}
