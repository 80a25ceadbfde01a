// A ledger that stands still, breaks and mends where a test says so, inside a worker process.
//
// Owns: what the plan's file says. Does not own: the lock of another process, which a test takes.
// INV-1 A held phase has written nothing, and goes on by itself once it is let go.
// INV-2 Errors are SQLite's own: a connection that may only read, a page limit. A lost COMMIT is a
//       real one, answered with a disk error.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { digestOfBytes } from '../../core/digest.ts';
import type { NewFact } from '../../core/facts.ts';
import {
  type Committed,
  type Decision,
  type Ledger,
  LedgerError,
  type LedgerView,
  type Look,
} from '../../ledger/port.ts';
import { openSqliteLedger } from '../../ledger/sqlite-ledger.ts';

/** `id`: of gate and result the action, else the run. */
export interface Moment {
  /** `barrier`: before its first question to the server. */
  readonly phase: 'open' | 'barrier' | 'gate' | 'result' | 'end';
  readonly id: string;
}

export interface LedgerPlan {
  readonly state: 'whole' | 'read_only' | 'full';
  readonly holds: readonly Moment[];
  /** Their COMMIT is done and its reply lost, once; the next try begins `againAfterMs` later. */
  readonly lost: readonly (Moment & { readonly againAfterMs: number })[];
}

export const PLAN_FILE = 'ledger-plan.json';

export const WHOLE: LedgerPlan = { state: 'whole', holds: [], lost: [] };

/** Read by the worker before each transaction; written whole. */
export function planLedger(path: string, plan: Partial<LedgerPlan>): void {
  writeFileSync(`${path}.draft`, JSON.stringify({ ...WHOLE, ...plan }));
  renameSync(`${path}.draft`, path);
}

export interface Breakable {
  readonly path: string;
  readonly planPath: string;
  /** HELD: stands still there. STRUCK: what was held there met a broken ledger. LOST: see above. */
  readonly announce: (word: 'HELD' | 'STRUCK' | 'LOST', moment: Moment, code: string) => void;
}

const POLL_MS = 20;
const NO_LIMIT = 2 ** 32 - 2;
/** More than any page has left. */
const large = Buffer.alloc(64 * 1024, 7);

class HeldError extends Error {
  override readonly name = 'HeldError';
  readonly moment: Moment;
  constructor(moment: Moment) {
    super(`${moment.phase} ${moment.id}: held`);
    this.moment = moment;
  }
}

/** Stands still as long as the plan holds this moment; announced once. */
export async function standAt(at: Pick<Breakable, 'planPath' | 'announce'>, moment: Moment) {
  if (!isAmong(planned(at).holds, moment)) return;
  at.announce('HELD', moment, '-');
  while (isAmong(planned(at).holds, moment)) await pause(POLL_MS);
}

/** What one worker process has met so far. */
interface Breaking extends Breakable {
  readonly ledger: Ledger;
  readonly connections: readonly Database.Database[];
  readonly lost: Set<string>;
  /** By run: how long its next transaction waits. */
  readonly later: Map<string, number>;
  /** Whether the next COMMIT loses its reply. */
  readonly losing: { next: boolean };
}

export async function openBreakable(options: Breakable): Promise<Ledger> {
  const connections: Database.Database[] = [];
  const losing = { next: false };
  const onOpen = (connection: Database.Database) => {
    connections.push(connection);
    loseCommits(connection, () => {
      const isLost = losing.next;
      losing.next = false;
      return isLost;
    });
  };
  const ledger = await openSqliteLedger({ path: options.path }, { onOpen });
  const met = { lost: new Set<string>(), later: new Map<string, number>() };
  const breaking: Breaking = { ...options, ...met, ledger, connections, losing };
  return {
    get identity() {
      return ledger.identity;
    },
    transact: (look, decide) => transact(breaking, look, decide),
    read: (runId) => ledger.read(runId),
    facts: (runId, range) => ledger.facts(runId, range),
    payload: (digest) => ledger.payload(digest),
    runs: (limit) => ledger.runs(limit),
    close: () => ledger.close(),
  };
}

