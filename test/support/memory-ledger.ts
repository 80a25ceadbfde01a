// A ledger in memory for tests of decisions: same rules, same chain, nothing durable.

import { doubtOf } from '../../core/action-status.ts';
import { sealFact } from '../../core/chain.ts';
import type { Decision, GateRow, LedgerIdentity, LedgerView, Twin } from '../../core/decision.ts';
import { factProblem } from '../../core/fact-rules.ts';
import type { Fact, NewFact } from '../../core/facts.ts';
import { emptyRun, foldFact } from '../../core/fold.ts';
import type { RunState } from '../../core/run-state.ts';
import type { Look } from '../../ledger/port.ts';

export interface MemoryLedger {
  readonly identity: LedgerIdentity;
  now: number;
  clockSteppedBack: boolean;
  readonly rows: Map<string, GateRow>;
  readonly payloads: Map<string, Uint8Array>;
  run(runId: string): RunState;
  facts(runId: string): Fact[];
  /** Runs a decision and writes what it wants; throws with the rule that it breaks. */
  decide<T>(look: Look, decision: (view: LedgerView) => Decision<T>): T;
  write(runId: string, ...facts: NewFact[]): void;
}

interface Book {
  state: RunState;
  readonly facts: Fact[];
}
type Books = Map<string, Book>;

export function memoryLedger(): MemoryLedger {
  const books: Books = new Map();
  const ledger: MemoryLedger = {
    identity: { id: 'ledger-1', incarnation: 0 },
    now: Date.parse('2026-01-01T00:00:00Z'),
    clockSteppedBack: false,
    rows: new Map(),
    payloads: new Map(),
    run: (runId) => bookOf(books, runId).state,
    facts: (runId) => bookOf(books, runId).facts,
    decide(look, decision) {
      const wanted = decision(viewOf(ledger, books, look));
      ledger.write(look.runId, ...wanted.facts);
      for (const row of wanted.gateRows ?? []) {
        if (ledger.rows.has(row.attemptId)) throw new Error(`${row.attemptId}: two gate rows`);
        ledger.rows.set(row.attemptId, row);
      }
      for (const { digest, bytes } of wanted.payloads ?? []) ledger.payloads.set(digest, bytes);
      return wanted.reply;
    },
    write(runId, ...facts) {
      const book = bookOf(books, runId);
      for (const fact of facts) {
        const problem = factProblem(book.state, fact);
        if (problem !== null) throw new Error(`${fact.body.kind}: ${problem}`);
        const sealed = sealFact({ runId, head: book.state.head, at: ledger.now, fact });
        book.state = foldFact(book.state, sealed.fact, sealed.head.hash);
        book.facts.push(sealed.fact);
      }
    },
  };
  return ledger;
}

function bookOf(books: Books, runId: string): Book {
  const known = books.get(runId) ?? { state: emptyRun(runId), facts: [] };
  books.set(runId, known);
  return known;
}

function viewOf(ledger: MemoryLedger, books: Books, look: Look): LedgerView {
  const { state, facts } = bookOf(books, look.runId);
  const pinned = look.pin === undefined || look.pin.count === 0 ? null : facts[look.pin.count];
  const row = look.attemptId === undefined ? undefined : ledger.rows.get(look.attemptId);
  return {
    ledger: ledger.identity,
    now: ledger.now,
    clockSteppedBack: ledger.clockSteppedBack,
    run: state,
    gateRow: row ?? null,
    unchained: unchainedOf(ledger, look.actionId),
    twins: twinsOf(books, look.intentDigest),
    pinHolds: look.pin === undefined || pinHolds(look.pin, state, pinned?.prev ?? null),
  };
}

function unchainedOf(ledger: MemoryLedger, actionId: string | undefined): LedgerView['unchained'] {
  const last = [...ledger.rows.values()].filter((row) => row.actionId === actionId).at(-1);
  return last?.kind === 'closed' && !last.inChain ? last : null;
}

function twinsOf(books: Books, intentDigest: string | undefined): Twin[] {
  const twins: Twin[] = [];
  for (const [runId, { state }] of books)
    for (const action of state.actions.values()) {
      const doubt = doubtOf(action);
      const same = action.attempts[0]?.entry.intentDigest === intentDigest;
      if (doubt !== null && same && intentDigest !== undefined)
        twins.push({ runId, actionId: action.actionId, state: doubt });
    }
  return twins;
}

/** The fact after the pinned one carries the pinned hash; the newest head is compared itself. */
function pinHolds(
  pin: NonNullable<Look['pin']>,
  state: RunState,
  nextPrev: string | null,
): boolean {
  if (pin.count > state.head.count) return false;
  if (pin.count === 0) return true;
  return pin.count === state.head.count ? pin.hash === state.head.hash : pin.hash === nextPrev;
}
