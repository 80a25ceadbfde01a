// What one decision writes, in the transaction it was made in.

import type { Kysely } from 'kysely';
import { doubtOf } from '../core/action-status.ts';
import { FactUnreadableError, type SealedFact, sealFact } from '../core/chain.ts';
import type { Decision, GateRow } from '../core/decision.ts';
import { type Digest, NotCanonicalError } from '../core/digest.ts';
import { factProblem } from '../core/fact-rules.ts';
import type { FactBody, NewFact } from '../core/facts.ts';
import { foldFact } from '../core/fold.ts';
import type { ActionState, RunState } from '../core/run-state.ts';
import { waitingCount } from '../core/waiting.ts';
import { erasePayload, writePayloads } from './payloads.ts';
import { LedgerError } from './port.ts';
import type { DoubtTable, Tables } from './tables.ts';

type Written = Pick<Decision<unknown>, 'facts' | 'gateRows' | 'payloads'>;

/** The run's state afterwards. Throws `rule_violation` and `payload_too_large`. */
export async function writeDecision(
  db: Kysely<Tables>,
  { run, at, decision }: { run: RunState; at: number; decision: Written },
): Promise<RunState> {
  const { sealed, after } = sealAll(run, at, decision.facts);
  await insertFacts(db, run.runId, sealed);
  await insertGateRows(db, run.runId, decision.gateRows ?? []);
  await writePayloads(db, decision.payloads ?? []);
  for (const { fact } of sealed)
    if (fact.body.kind === 'payload_erased')
      await erasePayload(db, { runId: run.runId, digest: fact.body.digest });
  const touched = new Set(sealed.map(({ fact }) => actionIdOf(fact.body)));
  for (const actionId of touched) {
    const action = actionId === null ? undefined : after.actions.get(actionId);
    if (action !== undefined) await replaceDoubt(db, after.runId, action);
  }
  if (sealed.length > 0) await writeRunRow(db, after, at);
  return after;
}

function sealAll(
  run: RunState,
  at: number,
  facts: readonly NewFact[],
): { sealed: readonly SealedFact[]; after: RunState } {
  const sealed: SealedFact[] = [];
  let after = run;
  for (const fact of facts) {
    const next = seal(after, at, fact);
    const broken = factProblem(after, fact);
    if (broken !== null) throw violation(after, fact, broken);
    sealed.push(next);
    after = foldFact(after, next.fact, next.head.hash);
  }
  return { sealed, after };
}

function seal(run: RunState, at: number, fact: NewFact): SealedFact {
  try {
    return sealFact({ runId: run.runId, head: run.head, at, fact });
  } catch (error) {
    if (error instanceof FactUnreadableError || error instanceof NotCanonicalError)
      throw violation(run, fact, error.message);
    throw error;
  }
}

function violation(run: RunState, fact: NewFact, why: string): LedgerError {
  return new LedgerError(
    'rule_violation',
    `run ${run.runId}: a fact ${fact.body.kind} as number ${run.head.count + 1}: ${why}; nothing ` +
      'was written: this is a bug in the caller',
    { nothingWritten: true },
  );
}

function actionIdOf(body: FactBody): string | null {
  return 'actionId' in body ? (body.actionId ?? null) : null;
}

async function insertFacts(
  db: Kysely<Tables>,
  runId: string,
  sealed: readonly SealedFact[],
): Promise<void> {
  for (const { fact, text, head } of sealed)
    await db
      .insertInto('fact')
      .values({
        run_id: runId,
        seq: fact.seq,
        kind: fact.body.kind,
        action_id: actionIdOf(fact.body),
        text,
        hash: head.hash,
      })
      .execute();
}

async function insertGateRows(
  db: Kysely<Tables>,
  runId: string,
  rows: readonly GateRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const newest = await db
    .selectFrom('gate_row')
    .select((expression) => expression.fn.max('position').as('position'))
    .where('run_id', '=', runId)
    .executeTakeFirst();
  let position = newest?.position ?? 0;
  for (const row of rows) {
    position += 1;
    await db
      .insertInto('gate_row')
      .values({
        attempt_id: row.attemptId,
        run_id: runId,
        action_id: row.actionId,
        kind: row.kind,
        entry_token: row.kind === 'entered' ? row.entryToken : null,
        verdict: row.kind === 'closed' ? row.verdict : null,
        in_chain: row.kind === 'entered' || row.inChain ? 1 : 0,
        position,
      })
      .execute();
  }
}

async function replaceDoubt(db: Kysely<Tables>, runId: string, action: ActionState): Promise<void> {
  const { actionId } = action;
  await db
    .deleteFrom('doubt')
    .where('run_id', '=', runId)
    .where('action_id', '=', actionId)
    .execute();
  const state = doubtOf(action);
  if (state === null) return;
  const rows: DoubtTable[] = [...intentsOf(action)].map((digest) => ({
    intent_digest: digest,
    run_id: runId,
    action_id: actionId,
    state,
  }));
  if (rows.length > 0) await db.insertInto('doubt').values(rows).execute();
}

function intentsOf(action: ActionState): Set<Digest> {
  const digests = action.attempts.map((attempt) => attempt.entry.intentDigest);
  return new Set(digests.filter((digest) => digest !== null));
}

async function writeRunRow(db: Kysely<Tables>, run: RunState, at: number): Promise<void> {
  const actions = [...run.actions.values()];
  const row = {
    count: run.head.count,
    head_hash: run.head.hash,
    last_at: at,
    ended: run.ended === null ? 0 : 1,
    in_doubt: actions.filter((action) => doubtOf(action) === 'in_doubt').length,
    disputed: actions.filter((action) => action.disputed).length,
    waiting: waitingCount(run, at),
  } as const;
  await db
    .insertInto('run')
    .values({ run_id: run.runId, ...row })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet(row))
    .execute();
}
