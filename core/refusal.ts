// Closing an attempt before the gate, for a reason the gate does not know: arguments that fail the
// schema, a tool that is not the one decided on. If the attempt has a row, the answer is about it.

import type { LedgerPin } from './activity-calls.ts';
import { type RefusalAsk, refusalFacts } from './closing.ts';
import type { Decision, LedgerView, NewPayload } from './decision.ts';
import { pinProblem } from './pin.ts';
import type { Refusal } from './verdict.ts';

export interface RefusalReply {
  readonly verdict: Refusal;
  readonly detail: string | null;
}

export interface RefusalOf extends RefusalAsk {
  readonly pin: LedgerPin;
  /** The intent that stays unsent, kept where it is known. */
  readonly bytes: NewPayload | null;
}

export function decideRefusal({
  pin,
  bytes,
  ...ask
}: RefusalOf): (view: LedgerView) => Decision<RefusalReply> {
  return (view) => {
    const { gateRow } = view;
    const mismatch = pinProblem(pin, view);
    if (mismatch !== null) return told('ledger_mismatch', mismatch);
    if (gateRow?.kind === 'entered') return told('attempt_reused', 'another delivery entered');
    if (gateRow?.kind === 'closed') return told('attempt_closed', `closed as ${gateRow.verdict}`);
    const written = refusalFacts(view, ask);
    const reply = { verdict: ask.verdict, detail: ask.detail };
    return { reply, ...written, payloads: bytes === null ? [] : [bytes] };
  };
}

function told(verdict: Refusal, detail: string): Decision<RefusalReply> {
  return { reply: { verdict, detail }, facts: [] };
}