type Decide<T> = (view: LedgerView) => Decision<T>;

async function transact<T>(at: Breaking, look: Look, decide: Decide<T>): Promise<Committed<T>> {
  await pause(at.later.get(look.runId) ?? 0);
  at.later.delete(look.runId);
  for (let held: Moment | null = null; ; ) {
    const { state, holds, lost } = planned(at);
    for (const connection of at.connections) put(connection, state);
    let passed: Moment | null = null;
    try {
      return await at.ledger.transact(look, (view) => {
        const decision = decide(view);
        passed = momentOf(look.runId, decision.facts);
        if (isAmong(holds, passed)) throw new HeldError(passed);
        at.losing.next = isAmong(lost, passed) && !at.lost.has(textOf(passed));
        return state === 'full' ? inflated(decision) : decision;
      });
    } catch (error) {
      if (!(error instanceof HeldError)) {
        tell(at, { error, held, lost: lost.find((each) => isAmong([each], passed)) ?? null }, look);
        throw error;
      }
      held = error.moment;
      await standAt(at, held);
    }
  }
}

function planned({ planPath }: Pick<Breakable, 'planPath'>): LedgerPlan {
  return existsSync(planPath) ? JSON.parse(readFileSync(planPath, 'utf8')) : WHOLE;
}

/** Where a small change would still find room in pages that are there, a full disk is full. */
function inflated<T>(decision: Decision<T>): Decision<T> {
  const payload = { digest: digestOfBytes(large), bytes: large };
  return { ...decision, payloads: [...(decision.payloads ?? []), payload] };
}

interface Met {
  readonly error: unknown;
  readonly held: Moment | null;
  readonly lost: LedgerPlan['lost'][number] | null;
}

function tell(at: Breaking, { error, held, lost }: Met, { runId }: Look): void {
  const code = error instanceof LedgerError ? error.code : 'no_ledger_error';
  if (lost !== null && !at.lost.has(textOf(lost))) {
    at.lost.add(textOf(lost));
    at.later.set(runId, lost.againAfterMs);
    at.announce('LOST', lost, code);
  } else if (held !== null) at.announce('STRUCK', held, code);
}

function put(connection: Database.Database, state: LedgerPlan['state']): void {
  if (!connection.open) return;
  connection.pragma(`query_only = ${state === 'read_only' ? 'on' : 'off'}`);
  // A limit below the size that the file has means: no page more.
  connection.pragma(`max_page_count = ${state === 'full' ? 1 : NO_LIMIT}`);
}

function loseCommits(connection: Database.Database, isLost: () => boolean): void {
  const prepare = connection.prepare.bind(connection);
  connection.prepare = ((source: string) => {
    const statement = prepare(source);
    if (source !== 'commit' || !isLost()) return statement;
    const run = () => {
      statement.run();
      throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
    };
    return { reader: false, run };
  }) as Database.Database['prepare'];
}

const phases = {
  run_opened: 'open',
  attempt_entered: 'gate',
  attempt_settled: 'result',
  run_ended: 'end',
} as const;

/** What an inquiry settles has no activity that waits for it. */
function momentOf(runId: string, facts: readonly NewFact[]): Moment | null {
  for (const { body, source } of facts) {
    if (!(body.kind in phases) || source === 'receiver_inquiry') continue;
    const phase = phases[body.kind as keyof typeof phases];
    return { phase, id: 'actionId' in body ? (body.actionId as string) : runId };
  }
  return null;
}

function isAmong(moments: readonly Moment[], moment: Moment | null): moment is Moment {
  return moments.some(({ phase, id }) => phase === moment?.phase && id === moment.id);
}

function textOf({ phase, id }: Moment): string {
  return `${phase} ${id}`;
}
