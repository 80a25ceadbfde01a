// The gate: one ledger transaction in which an attempt enters or is closed for ever.

import { decisionInForce } from './approval.ts';
import { refusalFacts } from './closing.ts';
import { rolledOf } from './consumes.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import { momentAfter } from './exact-sum.ts';
import type { PayloadRef } from './fact-fields.ts';
import { nextNumber } from './fact-rules.ts';
import type { ApprovalAsk, BodyOf } from './facts.ts';
import { objectVersionOf } from './finality.ts';
import { boundBy } from './gate-authority.ts';
import type { EntryAsk, GateCase } from './gate-case.ts';
import { gateTable, twinInDoubt } from './gate-table.ts';
import { resultIdOf, type SendToken } from './ids.ts';
import { limits } from './limits.ts';
import type { GateVerdict } from './verdict.ts';
import { boundedWords } from './words.ts';

export type { BarrierView, EntryAsk } from './gate-case.ts';

export interface Entry {
  readonly number: number;
  readonly sendToken: SendToken;
  readonly receiverKey: string;
  readonly resultId: string;
  /** Ledger time of the action's first entry. */
  readonly firstSentAt: number;
}

export interface EntryReply {
  readonly verdict: GateVerdict;
  readonly detail: string | null;
  /** For `entered` and `entered_again`. */
  readonly entry: Entry | null;
  /** For `approval_missing`. */
  readonly asks?: ApprovalAsk;
  /** For `twin_unknown` and `compensates_open`: the action that has to be settled first. */
  readonly waitsFor?: string;
}

/** These leave no trace: nobody may write for this run here, or the row is there already. */
const writesNothing: ReadonlySet<GateVerdict> = new Set([
  'ledger_mismatch',
  'entered_again',
  'attempt_reused',
  'attempt_closed',
  'run_not_open',
  'claim_stale',
  'claim_facts_only',
  'run_ended',
]);

export function decideEntry(ask: EntryAsk): (view: LedgerView) => Decision<EntryReply> {
  return (view) => {
    const action = view.run.actions.get(ask.actionId);
    const each: GateCase = { ask, view, action, hasPermit: (action?.permits.length ?? 0) > 0 };
    const [verdict, detail] = firstVerdict(each);
    if (verdict === 'entered') return enter(each);
    if (verdict === 'entered_again')
      return { reply: { verdict, detail, entry: entryOf(each) }, facts: [] };
    const asks = verdict === 'approval_missing' ? { asks: askFor(each) } : {};
    const twin = verdict === 'twin_unknown' ? twinInDoubt(each) : null;
    const waitsFor = twin ?? (verdict === 'compensates_open' ? ask.compensates : undefined);
    const waits = waitsFor === undefined ? {} : { waitsFor };
    const reply = { verdict, detail, entry: null, ...asks, ...waits };
    if (writesNothing.has(verdict) || view.gateRow !== null) return { reply, facts: [] };
    const { attemptId, actionId, position, revisions, binding } = ask;
    const refusal = { attemptId, actionId, position, verdict, detail, revisions };
    const written = refusalFacts(view, {
      ...refusal,
      payload: refOf(ask.payload),
      tool: binding.tool,
      ...asks,
      ...(twin === null ? {} : { twin }),
    });
    return { reply, ...written, payloads: written.facts.length > 0 ? [ask.payload] : [] };
  };
}

function firstVerdict(each: GateCase): [GateVerdict, string] {
  const rows = Object.entries(gateTable) as [GateVerdict, (each: GateCase) => string | null][];
  // The last row always applies.
  const [verdict, row] = rows.find(([, applies]) => applies(each) !== null) as (typeof rows)[0];
  // A row may quote a person's reason, which alone is as long as a note.
  return [verdict, boundedWords(row(each) as string, limits.noteCharsMax)];
}

function enter({ ask, view, action }: GateCase): Decision<EntryReply> {
  const number = nextNumber(action);
  const sendToken = { epoch: ask.epoch, number };
  const firstSentAt = action?.attempts[0]?.enteredAt ?? view.now;
  const body: BodyOf<'attempt_entered'> = {
    kind: 'attempt_entered',
    actionId: ask.actionId,
    attemptId: ask.attemptId,
    position: ask.position,
    number,
    entryToken: ask.entryToken,
    resultId: resultIdOf(ask.attemptId),
    payload: refOf(ask.payload),
    binding: ask.binding,
    replay: ask.replay,
    onUnknown: ask.onUnknown,
    domain: ask.domain,
    receiverKey: ask.receiverKey,
    intentDigest: ask.intentDigest,
    continuing: ask.continuing,
    resendUntil:
      ask.retention === null
        ? null
        : momentAfter(firstSentAt, ask.retention.retentionMs - ask.retention.marginMs),
    revisions: ask.revisions,
    sendToken,
    consumes: ask.consumes,
    rolled: rolledOf(ask.consumes),
    permit: action?.permits[0]?.id ?? null,
    verify: ask.verify,
    ...approvedBy(ask, { action, now: view.now }),
    ...(ask.reserve === undefined ? {} : { reserve: ask.reserve }),
    ...(ask.versions === undefined ? {} : { versions: ask.versions }),
    ...compensating(ask, view),
    ...(ask.compensation === undefined ? {} : { compensation: [...ask.compensation] }),
  };
  const { receiverKey, attemptId, actionId, entryToken } = ask;
  const entry = { number, sendToken, receiverKey, resultId: body.resultId, firstSentAt };
  const refusals = refusalFacts(view, null);
  return {
    reply: { verdict: 'entered', detail: null, entry },
    facts: [...refusals.facts, { source: 'execution', body }],
    gateRows: [{ kind: 'entered', attemptId, actionId, entryToken }],
    payloads: [ask.payload],
  };
}

function approvedBy(
  ask: EntryAsk,
  { action, now }: { readonly action: GateCase['action']; readonly now: number },
): Pick<BodyOf<'attempt_entered'>, 'approval'> {
  const approval = ask.approval && decisionInForce(action, boundBy(ask), now);
  return approval ? { approval: approval.commandId } : {};
}

function compensating(
  { compensates: actionId }: EntryAsk,
  { run }: LedgerView,
): Pick<BodyOf<'attempt_entered'>, 'compensates'> {
  const original = actionId === undefined ? undefined : run.actions.get(actionId);
  if (original === undefined) return {};
  const objectVersion = objectVersionOf(original);
  return { compensates: { actionId: original.actionId, objectVersion } };
}

function askFor({ ask, action }: GateCase): ApprovalAsk {
  const { approval, versions = {} } = ask;
  const bound = boundBy(ask);
  const earlier = action?.approvals.filter((each) => each.bound === bound).length ?? 0;
  const asked = { bound, validForMs: approval?.validForMs ?? null, versions };
  return earlier === 0 ? asked : { ...asked, earlier };
}

function entryOf({ ask, action }: GateCase): Entry {
  const attempt = action?.attempts.find((each) => each.attemptId === ask.attemptId);
  const first = action?.attempts[0];
  if (first === undefined || attempt === undefined)
    throw new Error(`${ask.attemptId}: an entered row without its fact`);
  const { number, sendToken, receiverKey, resultId } = attempt.entry;
  return { number, sendToken, receiverKey, resultId, firstSentAt: first.enteredAt };
}

function refOf(payload: NewPayload): PayloadRef {
  return { digest: payload.digest, bytes: payload.bytes.length };
}
